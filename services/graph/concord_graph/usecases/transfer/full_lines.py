"""A space's history as lines: one record each, in one spelling (G15, the full form).

A record is a JSON object with sorted keys, without spaces and without fields at their default. So a
later program's new field is missing in earlier lines, and these still read. Numbers have JSON's
shortest spelling that reads back as the same value, whole doubles with ".0". Times are RFC 3339 in
UTC with six decimals, bytes are hex, kinds and types are names.

Records of sessions, of what one session read together and of sessions that stated a memory again
come with it, sorted by their ids, since without them a moved space forgets what recurs (V10) and
search its co-activation. The state export has none of them: it says what holds, not who asked.
"""

from __future__ import annotations

import enum
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from concord_graph.domain.erasure import Erasure
from concord_graph.domain.facts import Support
from concord_graph.domain.fields import fields_of
from concord_graph.domain.items import DeclaredRelation, Edge, Entry, ItemKind, Memory, Node, Record
from concord_graph.domain.sessions import Restatement, Session, SessionRead, SessionRow
from concord_graph.ports import Change

FORMAT = 3
"""Grows with every change of the line format. Only this one is read."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where an export comes from. It differs between an export and the export of its import.

    `imports`: the changes of the space's own imports, refused ones too; `burnt`: the nonces of the
    grants that allowed them. Both are history of a system, not of the space.
    """

    format: int
    space: str
    epoch: str
    counts: Mapping[str, int]
    imports: tuple[Change, ...] = ()
    burnt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GenesisLine:
    """The envelope of the genesis, as it was accepted."""

    envelope: str


@dataclass(frozen=True, slots=True)
class AccessLine:
    """How often an item was read, and when last (µs)."""

    id: str
    count: int
    last_time: int


@dataclass(frozen=True, slots=True)
class NonceLine:
    """A burnt nonce."""

    nonce: str


@dataclass(frozen=True, slots=True)
class EndLine:
    """The number of lines between header and end, and their hex SHA-256."""

    lines: int
    digest: str


Body = GenesisLine | Record | Change | Support | Erasure | AccessLine | SessionRow | NonceLine
Line = Header | Body | EndLine

KINDS: Mapping[str, type[Line]] = {
    "export": Header,
    "genesis": GenesisLine,
    **{"node": Node, "edge": Edge, "memory": Memory, "episode": Entry, "working_memory": Entry},
    **{"relation": DeclaredRelation, "conflict": Entry, "claim": Entry},
    "change": Change,
    "support": Support,
    "erasure": Erasure,
    "access": AccessLine,
    "session": Session,
    "co_read": SessionRead,
    "restatement": Restatement,
    "nonce": NonceLine,
    "end": EndLine,
}
"""The types of lines by "kind": a new kind is added here alone."""

_NAMES: Mapping[type, str] = {kind: name for name, kind in KINDS.items() if kind is not Entry}
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - every time here is UTC
_MOST = 2**63

Convert = Callable[[Any], Any]


class LineMalformed(ValueError):
    """A line is no record, or spells it otherwise; the message says what is wrong."""


def kind_of(line: Line) -> str:
    """Return the "kind" of a line."""
    return line.kind.name.lower() if isinstance(line, Entry) else _NAMES[type(line)]


def encode(line: Line) -> str:
    """Return the one spelling of a line, without its line feed."""
    return _spelt({"kind": kind_of(line), **_plain(line, tagged=True)})


def decode(text: str) -> Line:
    """Return the record of a line.

    Raises:
        LineMalformed: the line is no record, or spells it otherwise than `encode`.
    """
    try:
        record = json.loads(text)
        name = record.pop("kind")
        given = {"kind": ItemKind[name.upper()]} if KINDS[name] is Entry else {}
        line: Line = _built(KINDS[name], record, **given)
        again = encode(line)
    except RecursionError:
        raise LineMalformed("is nested too deep") from None
    except LineMalformed:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise LineMalformed("is no record of an export") from error
    if again != text:
        raise LineMalformed("is not in the one spelling of a record")
    return line


def rfc3339(time: int) -> str:
    """Return a time (µs since 1970) as RFC 3339 text."""
    stamp = _EPOCH + timedelta(microseconds=time)
    return f"{stamp.isoformat(timespec='microseconds')}Z"


def _micros(text: str) -> int:
    if not _TIME.fullmatch(text):
        raise LineMalformed("has what should be a time and is none")
    return (datetime.fromisoformat(text[:-1]) - _EPOCH) // timedelta(microseconds=1)


def _spelt(record: Mapping[str, Any]) -> str:
    return json.dumps(
        record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


@dataclass(frozen=True, slots=True)
class _Slot:
    """A field: how it is written and read, and its default, which is left out."""

    name: str
    write: Convert
    read: Convert
    default: Any


def _plain(value: Any, *, tagged: bool = False) -> dict[str, Any]:
    record = {}
    shape: type = type(value)
    for slot in _slots(shape):
        content = getattr(value, slot.name)
        if content != slot.default and not (tagged and slot.name == "kind"):
            record[slot.name] = slot.write(content)
    return record


def _built(shape: type, record: Any, **given: Any) -> Any:
    if type(record) is not dict:
        raise LineMalformed("has something else where a record should be")
    slots = {slot.name: slot for slot in _slots(shape)}
    unknown = record.keys() - slots.keys()
    if unknown:
        raise LineMalformed(f"has a field that this program does not know: {min(unknown)[:64]!r}")
    said = {name: slots[name].read(content) for name, content in record.items()}
    return shape(**said, **given)


@cache
def _slots(kind: type) -> tuple[_Slot, ...]:
    return tuple(
        _Slot(
            each.name,
            *_converters(each.type, time=each.is_time),
            each.default,
        )
        for each in fields_of(kind)
    )


def _converters(hint: Any, *, time: bool = False) -> tuple[Convert, Convert]:
    """Return the functions that write and read a value of a type."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):  # X | None; None is a default, so never written
        return _converters(parts[0], time=time)
    if origin is tuple:
        write, read = _converters(parts[0])
        return (lambda many: [write(one) for one in many]), (
            lambda many: tuple(read(one) for one in _exactly(list, many))
        )
    if time and hint is int:
        return rfc3339, _micros
    if isinstance(hint, type) and issubclass(hint, enum.IntEnum):
        return (lambda member: member.name), hint.__getitem__
    if hint is bytes:
        return bytes.hex, lambda text: bytes.fromhex(_exactly(str, text))
    if isinstance(hint, type) and hint in (str, int, float, bool):
        return (lambda value: value), (lambda value: _exactly(hint, value))
    if isinstance(hint, type):
        return _plain, lambda record: _built(hint, record)
    return dict, lambda record: _exactly(dict, record)


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind or (isinstance(value, int) and not -_MOST <= value < _MOST):
        raise LineMalformed("has a value of another type than its field")
    return value
