"""Checks of the well-known types of `google.protobuf`, which have rules of their own."""

import json
import math
import re
import time
from collections.abc import Callable, Mapping

from concord.rules.v1 import rules_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from concord_chassis.call.rules.finding import Check, Finding, breach

DEFAULT_MAX_STRUCT_BYTES = 65_536
"""Most bytes, as JSON, of a structure without a `max_bytes` of its own."""
DEFAULT_MAX_STRUCT_DEPTH = 16
"""Most levels of a structure without a `max_depth` of its own."""
MAX_MASK_PATHS = 100
"""Most paths of a FieldMask."""
CLOCK_TOLERANCE = 300.0
"""Seconds by which a `not_future` time may be after the server's clock."""

_FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
_MAX_DURATION_SECONDS = 315_576_000_000  # 10,000 years: google/protobuf/duration.proto
_NANOS = 1_000_000_000
_MASK_PATH = re.compile(r"\*|[a-z][a-z0-9_]{0,62}(?:\.[a-z][a-z0-9_]{0,62}){0,9}")


def checks(rules: rules_pb2.FieldRules, now: Callable[[], float] = time.time) -> dict[str, Check]:
    """Returns the checks of the well-known types, by full name, with the rules of one field."""
    return {
        "google.protobuf.Timestamp": timestamp_check(rules.timestamp, now),
        "google.protobuf.Duration": _check_duration,
        "google.protobuf.FieldMask": _check_field_mask,
        "google.protobuf.Struct": struct_check(rules.struct),
        "google.protobuf.Value": struct_check(rules.struct),
        "google.protobuf.ListValue": struct_check(rules.struct),
    }


def timestamp_check(rules: rules_pb2.TimestampRules, now: Callable[[], float]) -> Check:
    """Returns the check of a Timestamp: the years 0001 to 9999, in whole microseconds.

    With the rule `not_future`, at most `CLOCK_TOLERANCE` after `now()`, seconds since 1970.
    """
    not_future = rules.not_future

    def check(value: Timestamp, out: list[Finding]) -> None:
        if not _FIRST_SECOND <= value.seconds <= _LAST_SECOND or not 0 <= value.nanos < _NANOS:
            breach(out, "must be within the years 0001 to 9999")
        elif value.nanos % 1000:
            breach(out, "must be in whole microseconds")
        elif not_future and value.seconds + value.nanos / _NANOS > now() + CLOCK_TOLERANCE:
            breach(out, "must not be in the future")

    return check


def _check_duration(value: Duration, out: list[Finding]) -> None:
    if abs(value.seconds) > _MAX_DURATION_SECONDS or abs(value.nanos) >= _NANOS:
        breach(out, "must be within 10,000 years")
    elif value.seconds * value.nanos < 0:
        breach(out, "must have seconds and nanos of one sign")
    elif value.nanos % 1000:
        breach(out, "must be in whole microseconds")


def _check_field_mask(value: FieldMask, out: list[Finding]) -> None:
    if len(value.paths) > MAX_MASK_PATHS:
        breach(out, f"must have at most {MAX_MASK_PATHS} paths, has {len(value.paths)}")
    elif not all(_MASK_PATH.fullmatch(path) for path in value.paths):
        breach(out, 'must hold paths such as "name" or "source.location"')


class _UnfitError(Exception):
    """A structure breaks a rule; the text is the violation's description."""


def struct_check(rules: rules_pb2.StructRules) -> Check:
    """Returns the check of a Struct, ListValue or Value: JSON values only, its depth and its size.

    The size is the bytes of the JSON form in UTF-8 without spaces.
    """
    most_bytes = rules.max_bytes or DEFAULT_MAX_STRUCT_BYTES
    most_depth = rules.max_depth or DEFAULT_MAX_STRUCT_DEPTH

    def check(value: Struct | ListValue | Value, out: list[Finding]) -> None:
        try:
            plain = _plain(value, most_depth)
        except _UnfitError as unfit:
            breach(out, str(unfit))
            return
        size = len(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())
        if size > most_bytes:
            breach(out, f"must have at most {most_bytes} bytes as JSON, has {size}")

    return check


def _plain(value: Struct | ListValue | Value, depth: int) -> object:
    """Returns the structure as plain data, which may have at most `depth` levels.

    Raises `_UnfitError` for a broken rule.
    """
    if isinstance(value, Value):
        return _plain_value(value, depth)
    if depth == 0:
        raise _UnfitError("must not nest deeper than its limit")
    if isinstance(value, Struct):
        fields: Mapping[str, Value] = value.fields
        return {_text(key): _plain_value(item, depth - 1) for key, item in fields.items()}
    return [_plain_value(item, depth - 1) for item in value.values]


def _plain_value(value: Value, depth: int) -> object:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return _text(value.string_value)
    if kind == "number_value":
        return _number(value.number_value)
    if kind == "bool_value":
        return value.bool_value
    if kind == "struct_value":
        return _plain(value.struct_value, depth)
    if kind == "list_value":
        return _plain(value.list_value, depth)
    if kind == "null_value":
        return None
    raise _UnfitError("must not hold a value without a kind")


def _text(text: str) -> str:
    if "\0" in text:
        raise _UnfitError("must not contain NUL characters")
    return text


def _number(number: float) -> float | int:
    """Returns a whole number below 1e16 as an int, because its JSON form is `3`, not `3.0`."""
    if not math.isfinite(number):
        raise _UnfitError("must hold finite numbers only")
    return int(number) if number.is_integer() and abs(number) < 1e16 else number
