"""The contract cases of ErasureService."""

import json
from hashlib import sha256

from concord.graph.v1 import erasure_pb2 as pb
from contract_registry import Contract, Refused, invalid
from grpc import StatusCode

NAME = "Nobody Of This Name"
NOBODY = pb.Selection(subject=NAME)
NOTHING = sha256(json.dumps([[1, NAME, False, False], []]).encode()).hexdigest()
"""The digest of a look that found nothing."""

ERASURE = {
    "PreviewErasure": Contract(
        request=lambda _: pb.PreviewErasureRequest(selection=pb.Selection(subject="Ada")),
        success=lambda reply, home: home.node_id in [each.id for each in reply.items],
        bad_input=(lambda _: pb.PreviewErasureRequest(), invalid("selection")),
    ),
    "EraseSelection": Contract(
        request=lambda _: pb.EraseSelectionRequest(selection=NOBODY, digest=NOTHING),
        success=lambda reply, _: reply.complete and reply.left_count == 0,
        bad_input=(
            lambda _: pb.EraseSelectionRequest(selection=NOBODY, digest="0" * 64),
            Refused(StatusCode.ABORTED, "SELECTION_CHANGED"),
        ),
    ),
    "GetSelectionReceipt": Contract(
        request=lambda _: pb.GetSelectionReceiptRequest(erase_id="no-such"),
        success=lambda reply, _: not reply.receipt,
        bad_input=(lambda _: pb.GetSelectionReceiptRequest(), invalid("erase_id")),
    ),
}
