"""What can be decided about a conflict, as plain data (D5, D6)."""

from dataclasses import dataclass
from enum import Enum


class Verb(Enum):
    """What a review decides."""

    CONFIRM = "confirm"
    DISMISS = "dismiss"
    EXCEPT = "except"
    RECLASSIFY = "reclassify"


@dataclass(frozen=True, slots=True)
class Review:
    """Confirms, dismisses, excepts or reclassifies a conflict of a version."""

    conflict_id: str
    etag: str
    verb: Verb
    context: str = ""
    conflict_class: str = ""
    """The class to reclassify to, e.g. "EVOLUTION"; empty otherwise."""
    older_id: str = ""


@dataclass(frozen=True, slots=True)
class Resolve:
    """Resolves a conflict of a version."""

    conflict_id: str
    etag: str
    resolution_type: str
    """"EVOLUTION", "CONTRADICTION" or "NUANCE"."""
    superseded_id: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Reopen:
    """Takes the last review or resolution of a conflict of a version back."""

    conflict_id: str
    etag: str


Decision = Review | Resolve | Reopen
