"""ErasureService."""

from __future__ import annotations

from itertools import islice
from typing import Any

from concord.graph.v1 import erasure_pb2, erasure_pb2_grpc
from concord_chassis.call.identity import caller

from concord_graph.domain.selection import MOST_SELECTED, By, Found, Options, Selection, Why
from concord_graph.ports import Author
from concord_graph.servicer.calls import FOUND, NOT_FOUND, Context
from concord_graph.servicer.incoming import text
from concord_graph.servicer.outgoing import stamp
from concord_graph.usecases.selection.erasing import METHOD, SelectionErasing
from concord_graph.usecases.selection.looks import Look
from concord_graph.usecases.selection.plans import Order

_BY = {
    "subject": By.SUBJECT,
    "session_id": By.SESSION,
    "speaker": By.SPEAKER,
    "principal": By.PRINCIPAL,
}


class ErasureServicer(erasure_pb2_grpc.ErasureServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, erasing: SelectionErasing) -> None:
        self._erasing = erasing

    async def PreviewErasure(
        self, request: erasure_pb2.PreviewErasureRequest, context: Context
    ) -> erasure_pb2.PreviewErasureResponse:
        look = await self._erasing.look(
            caller().space, _selection(request.selection), _options(request.options)
        )
        return _preview(look)

    async def EraseSelection(
        self, request: erasure_pb2.EraseSelectionRequest, context: Context
    ) -> erasure_pb2.EraseSelectionResponse:
        who = caller()
        order = Order(
            _selection(request.selection),
            _options(request.options),
            request.digest,
            request.reason,
            tuple(request.proposal_ids),
        )
        author = Author(who.principal, METHOD, request.digest, who.kind)
        progress = await self._erasing.erase(who.space, author, order)
        return erasure_pb2.EraseSelectionResponse(
            erase_id=progress.erase_id,
            complete=progress.is_complete,
            left_count=progress.left,
        )

    async def GetSelectionReceipt(
        self, request: erasure_pb2.GetSelectionReceiptRequest, context: Context
    ) -> erasure_pb2.GetSelectionReceiptResponse:
        found = await self._erasing.receipt(caller().space, request.erase_id)
        if found is None:
            return erasure_pb2.GetSelectionReceiptResponse(status=NOT_FOUND)
        reply = erasure_pb2.GetSelectionReceiptResponse(status=FOUND, receipt=found.text)
        for each in found.erasure.confirmations:
            confirmation = reply.confirmations.add(confirmer=each.confirmer)
            if each.time is not None:
                confirmation.confirm_time.CopyFrom(stamp(each.time))
        if found.erasure.complete_time is not None:
            reply.complete_time.CopyFrom(stamp(found.erasure.complete_time))
        return reply


def _selection(message: erasure_pb2.Selection) -> Selection:
    by = message.WhichOneof("by") or ""
    names = dict.fromkeys(text(name) for name in (getattr(message, by), *message.also))
    return Selection(_BY[by], tuple(names))


def _options(message: erasure_pb2.ErasureOptions) -> Options:
    return Options(mentions=message.mentions, shared=message.shared)


def _preview(look: Look) -> erasure_pb2.PreviewErasureResponse:
    selected = look.selected
    erased = (_item(each, None) for each in islice(selected.erased, MOST_SELECTED))
    kept = (_item(each.found, each.why) for each in islice(selected.kept, MOST_SELECTED))
    return erasure_pb2.PreviewErasureResponse(
        items=[*erased, *kept],
        kept_count=len(selected.kept),
        digest=look.digest,
        near_names=look.near_names,
        query_count=look.asked.count,
        kept_ids=selected.ids,
        unfinished_digest=look.unfinished,
    )


def _item(found: Found, why: Why | None) -> erasure_pb2.SelectedItem:
    numbers: dict[str, Any] = {"kind": int(found.kind), "part": int(found.part)}
    return erasure_pb2.SelectedItem(
        id=found.id,
        revision=found.revision,
        label=found.label,
        others=found.others,
        kept=int(why or 0),  # type: ignore[arg-type] # numbers are the contract's
        **numbers,
    )
