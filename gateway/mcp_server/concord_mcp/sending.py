"""Sends a tool's request: with the present etag where the caller stated none."""

from __future__ import annotations

import uuid
from typing import Any

from google.protobuf.message import Message

from concord_mcp.calls import Calls, Refusal
from concord_mcp.tool import Tool

CHANGED_MEANWHILE = "ERROR_REASON_ETAG_MISMATCH"
CHANGED = "The item has changed since; the example is its present etag."


async def sent(calls: Calls, tool: Tool, request: Message) -> Any:
    """The reply. Raises `Refusal`, with the present etag if the stated one is another.

    Without a stated etag the item is read first, and once more if it has changed meanwhile.
    """
    owner: Any = request
    *above, field = tool.etag.split(".")
    for each in above:
        owner = getattr(owner, each)
    if tool.present is None:
        return await _call(calls, tool, request)
    is_stated = bool(getattr(owner, field))
    if not is_stated:
        setattr(owner, field, await tool.present(calls, request))
    try:
        return await _call(calls, tool, request)
    except Refusal as refusal:
        if refusal.reason != CHANGED_MEANWHILE:
            raise
        present = await tool.present(calls, request)
        if is_stated:
            raise Refusal(
                refusal.reason, refusal.message, [(field, CHANGED)], present_etag=present
            ) from None
    setattr(owner, field, present)
    return await _call(calls, tool, request)


async def _call(calls: Calls, tool: Tool, request: Any) -> Message:
    if "request_id" in request.DESCRIPTOR.fields_by_name:
        request.request_id = str(uuid.uuid4())
    call = calls.last if tool.method.server_streaming else calls.call
    return await call(tool.path, request, tool.reply)
