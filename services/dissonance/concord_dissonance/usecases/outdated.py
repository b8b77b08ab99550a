"""Ends findings of texts whose words were changed so that no judge finds them any more (D5)."""

from collections.abc import Mapping

from concord.graph.v1 import conflict_pb2

from concord_dissonance.clients.graph.client import IDS_A_CALL, GraphClient
from concord_dissonance.clients.graph.messages import versions
from concord_dissonance.domain.candidates import Pair, pair_of
from concord_dissonance.domain.sides import Kind
from concord_dissonance.domain.statements import Statement
from concord_dissonance.usecases.examine import Examination


async def outdated(graph: GraphClient, exam: Examination) -> Mapping[Pair, str]:
    """Return the open findings of former words of statements that are examined, by their pairs.

    These are judged again whether they are near or not. What a caller has decided is none of them.
    """
    there = {each.id: each for each in exam.statements if each.side.kind is not Kind.EDGE}
    ids = list(there) if exam.only is None else sorted(there.keys() & exam.only)
    if len(there) < 2 or not ids:
        return {}
    asked = ids if len(ids) <= IDS_A_CALL else ()
    return {
        pair_of(each.first.id, each.second.id): each.id
        for each in await graph.open_conflicts(exam.space, asked)
        if _is_outdated(each, there)
    }


async def end_outdated(graph: GraphClient, exam: Examination) -> None:
    """End those that were judged again and not found, unless a judge could not be asked."""
    if exam.coverage.is_degraded:
        return
    for start in range(0, len(exam.not_found), IDS_A_CALL):
        part = exam.not_found[start : start + IDS_A_CALL]
        await graph.end_former_findings(exam.space, part)


def _is_outdated(conflict: conflict_pb2.Conflict, there: Mapping[str, Statement]) -> bool:
    sides = [there.get(each.id) for each in (conflict.first, conflict.second)]
    now = frozenset((each.id, each.etag) for each in sides if each is not None)
    is_open = conflict.is_text_finding and not conflict.reviewed_by
    return is_open and len(now) == len(sides) and now != versions(conflict)
