"""Reads the JSON object of a model's answer, whatever stands around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from concord_models.endpoint import BadReply

Shape = TypeVar("Shape", bound=BaseModel)

_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""The model's thoughts before its answer; some servers cut the opening tag off."""
_MOST_BRACES = 100
"""Most places at which an object is looked for: prose may hold braces, too."""
_SHOWN_FAULTS = 10
_ENUMS = frozenset({"literal_error", "enum"})


def read_answer(content: str, shape: type[Shape]) -> Shape:
    """Return the one object of the shape that stands in an answer.

    Thoughts, fences and prose around it are passed over, and an enum's value may be in other
    letters (`APPROVE` for `approve`).

    Raises:
        BadReply: the answer holds no such object, or several that differ.
    """
    answered = _THOUGHTS.sub("", content)
    usable: list[Shape] = []
    faults: ValidationError | None = None
    for text in _objects(answered):
        try:
            usable.append(_validated(text, shape))
        except ValidationError as error:
            faults = error
    if usable and all(each == usable[0] for each in usable):
        return usable[0]
    # pydantic's own error would show the values: none is chained.
    raise BadReply("its reply is not an answer of the shape that was asked for", hint=_hint(faults))


def _hint(faults: ValidationError | None) -> str:
    if faults is None:
        return "There must be exactly one JSON object."
    found = faults.errors(include_url=False, include_input=False, include_context=False)
    wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found]
    return "\n".join(wrong[:_SHOWN_FAULTS])


def _objects(text: str) -> Iterator[str]:
    """Yield the outermost JSON objects of a text."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MOST_BRACES):
        if start < 0:
            return
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield text[start:end]
        start = text.find("{", end)


def _validated(text: str, shape: type[Shape]) -> Shape:
    """Validate an object. Raises `ValidationError`."""
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        wrong = [each for each in error.errors(include_url=False) if each["type"] in _ENUMS]
        if not wrong:
            raise
        answer = json.loads(text)
        for each in wrong:
            _respell(answer, each["loc"], str(each["ctx"]["expected"]))
        return shape.model_validate_json(json.dumps(answer))


def _respell(answer: Any, where: tuple[int | str, ...], expected: str) -> None:
    """Replace an enum's value by that of `expected` ("'a', 'b' or 'c'") that differs in case."""
    holder = answer
    for step in where[:-1]:
        holder = holder[step]
    value = holder[where[-1]]
    allowed = re.findall(r"'([^']*)'", expected)
    if isinstance(value, str):
        same = [each for each in allowed if each.casefold() == value.strip().casefold()]
        holder[where[-1]] = same[0] if same else value
