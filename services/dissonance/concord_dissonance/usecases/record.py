"""Records findings in graph, at most 500 at once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from concord.graph.v1 import conflict_pb2

from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.groups import grouped
from concord_dissonance.domain.statements import Finding
from concord_dissonance.ports.calls import repeated_id

BATCH = 500
MOST_TEXT_FINDINGS = 20
"""The most new findings of text that a check records if its caller allows no other number."""
_POTENTIAL = conflict_pb2.CONFLICT_STATE_POTENTIAL
_OPEN = (_POTENTIAL, conflict_pb2.CONFLICT_STATE_CONFIRMED)
_NEW = (conflict_pb2.FINDING_OUTCOME_CREATED, conflict_pb2.FINDING_OUTCOME_UPDATED)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and its record in graph; None if it was not recorded.

    The record of a stale finding, a side of which changed since, has neither an id nor a state.
    """

    finding: Finding
    recorded: conflict_pb2.RecordedFinding | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the caller sees it: no review has decided about these versions."""
        return self.recorded is None or self.recorded.state in _OPEN

    @property
    def is_recorded(self) -> bool:
        """Whether graph has a conflict of it."""
        return self.recorded is not None and bool(self.recorded.state)

    @property
    def is_new(self) -> bool:
        """Whether its conflict is new, or one of its sides has changed since it was recorded."""
        return self.recorded is not None and self.recorded.outcome in _NEW


Tally = Counter[tuple[str, bool]]
"""How many findings there are by rule, and by whether they are recorded."""


def tally(found: Iterable[Found]) -> Tally:
    """Count findings by rule."""
    return Counter((each.finding.rule, each.is_recorded) for each in found)


async def not_reviewed(graph: GraphClient, space: str, findings: Sequence[Finding]) -> list[Found]:
    """Return the findings about whose versions no review has decided."""
    known = await graph.known(space, _ids(findings)) if findings else {}
    return [Found(each) for each in findings if known.get(each.versions, _POTENTIAL) in _OPEN]


async def without_excess(
    graph: GraphClient, space: str, findings: Sequence[Finding], most_text: int
) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """Return the findings to record, and the new findings of text if they are over `most_text`.

    A finding is new if graph has no conflict of these versions. `most_text`: 0 for the usual
    number.
    """
    most_text = most_text or MOST_TEXT_FINDINGS
    of_text = [each for each in findings if each.is_of_text]
    if len(of_text) <= most_text:
        return findings, ()
    known = await graph.known(space, _ids(of_text))
    excess = [each for each in of_text if each.versions not in known]
    if len(excess) <= most_text:
        return findings, ()
    left_out = {each.versions for each in excess}
    return [each for each in findings if each.versions not in left_out], excess


async def in_groups(
    graph: GraphClient, space: str, findings: Sequence[Finding]
) -> Sequence[Finding]:
    """Return a run's findings with their groups, those of open findings among them."""
    of_text = [each for each in findings if each.is_of_text]
    if not of_text:
        return findings
    known = {
        (each.rule, side.id): each.group_id
        for each in await graph.open_conflicts(space, _ids(of_text))
        if each.group_id
        for side in (each.first, each.second)
    }
    return grouped(findings, known)


async def record(
    graph: GraphClient,
    space: str,
    run_id: str,
    findings: Sequence[Finding],
    *,
    first: int = 0,
    session_id: str = "",
) -> tuple[list[Found], str]:
    """Record a run's findings, in batches whose request ids are the same for a repeated run.

    `first`: how many findings the run has recorded before, a multiple of `BATCH`. `session_id`: the
    session at whose end it ran. Returns each finding with its record, and a freshness token, which
    is empty without findings.
    """
    found: list[Found] = []
    token = ""
    for start in range(0, len(findings), BATCH):
        own_id = repeated_id(run_id, first + start)
        batch = findings[start : start + BATCH]
        recorded, token = await graph.record(space, own_id, batch, run_id, session_id)
        found += [Found(*each) for each in zip(batch, recorded, strict=True)]
    return found, token


def _ids(findings: Sequence[Finding]) -> list[str]:
    return sorted({side.id for each in findings for side in (each.first, each.second)})
