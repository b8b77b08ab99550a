"""What a tool says beside its answer, as the command line does."""

import uuid
from collections.abc import Mapping, Sequence

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import graph_pb2, memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_attestation.visible import named, quoted

from concord_mcp.arguments import instant
from concord_mcp.calls import Calls
from concord_mcp.tool import Json

GET_MEMORY = "/concord.graph.v1.MemoryService/GetMemory"
_MOST_STATED = 10
_MOST_CHARACTERS = 1_200
"""Of a statement: two names and a relation of the greatest lengths."""
_NEIGHBORS = "/concord.graph.v1.GraphService/QueryNeighbors"
_SUGGEST = "/concord.dissonance.v1.DissonanceService/SuggestAmendments"


async def after_adding(
    calls: Calls, given: Mapping[str, Json], reply: memory_pb2.AddMemoryResponse
) -> Sequence[str]:
    """Whom to ask about what it only claims, whose declaration ended a value, the ids in
    `supersedes` that nothing has yet, and what the memory may amend."""
    gave_way = {each.id for each in reply.gave_way.items}
    gave_way |= {each.item_id for each in reply.claims}
    said = [
        f"{named(each.item_id)} is {named(each.owner)}'s and stays: ask them to accept claim"
        f" {each.number} (concord claim accept {each.number})."
        for each in reply.claims
    ]
    said += [
        f"{named(each.id)} ended: {named(each.declared_by)} declared that its relation has one"
        " value at a time."
        for each in reply.gave_way.items
        if each.declared_by
    ]
    for target in dict.fromkeys(given.get("supersedes") or ()):
        if target in gave_way:
            continue
        found = await calls.call(
            GET_MEMORY,
            memory_pb2.GetMemoryRequest(id=target, peek=True),
            memory_pb2.GetMemoryResponse,
        )
        if found.status == type_pb2.LOOKUP_STATUS_NOT_FOUND:
            near = ", ".join(map(named, found.near_names))
            near = f" Similar: {near}." if near else ""
            said.append(
                f"There is no memory {named(target)} yet: the link waits for one of this id.{near}"
            )
    return [*said, *(await _amendments(calls, reply) if reply.created else ())]


async def after_searching(
    _calls: Calls, _given: Mapping[str, Json], reply: search_pb2.SearchResponse
) -> Sequence[str]:
    """What was made of the times that a query names, and what among results is only claimed to take
    the place of another."""
    items = (each.edge if each.HasField("edge") else each.memory for each in reply.results)
    noted = [each for item in items for each in item.claims]
    claims = {each.id: each for each in sorted(noted, key=lambda each: bool(each.by_statement))}
    return [_time(each) for each in reply.times] + [
        f"{named(each.claimant)} only claims that {_by(each)} takes the place of"
        f" {named(each.item_id)}: claim {each.number}, which nobody has accepted."
        for each in claims.values()
        if each.by_id
    ]


def _by(claim: type_pb2.ClaimNote) -> str:
    said = f" ({quoted(claim.by_statement, 200)})" if claim.by_statement else ""
    return named(claim.by_id) + said


def _time(phrase: search_pb2.TimePhrase) -> str:
    begin, end = (
        each.ToJsonString().removesuffix("T00:00:00Z") if each.ByteSize() else ""
        for each in (phrase.since, phrase.before)
    )
    span = " ".join([f"from {begin}"] * bool(begin) + [f"until before {end}"] * bool(end))
    made = {
        search_pb2.TIME_USE_RANKED: f"ranked by it, {span}; no_window ranks without it",
        search_pb2.TIME_USE_PAST: "what no longer holds ranks first; no_window ranks without it",
        search_pb2.TIME_USE_NOT_USED: f"{span or 'a time'}, not used",
    }.get(phrase.use, "which time is not known: it changes nothing")
    by = f" (by {named(phrase.dated_by_memory_id)})" if phrase.dated_by_memory_id else ""
    return f"{quoted(phrase.phrase)}: {made}{by}."


async def _amendments(calls: Calls, reply: memory_pb2.AddMemoryResponse) -> Sequence[str]:
    request = dissonance_pb2.SuggestAmendmentsRequest(
        request_id=str(uuid.uuid4()),
        memory_ids=[reply.memory.id],
        consistency=type_pb2.Consistency(at_least_as_fresh=reply.token),
    )
    found = await calls.call(_SUGGEST, request, dissonance_pb2.SuggestAmendmentsResponse)
    return [
        f"It may amend {named(each.older_id)} ({named(each.change)}). To say so, give it the line "
        f"Amends: [[memory:{named(each.older_id)}]] with update_memory."
        for each in found.amendments
    ]


async def what_is_stated(
    calls: Calls, given: Mapping[str, Json], reply: graph_pb2.GetNodeResponse
) -> Sequence[str]:
    """What holds of a node that was found, as sentences, and how to read on."""
    if reply.status != type_pb2.LOOKUP_STATUS_FOUND:
        return ()
    request = graph_pb2.QueryNeighborsRequest(
        start=type_pb2.EdgeEnd(id=reply.node.id), depth=1, page_size=_MOST_STATED
    )
    if given.get("as_of"):
        request.as_of.valid_time.CopyFrom(instant(given["as_of"]))
    found = await calls.call(_NEIGHBORS, request, graph_pb2.QueryNeighborsResponse)
    edges = (each.edge for each in found.neighbors)
    said = [
        quoted(
            f"{each.source.name or each.source.id} {each.relation} "
            f"{each.target.name or each.target.id}",
            _MOST_CHARACTERS,
        )
        + "."
        for each in edges
    ]
    return [*said, "query_neighbors has more."] if found.next_page_token else said


async def after_weighing(
    _calls: Calls, given: Mapping[str, Json], reply: search_pb2.IntegrativeSearchResponse
) -> Sequence[str]:
    """That nothing is called as the context node."""
    if reply.context_status == type_pb2.LOOKUP_STATUS_FOUND:
        return ()
    return [
        f"There is no node {quoted(given['context_node'])}: nothing constitutive stands at it. "
        "Look for its name with get_node_by_name."
    ]


async def after_check(
    _calls: Calls, _given: Mapping[str, Json], reply: dissonance_pb2.CheckDissonanceResponse
) -> Sequence[str]:
    """What a check around a node left for the user to decide."""
    return _unrecorded(reply.coverage, reply.rules)


async def after_space_check(
    _calls: Calls, _given: Mapping[str, Json], reply: dissonance_pb2.DetectContradictionsResponse
) -> Sequence[str]:
    """What a check of the space left for the user to decide."""
    return _unrecorded(reply.summary.coverage, reply.summary.rules)


def _unrecorded(
    coverage: dissonance_pb2.Coverage, rules: Sequence[dissonance_pb2.RuleFindings]
) -> Sequence[str]:
    """That new findings in texts were too many to be recorded unasked, with all by rule."""
    count = coverage.unrecorded
    if not count:
        return ()
    counts = ", ".join(f"{named(each.rule)} {each.found_count}" for each in rules)
    return [
        f"{count} findings in texts were not recorded. Found by rule: {counts}. Ask your user; if "
        f"they are to be recorded, call again with max_text_findings={count}."
    ]
