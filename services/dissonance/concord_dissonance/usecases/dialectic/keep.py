"""Stores the parts of a synthesis that the caller wants to keep, in the caller's name."""

from collections.abc import Sequence
from dataclasses import replace

from concord.dissonance.v1 import dialectic_pb2

from concord_dissonance.clients.graph.callers_client import CallersGraphClient
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.domain.dialectic.resolutions import Contradiction
from concord_dissonance.domain.dialectic.synthesis import Conclusions, Synthesis
from concord_dissonance.domain.statements import Finding
from concord_dissonance.ports.calls import Credential, repeated_id
from concord_dissonance.usecases.record import record

MOST_CHARACTERS = 20_000
"""The longest content of a memory; a longer synthesis is cut."""


class KeepSynthesis:
    """The use case."""

    def __init__(self, graph: GraphClient, callers: CallersGraphClient) -> None:
        self._graph, self._callers = graph, callers

    async def __call__(
        self,
        space: str,
        who: Credential,
        request_id: str,
        found: Synthesis,
        *,
        ruled: Conclusions,
        keep: dialectic_pb2.KeepSynthesis,
    ) -> dialectic_pb2.KeptSynthesis:
        """Keep the wanted parts; the same request id again keeps nothing twice.

        `ruled`: the rules' conclusions from the sources' own words. Conflicts are recorded from
        these alone: a model neither adds nor hides one.
        Raises `Failure` if graph refuses the caller, and `ServiceUnavailable`.
        """
        kept = dialectic_pb2.KeptSynthesis()
        if keep.memory:
            kept = await self._memory(who, request_id, found, amend=keep.amend_sources)
        if keep.conflicts and (findings := findings_of(ruled)):
            recorded, kept.token = await record(self._graph, space, request_id, findings)
            ids = [each.recorded.conflict_id for each in recorded if each.recorded]
            kept.conflict_ids.extend(filter(None, ids))
        return kept

    async def _memory(
        self, who: Credential, request_id: str, found: Synthesis, *, amend: bool
    ) -> dialectic_pb2.KeptSynthesis:
        theses = found.conclusions.theses
        memory_ids = list(dict.fromkeys(each.memory.id for each in theses if each.memory))
        speakers = list(dict.fromkeys(each.agent for each in theses if not each.memory))
        content = found.text[:MOST_CHARACTERS]
        memory_id, token = await self._callers.add_insight(
            who, repeated_id(request_id, "memory"), content, memory_ids, speakers
        )
        constitutive = {e.memory.id for e in theses if e.memory and e.memory.side.is_constitutive}
        amended = [each for each in memory_ids if each not in constitutive] if amend else []
        for older_id in amended:
            own_id = repeated_id(request_id, f"amends {older_id}")
            token = await self._callers.amend(who, own_id, memory_id, older_id)
        return dialectic_pb2.KeptSynthesis(memory_id=memory_id, amended_ids=amended, token=token)


def findings_of(found: Conclusions) -> Sequence[Finding]:
    """Return the unresolved contradictions between memories, one for each pair of memories."""
    findings: dict[tuple[str, str], Finding] = {}
    for at in found.unresolved:
        finding = _finding(found, found.contradictions[at])
        if finding is not None:
            findings.setdefault((finding.first.id, finding.second.id), finding)
    return list(findings.values())


def _finding(found: Conclusions, contradiction: Contradiction) -> Finding | None:
    clash = contradiction.clash
    one, other = found.theses[clash.first].memory, found.theses[clash.second].memory
    if one is None or other is None or one.id == other.id:
        return None
    # The verdict's spans are places in the theses, not in the memories.
    verdict = replace(
        clash.verdict,
        type=contradiction.type,
        severity=contradiction.severity,
        first=(),
        second=(),
    )
    if one.id < other.id:
        return Finding(one, other, verdict)
    return Finding(other, one, verdict.swapped())
