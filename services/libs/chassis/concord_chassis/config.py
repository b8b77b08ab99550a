"""Reads a program's settings: once, at start, from a given mapping into a frozen model."""

import json
import types
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

M = TypeVar("M", bound=BaseModel)


UNKNOWN_NAME = "unknown_name"
"""The type of a `PydanticCustomError` for unknown names in a setting that is a mapping.

Its context has "unknown" and "known", the names as texts. A `ConfigError` shows both: the names in
a mapping are not secret, unlike its values."""

_DEMANDS = {
    "literal_error": "it must be {expected}",
    "int_parsing": "it must be a whole number",
    "float_parsing": "it must be a number",
    "bool_parsing": "it must be true or false",
    "finite_number": "it must be a finite number",
    "greater_than": "it must be greater than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be at most {le}",
    UNKNOWN_NAME: "it has no {unknown}; it may name {known}",
}
"""By pydantic's type of the error: what the setting must be, without the rejected value."""


class ConfigError(Exception):
    """Settings are missing or invalid; the message names each key, and holds no secret."""


def load(model: type[M], environ: Mapping[str, str], prefix: str) -> M:
    """Reads `model` from `environ`, where a field's key is `prefix` + its name in capitals.

    An empty value counts as absent. Sequences and sets are values separated by commas, mappings are
    `name=value` pairs separated by commas. A field of the type `SecretStr` (not `SecretStr | None`)
    may instead be in a file (UTF-8), whose path is the value of its key + `_FILE`.

    Raises `ConfigError`, which shows no value, when a key is missing or invalid, or a secret's file
    is not readable or is empty; `TypeError` for a model that is not frozen.
    """
    if not model.model_config.get("frozen"):
        raise TypeError(f"{model.__name__} must be frozen")
    values: dict[str, object] = {}
    for name, field in model.model_fields.items():
        key = _key(prefix, name)
        value = environ.get(key, "")
        if not value and field.annotation is SecretStr:
            value = _secret_in_file(environ, f"{key}_FILE")
        if value:
            values[name] = _split(key, value, field.annotation)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        complaints = sorted(
            {_complaint(prefix, each["loc"], each["type"], each.get("ctx", {})) for each in found}
        )
    # Raised outside of the handler, to chain no ValidationError: its text shows the values.
    raise ConfigError("; ".join(complaints))


def _secret_in_file(environ: Mapping[str, str], key: str) -> str:
    """Returns the content of the file whose path is the value of `key`; "" without that key.

    Line breaks at the end are removed. Raises `ConfigError` for an unreadable or empty file.
    """
    path = environ.get(key, "")
    if not path:
        return ""
    try:
        secret = Path(path).read_text("utf-8").rstrip("\n")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(f"{key}: {path} cannot be read ({why})") from None
    if not secret:
        raise ConfigError(f"{key}: {path} is empty")
    return secret


def _key(prefix: str, name: str) -> str:
    return f"{prefix}{name.upper()}"


def _complaint(
    prefix: str, where: tuple[int | str, ...], kind: str, context: Mapping[str, object]
) -> str:
    """Returns the sentence about one of pydantic's errors, without the rejected value.

    `where` is the path to it: the field and, in a mapping, the name. `kind` is pydantic's type of
    the error, e.g. "missing", "int_parsing", "less_than"; `context` fills the text in `_DEMANDS`.
    """
    if not where:
        return f"the settings {prefix}* contradict each other ({kind})"
    key = _key(prefix, str(where[0]))
    if kind == "missing":
        return f"{key} is not set"
    why = _DEMANDS[kind].format(**context) if kind in _DEMANDS else kind
    of = f"{where[1]}: " if len(where) == 2 and isinstance(where[1], str) else ""
    return f"{key} is not valid: {of}{why}"


def _split(key: str, value: str, annotation: object) -> object:
    """Returns a setting's items; a single value as it is. Raises `ConfigError` for JSON."""
    shape = _shape(annotation)
    if shape is None:
        return value
    if _is_json(value):
        form = "NAME=VALUE pairs" if issubclass(shape, Mapping) else "values"
        raise ConfigError(f"{key} is not valid: it must be {form} separated by commas, not JSON")
    items = [item.strip() for item in value.split(",") if item.strip()]
    if issubclass(shape, Mapping):
        pairs = (item.partition("=") for item in items)
        return {name.strip(): named.strip() for name, _, named in pairs}
    return items


def _is_json(value: str) -> bool:
    """Returns whether a value is a JSON list or object; an address like [::1]:7600 is none."""
    try:
        return isinstance(json.loads(value), list | dict)
    except (ValueError, RecursionError):
        return False


def _shape(annotation: object) -> type | None:
    """Returns an annotation's container type, also within `X | None`; None for a single value."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        shapes = (_shape(option) for option in get_args(annotation))
        return next((shape for shape in shapes if shape is not None), None)
    if isinstance(origin, type) and issubclass(origin, (Sequence, Set, Mapping)):
        return origin
    return None
