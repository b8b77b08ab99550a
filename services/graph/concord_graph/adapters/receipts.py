"""The stored form of receipts, and for how long they stay: the same for every store."""

from __future__ import annotations

import json
from typing import Any, Final, cast, get_args

from pydantic import TypeAdapter

from concord_graph.domain.items import FOREVER
from concord_graph.ports import Author, GaveWay, Receipt, Result

_KEPT_MICROSECONDS: Final = 7 * 86_400_000_000
_DECISIONS: Final = "ApplyGovernedChange"
_GAVE_WAY: Final = "gave_way"
_FORM_OF_GAVE_WAY: Final = TypeAdapter(GaveWay)
_FORMS: Final = {form.__name__: TypeAdapter(form) for form in get_args(Result)}


def to_json(receipt: Receipt) -> str:
    """Return the text of a receipt: its result under the name of its type, and what gave way."""
    name = type(receipt.result).__name__
    fields = {name: _FORMS[name].dump_python(receipt.result)}
    if receipt.gave_way.count:
        fields[_GAVE_WAY] = _FORM_OF_GAVE_WAY.dump_python(receipt.gave_way)
    return json.dumps(fields, separators=(",", ":"))


def from_json(text: str, seq: int) -> Receipt:
    """Return the receipt of a request that ended at the change `seq`."""
    read = json.loads(text)
    gave_way = _FORM_OF_GAVE_WAY.validate_python(read.pop(_GAVE_WAY, {}))
    ((name, fields),) = read.items()
    return Receipt(cast(Result, _FORMS[name].validate_python(fields)), seq, gave_way)


def kept(author: Author, salt: bytes, digest: str, receipt: Receipt, now: int) -> dict[str, Any]:
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
        "refs": to_json(receipt),
        "seq": receipt.seq,
        "create_time": FOREVER if author.method == _DECISIONS else now,
    }


def forgotten_before(now: int) -> int:
    """Return the time (µs) before which receipts are over seven days old."""
    return now - _KEPT_MICROSECONDS
