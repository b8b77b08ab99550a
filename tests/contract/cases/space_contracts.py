"""The contract cases of SpaceService."""

from concord.graph.v1 import space_pb2 as pb
from contract_homes import importing
from contract_live import member
from contract_registry import Contract, invalid

SPACE = {
    "CountByType": Contract(
        request=lambda _: pb.CountByTypeRequest(),
        success=lambda reply, _: (reply.memories, reply.deleted) == (5, 6),
    ),
    "ListOperations": Contract(
        request=lambda home: pb.ListOperationsRequest(item_id=home.gone_id),
        success=lambda reply, _: (
            [(each.method, each.principal, each.request_id) for each in reply.operations]
            == [("ForgetMemory", "agent-1", "m5"), ("AddMemory", "agent-1", "m4")]
        ),
        bad_input=(
            lambda _: pb.ListOperationsRequest(page_size=501),
            invalid("page_size"),
        ),
    ),
    "ExportSpace": Contract(
        request=lambda _: pb.ExportSpaceRequest(),
        success=lambda reply, home: f"Ada likes tea ({home.space})" in "".join(reply.lines),
        bad_input=(lambda _: pb.ExportSpaceRequest(form=9), invalid("form")),  # type: ignore[arg-type] # undefined
    ),
    "ImportSpace": Contract(
        request=lambda home: [*importing(home)],
        success=lambda reply, home: reply.line_count == home.export.count(b"\n") and reply.token,
        bad_input=(lambda home: [*importing(home)[1:]], invalid("part")),
        other=lambda home: [*importing(home, export=home.export + b"\n")],
        caller=lambda home: member(home.fresh_space),
    ),
}
