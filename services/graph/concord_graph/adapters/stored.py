"""The stored forms of fields, changes and receipts: the same for every store."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast, get_args

from pydantic import TypeAdapter

from concord_graph.domain.facts import Fact
from concord_graph.domain.fields import Field
from concord_graph.domain.items import FOREVER, ItemKind, Properties, Source, Trust
from concord_graph.ports import (
    Author,
    Change,
    ChangeType,
    ClaimMade,
    GaveWay,
    Receipt,
    Result,
)

Convert = Callable[[Any], Any]
Codec = tuple[Convert | None, Convert | None]
"""The functions that encode a value for the store and decode it; None: unchanged."""


to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
"""JSON values as text."""


def properties_text(properties: Properties) -> str:
    """Return a JSON object as text."""
    return to_json(dict(properties)) if properties else "{}"


def properties(text: str) -> Properties:
    """Return the JSON object of a text."""
    return json.loads(text) if text != "{}" else {}


def _sources_text(sources: tuple[Source, ...]) -> str:
    names = ("speaker", "file", "turn_ids", "trust", "memory_ids")
    return to_json([{name: getattr(source, name) for name in names} for source in sources])


def _sources(text: str) -> tuple[Source, ...]:
    return tuple(
        Source(
            speaker=part["speaker"],
            file=part["file"],
            turn_ids=tuple(part["turn_ids"]),
            trust=Trust(part["trust"]),
            memory_ids=tuple(part.get("memory_ids", ())),
        )
        for part in json.loads(text)
    )


def _facts_text(facts: tuple[Fact, ...]) -> str:
    parts = ([*fact.triple, fact.weight, dict(fact.properties)] for fact in facts)
    marks = ([True] if fact.extracted else [] for fact in facts)  # older facts have none
    return to_json([part + mark for part, mark in zip(parts, marks, strict=True)])


def _facts(text: str) -> tuple[Fact, ...]:
    return tuple(Fact(*parts) for parts in json.loads(text)) if text != "[]" else ()


def _tuples(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, json.loads(text)))


_AS_JSON: Mapping[Any, Codec] = {
    Properties: (properties_text, properties),
    tuple[Source, ...]: (_sources_text, _sources),
    tuple[Fact, ...]: (_facts_text, _facts),
    tuple[tuple[str, ...], ...]: (to_json, _tuples),
}


def codec(field: Field, own: Mapping[Any, Codec]) -> Codec:
    """Return a field's codec; `own`, a store's own codecs by type, come first."""
    kind = field.type
    if field.name == "external_id":  # unique, but for absent ones
        return (lambda key: key or None), (lambda key: key or "")
    if isinstance(kind, type) and issubclass(kind, enum.IntEnum):
        # a look-up costs a sixth of a call of the enum
        return int, {int(member): member for member in kind}.__getitem__
    return own.get(kind) or _AS_JSON.get(kind, (None, None))


def record_name(kind: str, key: str) -> str:
    """Return the stored name of a service's record: its kind, with its key if it has one."""
    return f"{kind}\n{key}" if key else kind


CHANGE_COLUMNS: Final = (
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


def kept_change(change: Change) -> dict[str, Any]:
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


_KEPT_MICROSECONDS: Final = 7 * 86_400_000_000
_DECISIONS: Final = "ApplyGovernedChange"
_GAVE_WAY: Final = "gave_way"
_FORM_OF_GAVE_WAY: Final = TypeAdapter(GaveWay)
_CLAIMS: Final = "claims"
_FORM_OF_CLAIMS: Final = TypeAdapter(tuple[ClaimMade, ...])
_FORMS: Final = {form.__name__: TypeAdapter(form) for form in get_args(Result)}


def receipt_to_json(receipt: Receipt) -> str:
    """Return the text of a receipt: its result under the name of its type, and what gave way."""
    name = type(receipt.result).__name__
    fields = {name: _FORMS[name].dump_python(receipt.result)}
    if receipt.gave_way.count:
        fields[_GAVE_WAY] = _FORM_OF_GAVE_WAY.dump_python(receipt.gave_way)
    if receipt.claims:
        fields[_CLAIMS] = _FORM_OF_CLAIMS.dump_python(receipt.claims)
    return json.dumps(fields, separators=(",", ":"))


def receipt_of(text: str, seq: int) -> Receipt:
    """Return the receipt of a request that ended at the change `seq`."""
    read = json.loads(text)
    gave_way = _FORM_OF_GAVE_WAY.validate_python(read.pop(_GAVE_WAY, {}))
    claims = _FORM_OF_CLAIMS.validate_python(read.pop(_CLAIMS, ()))
    ((name, fields),) = read.items()
    return Receipt(cast(Result, _FORMS[name].validate_python(fields)), seq, gave_way, claims)


def kept_receipt(
    author: Author, salt: bytes, digest: str, receipt: Receipt, now: int
) -> dict[str, Any]:
    """Return the columns of a request's receipt by name; `now` in µs.

    A decision's receipt never ages. Governance asks until it knows how the decision ended, however
    long it was away; without the receipt it would hear that the grant is used, and record that
    nothing was done.
    """
    return {
        "principal": author.principal,
        "method": author.method,
        "request_id": author.request_id,
        "salt": salt,
        "digest": digest,
        "refs": receipt_to_json(receipt),
        "seq": receipt.seq,
        "create_time": FOREVER if author.method == _DECISIONS else now,
    }


def forgotten_before(now: int) -> int:
    """Return the time (µs) before which receipts are over seven days old."""
    return now - _KEPT_MICROSECONDS
