"""Reads one JSON object of a transcript, by the field names of several tools."""

from collections.abc import Mapping
from datetime import UTC, datetime

from concord_client.importers.chat.turns import Turn, role_of
from concord_client.importers.dates import instant_of
from concord_client.importers.outcome import ItemUnreadable

Record = Mapping[str, object]

SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "thread_id", "thread", "chat")
CONVERSATIONS = ("conversation", "conv")
SPEAKERS = ("speaker", "name", "role", "author", "sender", "from", "user")
TEXTS = ("text", "content", "message", "body")
TIMES = ("time", "timestamp", "created_at", "create_time", "createdAt", "date", "ts")

NOT_SAID = frozenset(["system", "developer", "tool", "function"])
"""Roles whose messages are instructions or tool calls, not dialogue."""

_PICTURED = ("photo", "file", "media_type", "location_information", "poll")
"""Keys of a messenger's exported message that is a picture or the like; its text is then empty."""
_WRITTEN = "2026-03-01T10:00:00Z"
_MILLISECONDS_FROM = 100_000_000_000  # as seconds that would be the year 5138


def turn_of(record: Record, session: str) -> Turn | None:
    """The turn in `record`, in `session` unless it names its own; None if it is no turn.

    No turns are messages of `NOT_SAID` roles, those that have only images or calls, and a
    messenger's own notices (`"type": "service"`). Raises `ItemUnreadable`.
    """
    if isinstance(inner := record.get("message"), Mapping):  # the outer object has the time
        record = {**record, **inner, "message": None}
    speaker = _speaker(record)
    role = _role(record)
    if (isinstance(role, str) and role in NOT_SAID) or record.get("type") == "service":
        return None
    text = _text(_first(record, TEXTS))
    if text is None or (not text and any(name in record for name in _PICTURED)):
        if any(name in record for name in TEXTS):
            return None
        raise ItemUnreadable(f"no text: none of {', '.join(TEXTS)}")
    if not speaker:
        raise ItemUnreadable(f"no speaker: none of {', '.join(SPEAKERS)}")
    time = time_at(record, *TIMES)
    said_as = role_of(role if isinstance(role, str) else speaker)
    return Turn(session_of(record) or session, speaker, text, time, said_as)


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
    name = next((each for each in names if record.get(each) is not None), "")
    try:
        return time_of(record.get(name))
    except ItemUnreadable as error:
        raise ItemUnreadable(f"{name}: {error.reason}") from None


def _first(record: Record, names: tuple[str, ...]) -> object:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _speaker(record: Record) -> str:
    value = _first(record, SPEAKERS)
    if isinstance(value, Mapping):  # {"author": {"role": "user", "name": null}}
        value = value.get("name") or value.get("role")
    return _word(value, "speaker")


def _role(record: Record) -> object:
    author = record.get("author")
    return author.get("role") if isinstance(author, Mapping) else record.get("role")


def _word(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ItemUnreadable(f"{name}: a text is expected")
    return str(value).strip()


def _text(value: object) -> str | None:
    """The text of a message, from all of its parts that are text; None without any."""
    if isinstance(value, Mapping):  # {"content_type": "text", "parts": [...]}, {"text": "..."}
        return _text(value.get("parts", value.get("text")))
    if isinstance(value, list):
        parts = [part for each in value if (part := _text(each))]
        return "\n\n".join(parts) or None
    if value is None:
        return None
    if not isinstance(value, str):
        raise ItemUnreadable("text: a text is expected")
    return value
