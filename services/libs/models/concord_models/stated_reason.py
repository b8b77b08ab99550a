"""What an endpoint says of its own refusal, cleaned of what may not be shown."""

from __future__ import annotations

import json
import re
from typing import Any

import openai

MOST_CHARACTERS = 200
_SECRET = re.compile(r"\S*\*{2,}\S*|\b(?:sk|pk|rk|key|ck)[-_]\S+|\b(?=\S*\d)(?=\S*[A-Za-z])\S{20,}")
"""A masked key, one by its prefix, or any long run of letters and digits."""
_WORD = re.compile(r"\w{5,}")
"""Shorter words say little of a text."""


def stated_reason(error: openai.APIStatusError) -> str:
    """Return an error's own message, in one line of at most 200 characters; "" if it has none.

    Only the message of a JSON body counts. One that has a word of the texts that were sent, and not
    of the instructions and parameters beside them, is dropped; what may be a key is masked.
    """
    message = _message(error.response.text)
    if not message or _echoes(message, error.request.content.decode("utf-8", "replace")):
        return ""
    line = " ".join(_SECRET.sub("***", message).split()).rstrip(".")
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


def _message(body: str) -> str:
    """Return the message of an error's JSON body, in OpenAI's form or a simpler one; else ""."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return said if isinstance(said, str) else ""


def _echoes(message: str, sent: str) -> bool:
    """Return whether a message has a word that only the texts of the request have."""
    texts, beside = _parted(json.loads(sent))
    return bool((_words(message) & _words(texts)) - _words(beside))


def _parted(request: dict[str, Any]) -> tuple[str, str]:
    """Return the texts of a request, and the rest of it: model, parameters and instructions."""
    messages = request.get("messages", [])
    instructions = [each for each in messages if each["role"] == "system"]
    texts = [each for each in messages if each["role"] != "system"]
    beside = {**request, "messages": instructions, "input": None}
    return json.dumps([texts, request.get("input")], ensure_ascii=False), json.dumps(beside)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
