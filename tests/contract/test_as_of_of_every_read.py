"""Every read can be asked as of another instant (T3); the descriptors say which there are."""

import pytest
from concord.type.v1 import type_pb2
from contract_cases import CONTRACTS
from contract_descriptors import METHODS, permission
from contract_homes import Template
from contract_live import Live, member
from google.protobuf.message import Message

TIMELESS = {
    "PreviewChange": "asks what a change would touch now",
    "GetGenesis": "tells whose keys count now",
    "GetConstitutiveDigests": "is compared with the newest entries of the audit log",
    "GetCheckSettings": "tells what the space asks for now",
    "GetClaimSettings": "tells what the space asks for now",
    "ListClaims": "lists what waits for an answer now, or what became of it",
    "ListClaimants": "lists who waits for an answer now",
    "GetSession": "tells where a session stands now: its record has no history",
    "ListSessions": "tells where sessions stand now",
    "ListRecalls": "is a record by time of what was returned",
    "ListOperations": "is itself the record by time, and filters by it",
    "GetEraseReceipt": "tells how far an erasure has come",
    "GetSelectionReceipt": "tells how far an erasure has come",
    "PreviewUndo": "is about the record of operations, and filters by its time",
    "GetUndo": "tells what an undo did",
    "GetIndexStatus": "tells how the index is",
    "ListParkedChanges": "tells what the index waits for now",
    "GetCalibration": "tells which weight is in force, and lists its moves by time",
    "SuggestProactively": "says what matters in a situation of now",
    "BatchFindSimilar": "finds what dissonance compares now",
}
READS = {
    name: method
    for name, method in METHODS.items()
    if name.startswith(("concord.graph.", "concord.search."))
    and permission(method).endswith(":read")
}
OF_GRAPH = [n for n, m in READS.items() if ".graph." in n and m.name not in TIMELESS]
SHARED = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("method", READS)
def test_a_read_takes_an_instant(method: str) -> None:
    """T3 Both axes, in one message, on every read."""
    request = READS[method].input_type
    field = request.fields_by_name.get("as_of")

    assert (field is None) == (READS[method].name in TIMELESS), method
    assert field is None or field.message_type == type_pb2.AsOf.DESCRIPTOR


@SHARED
@pytest.mark.parametrize("method", OF_GRAPH)
async def test_nothing_was_known_before_the_beginning(
    method: str, template: Template, kept: Live
) -> None:
    """T3 As of before its first record, a space answers as one that never was."""
    request = CONTRACTS[method].request(template.a)
    assert isinstance(request, Message)
    asked = type(request)()
    asked.CopyFrom(request)
    asked.as_of.record_time.FromSeconds(1)  # type: ignore[attr-defined] # see above
    then = await kept.ask(member(template.a.space), method, asked)
    nowhere = await kept.ask(member("nowhere"), method, request)

    for reply in (*then.replies, *nowhere.replies):
        if "near_names" in reply.DESCRIPTOR.fields_by_name:
            reply.ClearField("near_names")  # these are said to be of now
    assert (then.code, then.replies) == (nowhere.code, nowhere.replies)
