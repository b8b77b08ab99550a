"""What an endpoint says of its own refusal, cleaned of what may not be shown."""

from __future__ import annotations

import json
import re

import openai

MOST_CHARACTERS = 200
_ECHOED_WORDS = 4
"""So many words in a row that also stand in the request are an echo of its text."""
_SECRET = re.compile(r"\S*\*{2,}\S*|\b(?:sk|pk|rk|key|ck)[-_]\S+|\b(?=\S*\d)(?=\S*[A-Za-z])\S{20,}")
"""A masked key, one by its prefix, or any long run of letters and digits."""
_WORD = re.compile(r"\w+")


def stated_reason(error: openai.APIStatusError) -> str:
    """Return an error's own message, in one line of at most 200 characters; "" if it has none.

    Only the message of a JSON body counts. One that repeats the request's text is dropped, and
    what may be a key is masked.
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
    """Return whether words of the message stand in the request, in the same order."""
    words = _WORD.findall(message)
    asked = " ".join(_WORD.findall(sent))
    runs = (words[at : at + _ECHOED_WORDS] for at in range(len(words) - _ECHOED_WORDS + 1))
    return any(" ".join(run) in asked for run in runs)
