"""Lets a memory that is added state the sure facts of its text (D13)."""

from collections.abc import Mapping, Sequence

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import memory_pb2
from concord_attestation.visible import quoted

from concord_mcp.calls import Calls
from concord_mcp.tool import Json

_EXTRACT = "/concord.dissonance.v1.DissonanceService/ExtractFacts"
_MOST = 10
"""Facts of a memory, as the contract says."""
_MOST_CHARACTERS = 1_200
"""Of a fact: two names and a relation of the greatest lengths."""


async def state_facts(
    calls: Calls, given: Mapping[str, Json], request: memory_pb2.AddMemoryRequest
) -> Sequence[str]:
    """Add the sure facts that have no time of their own, where `extract` asks for it."""
    if not given.get("extract"):
        return ()
    memory = request.memory
    said = pb.SaidText(text=given["content"])
    if memory.sources:
        said.speaker = memory.sources[0].speaker
    if memory.HasField("valid_from"):
        said.time.CopyFrom(memory.valid_from)
    found = await calls.call(
        _EXTRACT, pb.ExtractFactsRequest(texts=[said]), pb.ExtractFactsResponse
    )
    stated = {(each.subject, each.relation, each.object) for each in memory.facts}
    for each in found.candidates:
        fact = each.fact
        triple = (fact.subject, fact.relation, fact.object)
        is_timed = each.HasField("valid_from") or each.HasField("valid_until")
        if each.sure and not is_timed and triple not in stated and len(memory.facts) < _MOST:
            memory.facts.append(fact)
            stated.add(triple)
    taken = [each for each in memory.facts if each.extracted]
    return [_outcome(found, taken)]


def _outcome(found: pb.ExtractFactsResponse, taken: Sequence[Json]) -> str:
    """Return the named outcome, with its counts that are not 0."""
    outcome = pb.ExtractionOutcome.Name(found.outcome).removeprefix("EXTRACTION_OUTCOME_")
    counts = {
        "taken": len(taken),
        "left": len(found.candidates) - len(taken),
        "texts not read": found.counts.texts_left,
        "texts beyond the model's budget": found.counts.budget_spent,
        "invalid replies": found.counts.invalid_replies,
        "dropped": found.counts.dropped,
    }
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    facts = "; ".join(
        quoted(f"{each.subject} {each.relation} {each.object}", _MOST_CHARACTERS) for each in taken
    )
    return f"Extraction: {outcome}{f' ({said})' if said else ''}.{f' {facts}.' if facts else ''}"
