"""The possible decisions about a conflict, as plain data (D5, D6)."""

from dataclasses import dataclass
from enum import Enum


class Verb(Enum):
    """The decision of a review."""

    CONFIRM = "confirm"
    DISMISS = "dismiss"
    EXCEPT = "except"
    RECLASSIFY = "reclassify"


@dataclass(frozen=True, slots=True)
class Review:
    """Confirms, dismisses, excepts or reclassifies a version of a conflict."""

    conflict_id: str
    etag: str
    verb: Verb
    context: str = ""
    conflict_class: str = ""
    """The class to reclassify to, e.g. "EVOLUTION"; empty otherwise."""
    older_id: str = ""


@dataclass(frozen=True, slots=True)
class Resolve:
    """Resolves a version of a conflict."""

    conflict_id: str
    etag: str
    resolution_type: str
    """"EVOLUTION", "CONTRADICTION" or "NUANCE"."""
    superseded_id: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Reopen:
    """Takes back the last review or resolution of a version of a conflict."""

    conflict_id: str
    etag: str


Decision = Review | Resolve | Reopen
