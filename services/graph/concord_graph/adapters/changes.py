"""The stored form of a change, as named columns: the same for every store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from concord_graph.domain.items import ItemKind
from concord_graph.ports import Author, Change, ChangeType

COLUMNS: Final = (
    *("seq", "record_time", "item_id", "item_kind", "type", "revision", "digest"),
    *("before_digest", "principal", "method", "request_id", "reason", "needs_consent", "ends"),
    *("actor", "paper"),
)

LEAVE_THE_STATE: Final = [
    int(each)
    for each in (
        *(ChangeType.TOUCHED, ChangeType.REFUSED),
        *(ChangeType.ERASE_CONFIRMED, ChangeType.SESSION_ENDED),
    )
]
"""The types of changes that leave the state of their item as it is."""


def kept(change: Change) -> dict[str, Any]:
    """Return a change's columns by name."""
    author = change.author
    return {
        "seq": change.seq,
        "record_time": change.record_time,
        "item_id": change.item_id,
        "item_kind": int(change.item_kind),
        "type": int(change.type),
        "revision": change.revision,
        "digest": change.digest,
        "before_digest": change.before_digest,
        "principal": author.principal,
        "method": author.method,
        "request_id": author.request_id,
        "reason": change.reason,
        "needs_consent": change.needs_consent,
        "ends": "" if change.ends is None else json.dumps(dict(change.ends)),
        "actor": author.kind,
        "paper": change.paper,
    }


def change_of(row: Sequence[Any]) -> Change:
    """Return the change of a row of its columns; an older row may lack the last column."""
    seq, record_time, item_id, item_kind, type_, revision, digest, before_digest, *rest = row
    principal, method, request_id, reason, needs_consent, ends, actor, paper = rest
    return Change(
        seq=seq,
        record_time=record_time,
        item_id=item_id,
        item_kind=ItemKind(item_kind),
        type=ChangeType(type_),
        revision=revision,
        digest=digest,
        before_digest=before_digest,
        author=Author(principal, method, request_id, actor or ""),
        reason=reason,
        needs_consent=bool(needs_consent),
        ends=json.loads(ends) if ends else None,
        paper=paper or "",
    )
