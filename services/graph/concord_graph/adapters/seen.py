"""How a walk sees edges, and which ends of theirs it seeks: the same for every store."""

from __future__ import annotations

from enum import Enum, auto

from concord_graph.ports import Walk


class Seen(Enum):
    """The form in which a walk reads edges: hops, steps (`ports`), or whole, as views."""

    HOP = auto()
    STEP = auto()
    WHOLE = auto()


def sought_ends(walk: Walk) -> tuple[str, ...]:
    """Return the columns in which a walk seeks the ids that it starts from."""
    ends = (("source_id", walk.outgoing), ("target_id", walk.incoming))
    return tuple(end for end, wanted in ends if wanted)
