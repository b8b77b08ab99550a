"""The canonical form of signed JSON (RFC 8785), and the digests that statements name."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

import rfc8785
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


def action_digest(action: Message) -> str:
    """Return an action's digest, which consents name: hex SHA-256 of its JSON's RFC 8785 form.

    The JSON is protobuf's mapping with the contract's field names. Whole numbers beyond 2^53 - 1,
    which a Struct may have, are written as doubles.
    """
    return sha256(canonical(MessageToDict(action, preserving_proto_field_name=True))).hexdigest()


def etags_digest(etags: Mapping[str, str]) -> str:
    """Return the digest of items' etags, which consents name: hex SHA-256 of the RFC 8785 form."""
    return sha256(canonical(dict(etags))).hexdigest()


def canonical(value: Json) -> bytes:
    """Return the RFC 8785 form of JSON, even of JSON that was parsed from that form.

    RFC 8785 writes a whole double from 2^53 to 10^21 without exponent or point. Parsed back it is
    a Python integer, which `rfc8785` refuses, so it is converted to a double again. Raises
    ValueError for a value without such a form.
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
