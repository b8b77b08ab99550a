"""What a merge must not do: to other versions than were named, to a circle, to what both agreed."""

import grpc
from concord.graph.v1 import governed_pb2, lineage_pb2, memory_pb2
from concord.type.v1 import type_pb2
from contract_homes import Template
from contract_live import Answer, Live, governing, member
from contract_registry import Refused
from guard_probes import is_done

CODE = grpc.StatusCode


async def _added(live: Live, name: str) -> type_pb2.Memory:
    request = memory_pb2.AddMemoryRequest(request_id=name, memory=type_pb2.Memory(content=name))
    reply: memory_pb2.AddMemoryResponse = await live.tell(member("a"), "AddMemory", request)
    return reply.memory


async def _merged(live: Live, kept: tuple[str, str], merged: tuple[str, str]) -> Answer:
    request = governed_pb2.ApplyGovernedChangeRequest(request_id="merge")
    request.action.merge_items.request_id = "inner"
    request.action.merge_items.kept_id, request.action.merge_items.kept_etag = kept
    request.action.merge_items.merged_id, request.action.merge_items.merged_etag = merged
    request.etags.add(id=kept[0], etag=kept[1])
    request.etags.add(id="the lineage that it makes")
    return await live.ask(governing("a"), "ApplyGovernedChange", request)


async def a_changed_memory_is_merged(live: Live, _: Template) -> bool:
    """Merge a memory in a version that it no longer has."""
    kept, other = await _added(live, "one"), await _added(live, "two")
    answer = await _merged(live, (kept.id, kept.etag), (other.id, "former"))
    return is_done(answer, Refused(CODE.ABORTED, "ETAG_MISMATCH"))


async def a_successor_is_merged(live: Live, _: Template) -> bool:
    """Merge a memory with one that it supersedes over another: kept and third would be a circle."""
    kept, third, other = [await _added(live, name) for name in ("one", "two", "three")]
    for newer, older in ((third, other), (kept, third)):
        request = lineage_pb2.AddLineageRequest(
            request_id=f"{newer.id} {older.id}",
            relation=type_pb2.LINEAGE_RELATION_SUPERSEDES,
            newer_id=newer.id,
            older_id=older.id,
        )
        await live.tell(member("a"), "AddLineage", request)
    answer = await _merged(live, (kept.id, kept.etag), (other.id, other.etag))
    return is_done(answer, Refused(CODE.FAILED_PRECONDITION, "LINEAGE_CYCLE"))


async def a_creed_is_merged(live: Live, template: Template) -> bool:
    """Merge a constitutive memory into a new one, without any consent."""
    home = template.a
    answer = await _merged(
        live, (home.memory_id, home.memory_etag), (home.creed_id, home.creed_etag)
    )
    demanded = Refused(CODE.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
    return is_done(answer, demanded)
