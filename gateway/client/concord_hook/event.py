"""What a client says of an event, as JSON: the fields of Claude Code, which Codex and Gemini share.

All are strings unless said otherwise: `session_id`, `hook_event_name`, `transcript_path`, `prompt`;
of a tool `tool_name`, `tool_input` (an object), and once it has run `tool_response` (anything) or,
when it failed, `error`. What is missing or of another form counts as empty;
a `session_id` or `prompt` of another form is an error, as nothing could be said without.
"""

import json
import re
from collections.abc import Iterator, Mapping

MOST_BYTES = 8 << 20
"""Of an event: a tool's reply may be large."""
MOST_WORDS = 2_000
MOST_ERROR = 4_000
MOST_PATH = 1_024
_PATHS = ("file_path", "notebook_path", "absolute_path", "path")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Event:
    """An event of a client's session."""

    def __init__(self, raw: bytes) -> None:
        """Raises ValueError for what is no JSON object, or too large."""
        if len(raw) > MOST_BYTES:
            raise ValueError("the event is too large")
        found = json.loads(raw)
        if not isinstance(found, dict):
            raise ValueError("the event is no object")
        self._fields: Mapping[str, object] = found

    @property
    def name(self) -> str:
        """The client's name of the event, such as `UserPromptSubmit`."""
        return self._text("hook_event_name")

    @property
    def session(self) -> str:
        """The client's id of the session, at most 128 characters. Raises ValueError for no text."""
        return self._only_text("session_id")[:128]

    @property
    def transcript(self) -> str:
        """The path of the file with the dialogue."""
        return self._text("transcript_path")

    @property
    def prompt(self) -> str:
        """What somebody asks, at most 2,000 characters: of a longer text its begin and its end.

        Raises ValueError for no text.
        """
        words = self._only_text("prompt").strip()
        if len(words) <= MOST_WORDS:
            return words
        half = MOST_WORDS // 2 - 1
        return f"{words[:half]}\n{words[-half:]}"

    @property
    def path(self) -> str:
        """The file that a tool is about, at most the last 1,024 characters of its path."""
        return next(self._paths(), "")[-MOST_PATH:]

    @property
    def error(self) -> str:
        """The text of a tool's error, at most its last 4,000 characters: there the cause stands."""
        return "\n".join(filter(None, self._errors())).strip()[-MOST_ERROR:]

    def _paths(self) -> Iterator[str]:
        given = self._fields.get("tool_input")
        if not isinstance(given, dict):
            return
        for name in _PATHS:
            if isinstance(given.get(name), str) and given[name]:
                yield clean(given[name]).replace("\n", " ").replace("\\", "/")
        for value in (given.get("command"), given.get("input")):
            if isinstance(value, str):
                yield from (clean(path).strip() for path in _PATCHED.findall(value))

    def _errors(self) -> Iterator[str]:
        yield self._text("error")
        reply = self._fields.get("tool_response")
        if isinstance(reply, str):
            yield clean(reply)
        if isinstance(reply, dict):
            for name in ("error", "stderr"):
                value = reply.get(name)
                if isinstance(value, dict):
                    value = value.get("message")
                yield clean(value) if isinstance(value, str) else ""

    def _only_text(self, name: str) -> str:
        if not isinstance(self._fields.get(name, ""), str | None):
            raise ValueError(f"{name} is no text")
        return self._text(name)

    def _text(self, name: str) -> str:
        value = self._fields.get(name)
        return clean(value) if isinstance(value, str) else ""


def clean(text: str) -> str:
    """The text without control characters, and with a mark for each half of a surrogate pair."""
    return _UNSEEN.sub(" ", text).encode("utf-8", "replace").decode()
