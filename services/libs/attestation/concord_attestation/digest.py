"""The digests that a consent names: of an action, and of etags."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

import rfc8785
from google.protobuf.json_format import Error as JsonFormatError
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None

_SAFE_INTEGER = 2**53 - 1


def etags_digest(etags: Mapping[str, str]) -> str:
    """Return the hex SHA-256 of the RFC 8785 form of the map from item ids to etags. A consent
    names it, so that a grant carries the map once. ValueError for a lone surrogate in an id."""
    return sha256(rfc8785.dumps(dict(etags))).hexdigest()


def action_digest(action: Message) -> str:
    """Return the hex SHA-256 of the RFC 8785 form of a message's protobuf JSON.

    Field names are those of the contract, absent fields are left out, 64-bit integers are
    strings; a whole number of a Struct beyond 2^53 - 1 is written as the double that it is.
    Raises ValueError for a message that has no JSON, such as a Struct with an infinity.
    """
    try:
        mapping = MessageToDict(action, preserving_proto_field_name=True)
    except JsonFormatError as error:
        raise ValueError("the action has no JSON form") from error
    return sha256(rfc8785.dumps(_with_doubles(mapping))).hexdigest()


def _with_doubles(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _with_doubles(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_doubles(inner) for inner in value]
    if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        return float(value)
    return value
