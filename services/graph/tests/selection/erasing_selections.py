"""Looks and erasures by selection, as tests ask for them."""

import json
from typing import Any

from concord.graph.v1 import erasure_pb2
from graph_world import Calls

KEPT = erasure_pb2.KeptReason


def of_subject(name: str, *also: str) -> erasure_pb2.Selection:
    """Select a subject."""
    return erasure_pb2.Selection(subject=name, also=also)


async def look(
    home: Calls, selection: erasure_pb2.Selection, **options: bool
) -> erasure_pb2.PreviewErasureResponse:
    """Look at what an erasure would take."""
    request = erasure_pb2.PreviewErasureRequest(
        selection=selection, options=erasure_pb2.ErasureOptions(**options)
    )
    return await home.erasure.PreviewErasure(request)


def ids(seen: erasure_pb2.PreviewErasureResponse, part: str) -> set[str]:
    """Return the ids that are erased for a reason."""
    number = erasure_pb2.SelectedPart.Value(f"SELECTED_PART_{part}")
    return {each.id for each in seen.items if each.part == number and not each.kept}


def kept(seen: erasure_pb2.PreviewErasureResponse, why: str) -> set[str]:
    """Return the ids that stay for a reason."""
    number = KEPT.Value(f"KEPT_REASON_{why}")
    return {each.id for each in seen.items if each.kept == number}


async def erase(home: Calls, selection: erasure_pb2.Selection, **options: bool) -> dict[str, Any]:
    """Look, erase what was looked at, and return the receipt."""
    seen = await look(home, selection, **options)
    return await erase_looked_at(home, selection, seen.digest, **options)


async def erase_looked_at(
    home: Calls, selection: erasure_pb2.Selection, digest: str, **options: bool
) -> dict[str, Any]:
    """Erase what the digest names, in as many calls as it takes; return the receipt."""
    request = erasure_pb2.EraseSelectionRequest(
        selection=selection,
        options=erasure_pb2.ErasureOptions(**options),
        digest=digest,
        reason="asked for",
    )
    done = await home.erasure.EraseSelection(request)
    while not done.complete:
        done = await home.erasure.EraseSelection(request)
    asked = erasure_pb2.GetSelectionReceiptRequest(erase_id=done.erase_id)
    found = await home.erasure.GetSelectionReceipt(asked)
    receipt: dict[str, Any] = json.loads(found.receipt)
    return receipt
