"""JSON to protobuf bytes and back, by the method's descriptor, in protobuf's own JSON mapping.

Requests may name fields in camelCase or as in the contract; replies use camelCase. What does not
fit is refused by the path of the field, in words of ours: the JSON library's texts are for
programmers.
"""

import json
from typing import NoReturn

import grpc
from concord_chassis.failure import Failure, FieldViolation
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

MAX_LOCATED_DEPTH = 8
MAX_SHOWN_NAME = 80

# Whatever protobuf's JSON code raises on hostile values: it wraps most, but not all, in ParseError.
_MISFITS = (json_format.ParseError, ValueError, TypeError, OverflowError, RecursionError, KeyError)

_KINDS = {
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
    FieldDescriptor.CPPTYPE_FLOAT: "a number",
    FieldDescriptor.CPPTYPE_INT32: "a whole number",
    FieldDescriptor.CPPTYPE_INT64: "a whole number",
    FieldDescriptor.CPPTYPE_UINT32: "a whole number that is not negative",
    FieldDescriptor.CPPTYPE_UINT64: "a whole number that is not negative",
}
_TEXTUAL_MESSAGES = {
    "google.protobuf.Timestamp": 'a time such as "2026-11-21T08:20:00Z"',
    "google.protobuf.Duration": 'a duration such as "1.5s"',
    "google.protobuf.FieldMask": 'field names such as "name,properties"',
}


class JsonCodec:
    """One method's messages in JSON."""

    def __init__(self, method: MethodDescriptor) -> None:
        self._kind = method.input_type
        self._request = GetMessageClass(method.input_type)
        self._reply = GetMessageClass(method.output_type)

    def request(self, body: bytes) -> bytes:
        """The protobuf bytes of a JSON request. Raises `Failure` (FIELD_INVALID)."""
        value = _loaded(body)
        message = _parsed(self._request, value)
        if message is None:
            _refuse(_located(self._kind, value, "", 0))
        return message.SerializeToString()

    def reply(self, data: bytes) -> bytes:
        """The JSON of a reply's bytes. Raises `DecodeError` when they are not that message."""
        message = self._reply.FromString(data)
        return _dumped(json_format.MessageToDict(message))


class ProtoCodec:
    """One method's messages as bytes, which pass unchanged."""

    def __init__(self, method: MethodDescriptor) -> None:
        self._request = GetMessageClass(method.input_type)

    def request(self, body: bytes) -> bytes:
        """`body` itself. Raises `Failure` (FIELD_INVALID) when it is not that message."""
        try:
            self._request.FromString(body)
        except DecodeError:
            name = self._request.DESCRIPTOR.full_name
            _refuse(FieldViolation("", f"is not the protobuf encoding of {name}"))
        return body

    def reply(self, data: bytes) -> bytes:
        """`data` itself."""
        return data


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _loaded(body: bytes) -> object:
    try:
        value: object = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):
        _refuse(FieldViolation("", "is not JSON in UTF-8, or names one key twice"))
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parsed(kind: type[Message], value: object) -> Message | None:
    """None when `value` is not that message's JSON form."""
    message = kind()
    if not isinstance(value, dict):
        return None
    try:
        json_format.ParseDict(value, message)
    except _MISFITS:
        return None
    return message


def _refuse(violation: FieldViolation) -> NoReturn:
    raise Failure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        f"{violation.field or 'The body'} {violation.description}.",
        violations=[violation],
    )


def _located(kind: Descriptor, value: object, path: str, depth: int) -> FieldViolation:
    """The first field of `value`, a JSON form that does not parse as `kind`, that is at fault."""
    if not isinstance(value, dict):
        return FieldViolation(path, "must be a JSON object")
    fields = {f.name: f for f in kind.fields} | {f.json_name: f for f in kind.fields}
    for key, item in value.items():
        field = fields.get(key)
        if field is None:
            return FieldViolation(_join(path, _shown(key)), f"is not a field of {kind.full_name}")
        if _parsed(GetMessageClass(kind), {key: item}) is None:
            return _located_in_field(field, item, _join(path, field.name), depth)
    return FieldViolation(path, "sets a field twice, or two fields of which only one may be set")


def _located_in_field(
    field: FieldDescriptor, item: object, path: str, depth: int
) -> FieldViolation:
    nested = field.message_type
    if nested is None or _is_well_known(nested) or depth >= MAX_LOCATED_DEPTH:
        return FieldViolation(path, f"must be {_wanted(field)}")
    if nested.GetOptions().map_entry:
        return FieldViolation(path, "must be a JSON object of fitting values")
    if not field.is_repeated:
        return _located(nested, item, path, depth + 1)
    if not isinstance(item, list):
        return FieldViolation(path, "must be a list")
    for index, each in enumerate(item):
        if _parsed(GetMessageClass(nested), each) is None:
            return _located(nested, each, f"{path}[{index}]", depth + 1)
    return FieldViolation(path, "is not valid")


def _wanted(field: FieldDescriptor) -> str:
    one = _wanted_one(field)
    return f"a list, each item {one}" if field.is_repeated else one


def _wanted_one(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return f"the name of a value of {field.enum_type.full_name}"
    if field.message_type is not None:
        name = field.message_type.full_name
        return _TEXTUAL_MESSAGES.get(name, f"the JSON form of {name}")
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    return _KINDS.get(field.cpp_type, "text in valid Unicode")


def _is_well_known(kind: Descriptor) -> bool:
    return kind.file.package == "google.protobuf"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(name: str) -> str:
    """A stranger's field name, short and printable."""
    return "".join(c if c.isprintable() else "?" for c in name[:MAX_SHOWN_NAME])
