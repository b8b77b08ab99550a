"""What a tool says beside its answer, as the command line does."""

import uuid
from collections.abc import Mapping, Sequence

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2

from concord_mcp.calls import Calls
from concord_mcp.tool import Json

GET_MEMORY = "/concord.graph.v1.MemoryService/GetMemory"
_SUGGEST = "/concord.dissonance.v1.DissonanceService/SuggestAmendments"


async def after_adding(
    calls: Calls, given: Mapping[str, Json], reply: memory_pb2.AddMemoryResponse
) -> Sequence[str]:
    """The ids in `supersedes` that nothing has yet, and what the memory may amend."""
    gave_way = {each.id for each in reply.gave_way.items}
    said = []
    for target in dict.fromkeys(given.get("supersedes") or ()):
        if target in gave_way:
            continue
        found = await calls.call(
            GET_MEMORY,
            memory_pb2.GetMemoryRequest(id=target, peek=True),
            memory_pb2.GetMemoryResponse,
        )
        if found.status == type_pb2.LOOKUP_STATUS_NOT_FOUND:
            near = f" Similar: {', '.join(found.near_names)}." if found.near_names else ""
            said.append(
                f"There is no memory {target} yet: the link waits for one of this id.{near}"
            )
    return [*said, *(await _amendments(calls, reply) if reply.created else ())]


async def _amendments(calls: Calls, reply: memory_pb2.AddMemoryResponse) -> Sequence[str]:
    request = dissonance_pb2.SuggestAmendmentsRequest(
        request_id=str(uuid.uuid4()),
        memory_ids=[reply.memory.id],
        consistency=type_pb2.Consistency(at_least_as_fresh=reply.token),
    )
    found = await calls.call(_SUGGEST, request, dissonance_pb2.SuggestAmendmentsResponse)
    return [
        f"It may amend {each.older_id} ({each.change}). To say so, give it the line "
        f'"Amends: [[memory:{each.older_id}]]" with update_memory.'
        for each in found.amendments
    ]


async def after_weighing(
    _calls: Calls, given: Mapping[str, Json], reply: search_pb2.IntegrativeSearchResponse
) -> Sequence[str]:
    """That nothing is called as the context node."""
    if reply.context_status == type_pb2.LOOKUP_STATUS_FOUND:
        return ()
    return [
        f"There is no node {given['context_node']}: nothing constitutive stands at it. Look for "
        "its name with get_node_by_name."
    ]
