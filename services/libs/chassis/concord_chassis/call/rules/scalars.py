"""Checks of strings, bytes, numbers and enums."""

import math
import re
import struct
import unicodedata

from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import EnumDescriptor

from concord_chassis.call.contract import ContractError
from concord_chassis.call.rules.finding import Check, Finding, breach

DEFAULT_MAX_STRING = 65_536
"""Most characters of a string without a `max_len` of its own."""

# Unicode category Cc without tab and newline.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def length(text: str) -> int:
    """Returns the number of Unicode code points after NFC normalisation.

    So composed and decomposed spellings of one text have one length.
    """
    return len(text) if text.isascii() else len(unicodedata.normalize("NFC", text))


def string_check(rules: rules_pb2.StringRules, *, empty_passes: bool) -> Check:
    """Returns the check of a string. With `empty_passes` no rule applies to an empty string.

    NUL never passes: stores and C libraries end a string at it. Raises `ContractError` for a
    pattern that does not compile.
    """
    least, most = rules.min_len, rules.max_len or DEFAULT_MAX_STRING
    pattern = _compiled(rules.pattern)
    not_blank, printable = rules.not_blank, rules.printable

    def check(value: str, out: list[Finding]) -> None:
        if not value and empty_passes:
            return
        if "\0" in value:
            breach(out, "must not contain NUL characters")
            return
        count = length(value)
        if count > most:
            breach(out, f"must have at most {most} characters, has {count}")
            return
        if count < least:
            breach(out, f"must have at least {least} characters, has {count}")
        if not_blank and not value.strip():
            breach(out, "must not be blank")
        if printable and _CONTROL.search(value):
            breach(out, "must not contain control characters")
        if pattern is not None and not pattern.fullmatch(value):
            breach(out, f"must match {pattern.pattern}")

    return check


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Returns the compiled pattern, None for "". As in RE2, \\d, \\s and \\w are ASCII only."""
    if not pattern:
        return None
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ContractError(f"the pattern {pattern!r} does not compile: {error}") from error


def bytes_check(rules: rules_pb2.BytesRules, *, empty_passes: bool) -> Check | None:
    """Returns the check of a bytes value's length; None without a rule.

    With `empty_passes` no rule applies to empty bytes.
    """
    least, most = rules.min_len, rules.max_len
    if not least and not most:
        return None

    def check(value: bytes, out: list[Finding]) -> None:
        if not value and empty_passes:
            return
        if most and len(value) > most:
            breach(out, f"must have at most {most} bytes, has {len(value)}")
        if len(value) < least:
            breach(out, f"must have at least {least} bytes, has {len(value)}")

    return check


def integer_check(rules: rules_pb2.NumberRules) -> Check | None:
    """Returns the check of a whole number against its inclusive bounds; None without bounds.

    Raises `ContractError` for bounds between which there is no number.
    """
    least, most = _bounds(rules)
    if least == -math.inf and most == math.inf:
        return None
    return _range_check(least, most)


def float_check(rules: rules_pb2.NumberRules, *, single: bool) -> Check:
    """Returns the check of a floating-point number: finite, and within its inclusive bounds.

    For a `single` (32-bit) field the bounds are rounded to 32 bits, as its values are. Raises
    `ContractError` for bounds between which there is no number.
    """
    least, most = _bounds(rules)
    if single:
        least, most = _as_single(least), _as_single(most)
    in_range = _range_check(least, most)

    def check(value: float, out: list[Finding]) -> None:
        if math.isfinite(value):
            in_range(value, out)
        else:
            breach(out, "must be a finite number")

    return check


def _bounds(rules: rules_pb2.NumberRules) -> tuple[float, float]:
    least = rules.gte if rules.HasField("gte") else -math.inf
    most = rules.lte if rules.HasField("lte") else math.inf
    if math.isnan(least) or math.isnan(most) or least > most:
        raise ContractError(f"no number is between {least} and {most}")
    return least, most


def _as_single(value: float) -> float:
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    return single


def _range_check(least: float, most: float) -> Check:
    def check(value: float, out: list[Finding]) -> None:
        if value < least:
            breach(out, f"must be at least {least:.17g}")
        elif value > most:
            breach(out, f"must be at most {most:.17g}")

    return check


def enum_check(descriptor: EnumDescriptor, *, required: bool) -> Check:
    """Returns the check of an enum: a number that the contract defines, not 0 if `required`."""
    defined = frozenset(descriptor.values_by_number)

    def check(value: int, out: list[Finding]) -> None:
        if value not in defined:
            breach(out, f"must be a value of {descriptor.full_name}")
        elif required and value == 0:
            breach(out, "must be set")

    return check
