"""Records findings in graph, at most 500 at once."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from concord_dissonance.domain.statements import Finding, Recorded
from concord_dissonance.ports.graph import Graph

BATCH = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and its record in graph; None in a dry run."""

    finding: Finding
    recorded: Recorded | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the caller sees it: no review has decided about these versions."""
        return self.recorded is None or self.recorded.is_open

    @property
    def is_new(self) -> bool:
        """Whether its conflict is new, or one of its sides has changed since it was recorded."""
        return self.recorded is not None and self.recorded.is_new


async def not_reviewed(graph: Graph, space: str, findings: Sequence[Finding]) -> list[Found]:
    """Return the findings about whose versions no review has decided."""
    sides = [(each.first, each.second) for each in findings]
    ids = sorted({side.id for pair in sides for side in pair})
    reviewed = await graph.reviewed(space, ids) if ids else frozenset()
    versions = [frozenset((side.id, side.etag) for side in pair) for pair in sides]
    paired = zip(findings, versions, strict=True)
    return [Found(each) for each, version in paired if version not in reviewed]


async def record(
    graph: Graph, space: str, request_id: str, findings: Sequence[Finding], first: int = 0
) -> tuple[list[Found], str]:
    """Record findings, in batches whose request ids are the same for a repeated request.

    `first`: how many findings the request has recorded before, a multiple of `BATCH`. Returns each
    finding with its record, and a freshness token, which is empty without findings.
    """
    found: list[Found] = []
    token = ""
    for start in range(0, len(findings), BATCH):
        own_id = hashlib.sha256(f"{request_id}\0{first + start}".encode()).hexdigest()
        batch = findings[start : start + BATCH]
        recorded, token = await graph.record(space, own_id, batch)
        found += [Found(*each) for each in zip(batch, recorded, strict=True)]
    return found, token
