"""The short form of answers: what a search costs is mostly the words that it found."""

from __future__ import annotations

import re

from concord_attestation.identifiers import full_ids, short_ids

from concord_mcp.tool import Json

_AS_THEY_ARE = {"properties", "action", "session_id", "statement", "content", "says"}
_TEXTS_WITH_IDS = {"advice", "note"}
_IDS = {"id", "by", "newer", "older", "superseded_by"}
_LINK = r"\[\[[^\[\]\n]+\]\]"
_LINKS = re.compile(rf"^[A-Z][a-z]+(?: by)?: {_LINK}(?:, {_LINK})*$", re.MULTILINE)
_FRACTION = re.compile(r"\.\d+(?=Z$)")


def brief(answer: dict[str, Json], items: str) -> dict[str, Json]:
    """The answer with what its `items` do not say left out.

    That is what is not so, all advice but what to do next, a confidence that is the whole
    answer's, fractions of seconds, the clock of a time that is a date, and lines of links
    (`Supersedes: [[...]]`), which lineage has.
    """
    overall = answer.get("confidence")
    short = {name: value for name, value in answer.items() if value is not False}
    if advice := short.get("advice"):
        short["advice"] = advice[-1:]
    short[items] = [
        {
            name: _tidy(name, value)
            for name, value in item.items()
            if value is not False and not (name == "confidence" and value == overall)
        }
        for item in answer.get(items, ())
    ]
    return short


def _tidy(name: str, value: Json) -> Json:
    if name in {"content", "says"}:
        return _LINKS.sub("", value).strip() or value
    if name in {"valid_from", "valid_until", "created"}:
        return _FRACTION.sub("", value).removesuffix("T00:00:00Z")
    return value


def with_short_ids(answer: Json) -> Json:
    """The answer with short ids, but in what others have written."""
    return _converted(answer, "")


def with_full_ids(given: Json) -> Json:
    """Arguments with ids in full, wherever the caller repeats short ones."""
    if isinstance(given, dict):
        return {name: with_full_ids(value) for name, value in given.items()}
    if isinstance(given, list):
        return [with_full_ids(value) for value in given]
    return full_ids(given) if isinstance(given, str) else given


def _converted(value: Json, name: str) -> Json:
    if isinstance(value, dict):
        return {
            each: inner if each in _AS_THEY_ARE else _converted(inner, each)
            for each, inner in value.items()
        }
    if isinstance(value, list):
        return [_converted(each, name) for each in value]
    holds_ids = name in _IDS | _TEXTS_WITH_IDS or name.endswith(("_id", "_ids"))
    return short_ids(value) if holds_ids and isinstance(value, str) else value
