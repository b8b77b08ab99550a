"""Converts HTTP bodies to protobuf bytes and back, by the method's descriptor.

JSON follows protobuf's mapping: requests may name fields in camelCase or as in the contract;
replies use camelCase.
"""

import json
from typing import NoReturn

from concord_chassis.call.failure import FieldViolation
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from concord_gateway.http import json_form
from concord_gateway.http.headers import invalid


class JsonCodec:
    """One method's messages in JSON."""

    def __init__(self, method: MethodDescriptor) -> None:
        self._request = method.input_type
        self._reply = GetMessageClass(method.output_type)

    def request(self, body: bytes) -> bytes:
        """The protobuf bytes of a JSON request. Raises `Failure` (FIELD_INVALID)."""
        found = json_form.parsed(self._request, loaded(body))
        if isinstance(found, FieldViolation):
            raise invalid(found.field, found.description)
        return found.SerializeToString()

    def reply(self, data: bytes) -> bytes:
        """The JSON of a reply's bytes. Raises `DecodeError` if they are no such message."""
        value = json_format.MessageToDict(self._reply.FromString(data))
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class ProtoCodec:
    """One method's messages as protobuf bytes, which pass unchanged."""

    def __init__(self, method: MethodDescriptor) -> None:
        self._name = method.input_type.full_name
        self._request = GetMessageClass(method.input_type)

    def request(self, body: bytes) -> bytes:
        """`body` itself. Raises `Failure` (FIELD_INVALID) if it is no such message."""
        try:
            self._request.FromString(body)
        except DecodeError:
            raise invalid("", f"is not the protobuf encoding of {self._name}") from None
        return body

    def reply(self, data: bytes) -> bytes:
        """`data` itself."""
        return data


def loaded(body: bytes) -> object:
    """The value of a JSON body. Raises `Failure` (FIELD_INVALID)."""
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):
        raise invalid("", "is not JSON in UTF-8, or names one key twice") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
