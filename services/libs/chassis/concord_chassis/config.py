"""Configuration: a frozen value read once, at start, from a mapping that is passed in."""

import types
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

M = TypeVar("M", bound=BaseModel)


UNKNOWN_NAME = "unknown_name"
"""A `PydanticCustomError` of this type, with "unknown" and "known", says that a mapping names what
it cannot: names are the operator's own words, never secrets, and are shown."""

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
"""What a setting must be, by the name of the error: words of its type, never of its value."""


class ConfigError(Exception):
    """Settings are missing or invalid; the message names each key, and never a value."""


def load(model: type[M], environ: Mapping[str, str], prefix: str) -> M:
    """Reads `model` from the keys of `environ` that are `prefix` + the field's name in capitals.

    An empty value counts as absent. A field of several values takes them separated by commas, a
    mapping as `name=value` pairs separated by commas. A secret may stand in a file instead, which
    the key with `_FILE` after it names. `model` must be frozen.
    Raises `ConfigError` when a key is missing or invalid, `TypeError` for a model that can change.
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
            values[name] = _split(value, field.annotation)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        complaints = sorted(
            {_complaint(prefix, each["loc"], each["type"], each.get("ctx", {})) for each in found}
        )
    # Outside the handler: pydantic's own error shows the values.
    raise ConfigError("; ".join(complaints))


def _secret_in_file(environ: Mapping[str, str], key: str) -> str:
    """What the file that `key` names holds, less the end of its last line; else an empty text."""
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
    """`kind` is pydantic's name of the error, e.g. "missing", "int_parsing", "less_than".

    `context` is pydantic's; only the demands of the setting's type are shown of it, and of a
    mapping the name that has the value.
    """
    if not where:
        return f"the settings {prefix}* contradict each other ({kind})"
    key = _key(prefix, str(where[0]))
    if kind == "missing":
        return f"{key} is not set"
    why = _DEMANDS[kind].format(**context) if kind in _DEMANDS else kind
    of = f"{where[1]}: " if len(where) == 2 and isinstance(where[1], str) else ""
    return f"{key} is not valid: {of}{why}"


def _split(value: str, annotation: object) -> object:
    shape = _shape(annotation)
    if shape is None:
        return value
    items = [item.strip() for item in value.split(",") if item.strip()]
    if issubclass(shape, Mapping):
        return dict(_pair(item) for item in items)
    return items


def _pair(item: str) -> tuple[str, str]:
    name, _, value = item.partition("=")
    return name.strip(), value.strip()


def _shape(annotation: object) -> type | None:
    """The container that `annotation` asks for, if it does (also as `X | None`)."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        shapes = (_shape(option) for option in get_args(annotation))
        return next((shape for shape in shapes if shape is not None), None)
    if isinstance(origin, type) and issubclass(origin, (Sequence, Set, Mapping)):
        return origin
    return None
