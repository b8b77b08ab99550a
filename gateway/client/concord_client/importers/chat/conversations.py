"""Finds the conversations in a JSON value: lists of messages, lists of these, exported chats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from concord_client.importers.chat.records import Record, session_of
from concord_client.importers.outcome import ItemUnreadable

MESSAGES = ("messages", "turns", "chat_messages", "conversations")
"""The keys of an object under which its messages or its conversations are."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in order, and the name of their session."""

    session: str
    messages: list[object]


def conversations(value: object, session: str) -> Iterator[Conversation]:
    """The conversations in a JSON value; unnamed ones of a list are called `session/1` and so on.

    A conversation is a list of messages, an object with `messages`, or an object with a `mapping`
    tree, of which only the branch to `current_node` is read. Raises `ItemUnreadable`.
    """
    if isinstance(value, Mapping):
        yield from _of_object(value, session)
        return
    if not isinstance(value, list):
        raise ItemUnreadable("neither a list of messages nor an object with them")
    if not any(isinstance(each, list) or is_conversation(each) for each in value):
        yield Conversation(session, value)
        return
    for number, each in enumerate(value, 1):
        yield from conversations(each, f"{session}/{number}")


def _of_object(value: Record, session: str) -> Iterator[Conversation]:
    named = session_of(value) or _name(value) or session
    if isinstance(value.get("mapping"), Mapping):
        yield Conversation(named, _branch(value))
        return
    for key in MESSAGES:
        if isinstance(value.get(key), list):
            yield from conversations(value[key], named)
            return
    raise ItemUnreadable(f"no messages: none of {', '.join((*MESSAGES, 'mapping'))}")


def is_conversation(value: object) -> bool:
    """Whether `value` is an object that holds messages or conversations."""
    keys = (*MESSAGES, "mapping")
    return isinstance(value, Mapping) and any(isinstance(value.get(k), list | dict) for k in keys)


def _name(value: Record) -> str:
    """The id of a conversation, else its title, which people change."""
    names = (value.get(key) for key in ("id", "uuid", "title", "name"))
    return next((str(name).strip() for name in names if isinstance(name, str | int)), "")


def _branch(value: Record) -> list[object]:
    """The messages from the root to the current node, in order."""
    mapping = value["mapping"]
    assert isinstance(mapping, Mapping)  # noqa: S101 - the caller looked
    at = value.get("current_node")
    branch: list[object] = []
    seen = set()
    while isinstance(at, str) and at not in seen and isinstance(mapping.get(at), Mapping):
        seen.add(at)
        node = mapping[at]
        if isinstance(node.get("message"), Mapping):
            branch.append(node["message"])
        at = node.get("parent")
    if not branch and mapping:
        raise ItemUnreadable("the mapping has no branch to its current_node")
    return branch[::-1]
