"""Reads agent files of Letta (`.af`, letta 0.8 to 0.11; and those of 0.6 with `core_memory`)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from concord.type.v1.type_pb2 import Memory

from concord_client.importers.chat.records import turn_of
from concord_client.importers.chat.turns import Sessions
from concord_client.importers.document import beside, list_at
from concord_client.importers.exports.items import ReadItem, read_export
from concord_client.importers.jsonl import memory_of
from concord_client.importers.outcome import ItemUnreadable, LeftOut, Outcome, as_text

_BLOCKS = ("blocks", "core_memory")


def read_letta(path: Path) -> Iterator[Outcome]:
    """Yield a memory for each block, with its label and description as properties, and a turn for
    each message of an agent, whose name is the session. Tools, models and the like are left out."""
    sessions = Sessions()
    return read_export(path, lambda value, left: _items(value, left, sessions))


def is_letta(value: object) -> bool:
    """Whether a JSON value is an agent file."""
    if not isinstance(value, Mapping):
        return False
    is_older = isinstance(value.get("core_memory"), list) and "messages" in value
    return is_older or all(isinstance(value.get(name), list) for name in ("agents", "blocks"))


def _items(value: Any, left: list[LeftOut], sessions: Sessions) -> Iterator[tuple[Any, ReadItem]]:
    if not isinstance(value, Mapping):
        raise ItemUnreadable("an agent file is expected: an object with agents and blocks")
    agents = list_at(value, "agents") if "agents" in value else [value]
    for name in _BLOCKS:
        yield from ((each, _block) for each in list_at(value, name))
    if "agents" in value:
        left += beside(value, ("agents", *_BLOCKS))
    for agent in agents:
        if not isinstance(agent, Mapping):
            raise ItemUnreadable("agents: a list of objects is expected")
        yield from ((each, _turn_in(agent, sessions)) for each in list_at(agent, "messages"))
        left += beside(agent, ("messages", *(_BLOCKS if agent is value else ())))


def _block(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
    rest = dict(record)
    value = rest.pop("value", None)
    if not isinstance(value, str):
        raise ItemUnreadable("value: a text is expected")
    if not value.strip():
        left.append(LeftOut("block without words", as_text(record)))
        return []
    key = rest.get("id") or rest.get("label")
    found = {"content": value, "properties": rest, "external_id": f"letta/{key}"}
    return [memory_of(found, left)]


def _turn_in(agent: Mapping[str, Any], sessions: Sessions) -> ReadItem:
    session = str(agent.get("name") or agent.get("id") or "letta").strip()

    def read(record: Mapping[str, Any], left: list[LeftOut]) -> list[Memory]:
        turn = turn_of(record, session, left)
        return [sessions.memory(turn, left)] if turn else []

    return read
