"""The request of a claim, read back: what accepting would do, for who decides about it (W9)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from concord.graph.v1 import conflict_pb2, graph_pb2, memory_pb2, relation_pb2
from google.protobuf.json_format import MessageToDict

from concord_graph.domain.claims import Claim
from concord_graph.usecases.items.claims import Meant

MOST_SHOWN = 4_000
"""Characters of a request that are shown."""
_FORMS = (graph_pb2, memory_pb2, relation_pb2, conflict_pb2)
_ITEMS = ("node", "edge", "memory")
_UNSHOWN = ("request_id", "etag")


def requested(claim: Claim) -> Any:
    """Return the request that a claim recorded; None: it recorded none, or it was erased."""
    forms = (getattr(each, f"{claim.method}Request", None) for each in _FORMS)
    form = next(filter(None, forms), None)
    if form is None or not claim.request:
        return None
    return form.FromString(base64.b64decode(claim.request))


def meant(claim: Claim) -> Meant:
    """Return what a claim's request would change."""
    request = requested(claim)
    if request is None:
        return Meant(claim.item.id, "", None)
    item, names = _item_in(request), ("id", "conflict_id", "name")
    named = next((getattr(item, each) for each in names if hasattr(item, each)), "")
    paths = [*request.update_mask.paths] if hasattr(request, "update_mask") else []
    fields = frozenset(path.partition(".")[0] for path in paths) if paths else None
    return Meant(named, _holder(request).etag, fields)


def with_etag(request: Any, etag: str) -> Any:
    """Return a request against another version of its item; "": against that which it names."""
    if etag:
        _holder(request).etag = etag
    return request


def _item_in(request: Any) -> Any:
    """Return the node, edge or memory that a request carries; the request itself without one."""
    return next((getattr(request, n) for n in _ITEMS if hasattr(request, n)), request)


def _holder(request: Any) -> Any:
    """Return the part of a request that has the etag."""
    return request if hasattr(request, "etag") else _item_in(request)


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
