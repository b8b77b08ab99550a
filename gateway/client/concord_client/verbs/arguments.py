"""Arguments as the contract's messages; what cannot be one is refused here, before any call."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from inspect import Signature
from typing import Any, get_args, get_origin

import grpc
from concord.type.v1 import type_pb2
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from concord_client.refusal import FieldInvalid, Violation


def invalid(argument: str, rule: str) -> FieldInvalid:
    """The refusal of an argument, as the server's would be."""
    return FieldInvalid(
        grpc.StatusCode.INVALID_ARGUMENT,
        "ERROR_REASON_FIELD_INVALID",
        f"{argument} {rule}",
        violations=[Violation(argument, rule)],
    )


@contextmanager
def translated() -> Iterator[None]:
    """Raises `FieldInvalid` in place of other errors about the values that a caller gave.

    For code that makes a request of arguments, and nothing else.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        rule = f"must be Unicode: character {error.start + 1} is half of one."
        raise invalid("Each text", rule) from error
    except (json_format.Error, ValueError, TypeError, AttributeError) as error:
        raise invalid("An argument", f"is not as the contract has it: {error}") from error


def lists_of(signature: Signature) -> frozenset[str]:
    """The parameters that take several texts: one text is no list of its letters."""
    return frozenset(
        name
        for name, parameter in signature.parameters.items()
        for kind in (parameter.annotation, *get_args(parameter.annotation))
        if get_origin(kind) in (Sequence, Iterable) and get_args(kind) == (str,)
    )


def demand_lists(given: Mapping[str, object], lists: Collection[str]) -> None:
    """Raises `FieldInvalid` for a text in the place of a list."""
    for name, value in given.items():
        if name in lists and isinstance(value, str):
            raise invalid(name, f"must be a list of texts, not the text {value!r}.")


def value_of(enum: Any, name: str | None, argument: str) -> Any:
    """An enum's value, by its name without the enum's prefix; None is the unspecified one.

    `enum`: the generated wrapper, as in `name_of`. Raises `FieldInvalid`.
    """
    unspecified, *names = enum.keys()
    prefix = unspecified.removesuffix("UNSPECIFIED")
    if name is None:
        return enum.Value(unspecified)
    if f"{prefix}{name}" not in names:
        choices = ", ".join(each.removeprefix(prefix) for each in names)
        raise invalid(argument, f"must be one of {choices}, not {name!r}.")
    return enum.Value(f"{prefix}{name}")


def stamp(time: datetime | None) -> Timestamp | None:
    """An instant as the contract's message; a naive one counts as UTC."""
    if time is None:
        return None
    stamp = Timestamp()
    stamp.FromDatetime(time if time.tzinfo else time.replace(tzinfo=UTC))
    return stamp


def instant(time: datetime | None) -> type_pb2.AsOf | None:
    """The instant of valid time that a read asks about; None is now."""
    return type_pb2.AsOf(valid_time=stamp(time)) if time else None


def struct(properties: Mapping[str, object] | None) -> Struct | None:
    """Properties as the contract's message. Raises `FieldInvalid` for what JSON does not have."""
    if not properties:
        return None
    if odd := [key for key in properties if not isinstance(key, str)]:
        raise invalid("properties", f"must have texts as names, not {odd[0]!r}.")
    struct = Struct()
    try:
        json_format.ParseDict(dict(properties), struct)
    except (json_format.ParseError, TypeError) as error:
        raise invalid("properties", f"must be JSON values: {error}.") from error
    return struct
