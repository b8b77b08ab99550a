"""The contract cases of RecordService, and of what else Concord's own services alone may call."""

from collections.abc import Callable
from typing import Any

from concord.graph.v1 import record_pb2 as pb
from concord_chassis.call.identity import Caller
from contract_homes import Home
from contract_registry import Contract, invalid


def of_services(
    request: Callable[[Home], Any], success: Callable[[Any, Home], bool], **more: Any
) -> Contract:
    """The cases of a method that takes `record:all`."""
    return Contract(
        request=request,
        success=success,
        **more,
        caller=lambda home: Caller(home.space, "dissonance", frozenset({"record:all"}), "SYSTEM"),
    )


RECORD = {
    "GetRecords": of_services(
        request=lambda _: pb.GetRecordsRequest(names=[pb.RecordName(kind="of_tests")]),
        success=lambda reply, _: len(reply.records) == 1,
        bad_input=(lambda _: pb.GetRecordsRequest(), invalid("names")),
    ),
    "PutRecords": of_services(
        request=lambda _: pb.PutRecordsRequest(
            records=[pb.Record(name=pb.RecordName(kind="of_tests"), body="{}")]
        ),
        success=lambda reply, _: len(reply.etags) == 1,
        bad_input=(lambda _: pb.PutRecordsRequest(), invalid("records")),
    ),
}
