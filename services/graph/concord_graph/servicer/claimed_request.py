"""The request of a claim, read back: what accepting would do, for who decides about it (W9)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2, relation_pb2
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from concord_graph.domain.claims import Claim

MOST_SHOWN = 4_000
"""Characters of a request that are shown."""
_FORMS = (graph_pb2, memory_pb2, relation_pb2, conflict_pb2)
_UNSHOWN = ("request_id", "etag")


def requested(claim: Claim) -> Message | None:
    """Return the request that a claim recorded; None: it recorded none, or it was erased."""
    forms = (getattr(each, f"{claim.method}Request", None) for each in _FORMS)
    form = next(filter(None, forms), None)
    if form is None or not claim.request:
        return None
    request: Message = form.FromString(base64.b64decode(claim.request))
    return request


def in_words(claim: Claim) -> str:
    """Return what a claim's request asks for, as JSON on one line; empty without one."""
    request = requested(claim)
    if request is None:
        return ""
    said = MessageToDict(request, preserving_proto_field_name=True)
    said.pop("update_mask", None)
    paths = [*request.update_mask.paths] if hasattr(request, "update_mask") else []
    changed = {path.partition(".")[0] for path in paths} if paths else None
    shown = {
        name: _of_item(part, changed) if isinstance(part, dict) else part
        for name, part in said.items()
        if name not in _UNSHOWN
    }
    if paths:
        shown["update_mask"] = paths
    return json.dumps(shown, ensure_ascii=False)[:MOST_SHOWN]


def _of_item(part: Mapping[str, Any], changed: set[str] | None) -> Mapping[str, Any]:
    """Return the fields of an item that a mask names, all without one, and its id."""
    return {
        name: value
        for name, value in part.items()
        if name not in _UNSHOWN and (changed is None or name == "id" or name in changed)
    }
