"""The contract cases of UndoService."""

import json
from hashlib import sha256

from concord.graph.v1 import undo_pb2 as pb
from contract_homes import Home
from contract_live import member
from contract_registry import Contract, Refused, invalid
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import StatusCode

NAME = "nobody-of-this-name"
NOBODY = pb.UndoSelection(principal=NAME, since=Timestamp(seconds=1))


def _nothing(home: Home) -> str:
    """Return the digest of a member's look that found nothing."""
    who = member(home.space)
    undoer = [who.principal, who.kind, "governed:write" in who.scopes]
    return sha256(json.dumps([undoer, [1, NAME, 1_000_000, None], []]).encode()).hexdigest()


UNDO = {
    "PreviewUndo": Contract(
        request=lambda _: pb.PreviewUndoRequest(selection=NOBODY),
        success=lambda reply, home: reply.digest == _nothing(home) and not reply.items,
        bad_input=(
            lambda _: pb.PreviewUndoRequest(selection=pb.UndoSelection(principal=NAME)),
            invalid("selection.since"),
        ),
    ),
    "UndoOperations": Contract(
        request=lambda home: pb.UndoOperationsRequest(selection=NOBODY, digest=_nothing(home)),
        success=lambda reply, _: reply.complete and reply.remaining_count == 0,
        bad_input=(
            lambda _: pb.UndoOperationsRequest(selection=NOBODY, digest="0" * 64),
            Refused(StatusCode.ABORTED, "SELECTION_CHANGED"),
        ),
    ),
    "GetUndo": Contract(
        request=lambda _: pb.GetUndoRequest(digest="no-such"),
        success=lambda reply, _: not reply.items,
        bad_input=(lambda _: pb.GetUndoRequest(), invalid("digest")),
    ),
}
