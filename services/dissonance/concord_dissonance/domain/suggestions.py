"""Dissonance's own suggestions, which no conflict caused (D4, T6, V1, V10)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amend:
    """Suggests that a memory amends a former one, judged by these versions of both."""

    newer_id: str
    older_id: str
    newer_etag: str = ""
    older_etag: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """Suggests to merge a memory into a former one whose versions say the same."""

    kept_id: str
    merged_id: str
    kept_etag: str = ""
    merged_etag: str = ""


@dataclass(frozen=True, slots=True)
class Promote:
    """Suggests, at a session's end, to make a version of a memory or edge constitutive."""

    item_id: str
    is_edge: bool
    etag: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Declare:
    """Suggests to declare that a relation holds one value at a time, as a space's facts show."""

    relation: str
    is_of_states: bool = False
    support: str = ""
    """The evidence, for whoever decides."""


Suggestion = Amend | Merge | Promote | Declare


def key_of(suggestion: Suggestion) -> str:
    """Return the key of a suggestion of any versions; only one proposal of a key may wait."""
    match suggestion:
        case Amend():
            return f"AMENDS\0{suggestion.newer_id}\0{suggestion.older_id}"
        case Merge():
            return f"MERGE\0{suggestion.kept_id}\0{suggestion.merged_id}"
        case Promote():
            return f"PROMOTE\0{suggestion.item_id}"
        case Declare():
            return f"DECLARE\0{suggestion.relation}"


def occasion_of(suggestion: Suggestion) -> str:
    """Return the key of a suggestion of these versions; for others it may be made again."""
    match suggestion:
        case Amend():
            return f"{key_of(suggestion)}\0{suggestion.newer_etag}\0{suggestion.older_etag}"
        case Merge():
            return f"{key_of(suggestion)}\0{suggestion.kept_etag}\0{suggestion.merged_etag}"
        case Promote() | Declare():
            return key_of(suggestion)
