"""What dissonance suggests of its own, without a conflict (T6, V10)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amend:
    """That a memory amends a former one."""

    newer_id: str
    older_id: str


@dataclass(frozen=True, slots=True)
class Promote:
    """That a memory or an edge of a version becomes constitutive, as a session's end showed."""

    item_id: str
    is_edge: bool
    etag: str
    session_id: str


Suggestion = Amend | Promote


def key_of(suggestion: Suggestion) -> str:
    """Return what is suggested, whatever version: each is proposed once."""
    match suggestion:
        case Amend():
            return f"AMENDS\0{suggestion.newer_id}\0{suggestion.older_id}"
        case Promote():
            return f"PROMOTE\0{suggestion.item_id}"
