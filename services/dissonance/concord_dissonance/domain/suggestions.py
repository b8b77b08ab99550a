"""What dissonance suggests of its own, without a conflict (D4, T6, V1, V10)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amend:
    """That a memory amends a former one, as these versions of both say."""

    newer_id: str
    older_id: str
    newer_etag: str = ""
    older_etag: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """That a memory says what a former one does, in these versions, and becomes part of it."""

    kept_id: str
    merged_id: str
    kept_etag: str = ""
    merged_etag: str = ""


@dataclass(frozen=True, slots=True)
class Promote:
    """That a memory or an edge of a version becomes constitutive, as a session's end showed."""

    item_id: str
    is_edge: bool
    etag: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Declare:
    """That a relation holds one value at a time, as the facts of a space show."""

    relation: str
    is_of_states: bool = False
    support: str = ""
    """What shows it, for who decides."""


Suggestion = Amend | Merge | Promote | Declare


def key_of(suggestion: Suggestion) -> str:
    """Return what is suggested, whatever version: one proposal of it waits."""
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
    """Return what is suggested of which versions: of others it may be suggested again."""
    match suggestion:
        case Amend():
            return f"{key_of(suggestion)}\0{suggestion.newer_etag}\0{suggestion.older_etag}"
        case Merge():
            return f"{key_of(suggestion)}\0{suggestion.kept_etag}\0{suggestion.merged_etag}"
        case Promote() | Declare():
            return key_of(suggestion)
