"""Reads one JSON object of a transcript, by the field names of several tools."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from concord_client.importers.chat.turns import Turn, is_role, role_of
from concord_client.importers.dates import instant_of
from concord_client.importers.document import united
from concord_client.importers.outcome import ItemUnreadable, LeftOut, as_text

Record = Mapping[str, object]

SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "thread_id", "thread", "chat")
CONVERSATIONS = ("conversation", "conv")
SPEAKERS = ("speaker", "name", "role", "author", "sender", "from", "user")
TEXTS = ("text", "content", "message", "body")
TIMES = ("time", "timestamp", "created_at", "create_time", "createdAt", "date", "ts")

NOT_SAID = frozenset(["system", "developer", "tool", "function"])
"""Roles whose messages are instructions or tool calls, not dialogue."""

_OF_CHANNEL = re.compile(r"(?:channel|group)_")
"""The subtypes of Slack's own notices, such as who joined."""
NOTICE = "notice of the messenger"
_PICTURED = ("photo", "file", "media_type", "location_information", "poll")
"""Keys of a messenger's exported message that is a picture or the like; its text is then empty."""
_SINCE_1970 = re.compile(r"\d{9,13}(?:\.\d+)?")
_WRITTEN = "2026-03-01T10:00:00Z"
_MILLISECONDS_FROM = 100_000_000_000  # as seconds that would be the year 5138


def turn_of(record: Record, session: str, left: list[LeftOut]) -> Turn | None:
    """The turn in `record`, in `session` unless it names its own; None if it is no turn.

    No turns are messages of `NOT_SAID` roles, those that have only images or calls, and a
    messenger's own notices (`"type": "service"`): they go to `left`, as do the parts of a turn that
    have no text. Other fields are kept beside the turn. Raises `ItemUnreadable`.
    """
    rest = dict(record)
    if isinstance(inner := rest.get("message"), Mapping):  # the outer object has the time
        del rest["message"]
        rest = united(inner, rest)
    role = _role(rest)
    is_notice = rest.get("type") == "service" or _OF_CHANNEL.match(str(rest.get("subtype")))
    if is_notice or (isinstance(role, str) and role in NOT_SAID):
        kind = NOTICE if is_notice else f"message of a {role}"
        left.append(LeftOut(kind, as_text(record)))
        return None
    speaker = _speaker(rest)
    parts: list[LeftOut] = []
    text = _text_of(rest, parts)
    if text is None or (not text and any(name in record for name in _PICTURED)):
        if not any(name in record for name in TEXTS):
            raise ItemUnreadable(f"no text: none of {', '.join(TEXTS)}")
        pictured = ", ".join(name for name in _PICTURED if name in record)
        kind = f"message with only a {pictured}" if pictured else "message without words"
        left.append(LeftOut(kind, as_text(record)))
        return None
    left += parts
    if not speaker:
        raise ItemUnreadable(f"no speaker: none of {', '.join(SPEAKERS)}")
    time = time_at(rest, *TIMES)
    rest.pop(named(rest, TIMES), None)
    said_as = role_of(role if isinstance(role, str) else speaker)
    own = session_of(rest)
    for names in (SESSIONS, CONVERSATIONS):
        rest.pop(named(rest, names), None)
    beside = {name: value for name, value in rest.items() if value is not None}
    return Turn(own or session, speaker, text, time, said_as, beside)


def session_of(record: Record) -> str:
    """The session that `record` names, as "conversation/session" if it names both; else ""."""
    session = _word(_first(record, SESSIONS), "session")
    conversation = _word(_first(record, CONVERSATIONS), "conversation")
    return "/".join(each for each in (conversation, session) if each)


def time_of(value: object, *, month_first: bool = False) -> datetime | None:
    """A time, from a text (UTC if it names no zone) or from seconds or milliseconds since 1970.

    Raises `ItemUnreadable`.
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str) and _SINCE_1970.fullmatch(value):  # as Slack writes it
            value = float(value)
        if isinstance(value, str):
            at = instant_of(value, month_first=month_first)
            if at is not None:
                return at if at.tzinfo else at.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise ItemUnreadable(f"no date or time such as {_WRITTEN}: {str(value)[:60]!r}")


def time_at(record: Record, *names: str) -> datetime | None:
    """The time in the first of the named fields that is set. Raises `ItemUnreadable`."""
    name = named(record, names)
    try:
        return time_of(record.get(name))
    except ItemUnreadable as error:
        raise ItemUnreadable(f"{name}: {error.reason}") from None


def named(record: Record, names: tuple[str, ...]) -> str:
    """The first of the names whose field is set; "" without any."""
    return next((name for name in names if record.get(name) is not None), "")


def _first(record: Record, names: tuple[str, ...]) -> object:
    return record.get(named(record, names))


def _speaker(rest: dict[str, object]) -> str:
    """The speaker; takes it, and a role that a turn's own field says, out of the record."""
    name = named(rest, SPEAKERS)
    value = rest.pop(name, None)
    if isinstance(value, Mapping):  # {"author": {"role": "user", "name": null}}
        others = dict(value)
        value = others.pop(named(others, ("name", "role")), None)
        rest[name] = _without_role(others) or None
    speaker = _word(value, "speaker")
    if isinstance(author := rest.get("author"), Mapping):
        rest["author"] = _without_role(dict(author)) or None
    if is_role(rest.get("role")):
        del rest["role"]
    return speaker


def _without_role(author: dict[str, object]) -> dict[str, object]:
    role = author.get("role")
    return {
        name: each
        for name, each in author.items()
        if each is not None and not (name == "role" and is_role(role))
    }


def _role(record: Record) -> object:
    author = record.get("author")
    return author.get("role") if isinstance(author, Mapping) else record.get("role")


def _word(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ItemUnreadable(f"{name}: a text is expected")
    return str(value).strip()


def _text_of(rest: dict[str, object], left: list[LeftOut]) -> str | None:
    """The text of the first field that has words; takes it, and fields with the same words, out."""
    found: str | None = None
    for name in TEXTS:
        parts: list[LeftOut] = []
        text = _text(rest.get(name), parts, is_sentence=name == "text")
        if rest.get(name) is None or (found and text and text.strip() != found.strip()):
            continue
        if text is not None or parts:
            found = found or text
            left += parts
            del rest[name]
    return found


def _text(value: object, left: list[LeftOut], *, is_sentence: bool = False) -> str | None:
    """The text of a message, from all of its parts that are text; None without any.

    Parts without text, and what is said about one beside its text, go to `left`. `is_sentence`:
    the parts of a list with objects are of one sentence, as in Telegram's exports.
    """
    if isinstance(value, Mapping):  # {"content_type": "text", "parts": [...]}, {"text": "..."}
        return _text_of_part(value, left)
    if isinstance(value, list):
        parts = [part for each in value if (part := _text(each, left))]
        is_one = is_sentence and any(isinstance(each, Mapping) for each in value)
        return ("" if is_one else "\n\n").join(parts) or None
    if value is None:
        return None
    if not isinstance(value, str):
        raise ItemUnreadable("text: a text is expected")
    return value


def _text_of_part(part: Record, left: list[LeftOut]) -> str | None:
    name = "parts" if "parts" in part else "text"
    text = _text(part.get(name), left)
    kind = str(part.get("type", part.get("content_type", "unknown")))
    if text is None:
        left.append(LeftOut(f"part of type {kind}", as_text(part)))
        return None
    others = {
        field: each
        for field, each in part.items()
        if each not in (None, [], {}) and field not in (name, "type", "content_type", "href")
    }
    if others:
        left.append(LeftOut(f"field of a part of type {kind}", as_text(others)))
    return f"{text} ({part['href']})" if part.get("href") else text
