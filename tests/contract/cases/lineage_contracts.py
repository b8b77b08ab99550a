"""The contract cases of LineageService."""

from concord.graph.v1 import lineage_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import Contract, invalid

MISSED = type_pb2.LOOKUP_STATUS_NOT_FOUND


def _lineage(home: Home, context: str = "a test", relation: int = 3) -> pb.AddLineageRequest:
    return pb.AddLineageRequest(
        request_id="r",
        relation=relation,  # type: ignore[arg-type] # numbers are the contract's; 3 is AMENDS
        newer_id=home.memory_id,
        older_id="heir",
        context=context,
    )


LINEAGE = {
    "AddLineage": Contract(
        request=_lineage,
        success=lambda reply, home: reply.created and reply.edge.source.id == home.memory_id,
        bad_input=(lambda home: _lineage(home, relation=0), invalid("relation")),
        other=lambda home: _lineage(home, "another reason"),
    ),
    "GetLineage": Contract(
        request=lambda home: pb.GetLineageRequest(id=home.old_id),
        success=lambda reply, home: {i.id for i in reply.items} == {home.memory_id, home.old_id},
        bad_input=(lambda _: pb.GetLineageRequest(), invalid("id")),
    ),
}
