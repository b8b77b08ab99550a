"""The canonical form of what is signed (RFC 8785), and the digests that name it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

import rfc8785
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


def action_digest(action: Message) -> str:
    """Return what a consent names an action by: hex SHA-256 over the RFC 8785 form of its JSON.

    The JSON is protobuf's mapping with the contract's field names; whole numbers too large for
    a double to count (beyond 2^53 - 1, possible in a Struct) are written as doubles.
    """
    return sha256(canonical(MessageToDict(action, preserving_proto_field_name=True))).hexdigest()


def etags_digest(etags: Mapping[str, str]) -> str:
    """Return what a consent names the items' etags by: hex SHA-256 of their RFC 8785 form."""
    return sha256(canonical(dict(etags))).hexdigest()


def canonical(value: Json) -> bytes:
    """Return the RFC 8785 form of JSON, also of JSON that was parsed from that form.

    All its numbers are doubles, and a whole one from 2^53 to 10^21 is written without exponent or
    point: parsed back it is a Python integer, which `rfc8785` refuses until it is a double again.
    Raises ValueError for what has no such form.
    """
    return rfc8785.dumps(_with_doubles(value))


def _with_doubles(value: Json) -> Json:
    match value:
        case dict():
            return {key: _with_doubles(inner) for key, inner in value.items()}
        case list():
            return [_with_doubles(inner) for inner in value]
        case int() if not -(2**53) < value < 2**53:
            return _double(value)
        case _:
            return value


def _double(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        raise ValueError("a number is beyond every double") from None
