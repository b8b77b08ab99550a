"""Finds the conversations in a JSON value: lists of messages, lists of these, exported chats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from concord_client.importers.chat.records import Record, session_of
from concord_client.importers.document import beside
from concord_client.importers.outcome import ItemUnreadable, LeftOut, as_text

MESSAGES = ("messages", "turns", "chat_messages", "conversations")
"""The keys of an object under which its messages or its conversations are."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in order, and the name of their session."""

    session: str
    messages: list[object]
    beside: Mapping[str, object] = field(default_factory=dict)
    """The other fields of the conversation, such as its title."""
    flaw: str = ""
    """The reason why it cannot be read; then `messages` holds the whole value."""


def conversations(value: object, session: str, left: list[LeftOut]) -> Iterator[Conversation]:
    """The conversations in a JSON value; unnamed ones of a list are called `session/1` and so on.

    A conversation is a list of messages, an object with `messages`, or an object with a `mapping`
    tree, of which only the branch to `current_node` is read; messages of other branches, and fields
    of an object around conversations, go to `left`. Raises `ItemUnreadable`.
    """
    if isinstance(value, Mapping):
        yield from _of_object(value, session, left)
        return
    if not isinstance(value, list):
        raise ItemUnreadable("neither a list of messages nor an object with them")
    if _are_messages(value):
        yield Conversation(session, value)
        return
    for number, each in enumerate(value, 1):
        try:
            yield from list(conversations(each, f"{session}/{number}", left))
        except ItemUnreadable as unreadable:  # it costs no other
            yield Conversation(session, [each], flaw=unreadable.reason)


def _are_messages(value: list[object]) -> bool:
    return not any(isinstance(each, list) or is_conversation(each) for each in value)


def _of_object(value: Record, session: str, left: list[LeftOut]) -> Iterator[Conversation]:
    own = session_of(value) or _name(value) or session
    is_tree = isinstance(value.get("mapping"), Mapping)
    lists = ("mapping",) if is_tree else MESSAGES
    key = next((each for each in lists if isinstance(value.get(each), list | Mapping)), "")
    taken = (key, "current_node") if is_tree else (key,)
    rest = {k: each for k, each in value.items() if each is not None and k not in taken}
    messages = value.get(key)
    chats = [name for name, each in rest.items() if _lists_chats(each)]
    if chats and not key:  # Telegram's export of all chats: {"chats": {"list": [...]}}
        left += beside(rest, chats)
        for name in chats:
            inner = rest[name]
            left += beside(inner, ["list"])  # type: ignore[arg-type] # an object, as the caller saw
            yield from conversations(inner["list"], own, left)  # type: ignore[index]
    elif is_tree:
        yield Conversation(own, _branch(value, left), rest)
    elif not isinstance(messages, list):
        raise ItemUnreadable(f"no messages: none of {', '.join((*MESSAGES, 'mapping'))}")
    elif _are_messages(messages):
        yield Conversation(own, messages, rest)
    else:
        left += beside(rest, ())
        yield from conversations(messages, own, left)


def is_conversation(value: object) -> bool:
    """Whether `value` is an object that holds messages or conversations."""
    keys = (*MESSAGES, "mapping")
    return isinstance(value, Mapping) and (
        any(isinstance(value.get(k), list | dict) for k in keys)
        or any(map(_lists_chats, value.values()))
    )


def _lists_chats(value: object) -> bool:
    chats = value.get("list") if isinstance(value, Mapping) else None
    return isinstance(chats, list) and any(map(is_conversation, chats))


def _name(value: Record) -> str:
    """The id of a conversation, else its title, which people change."""
    names = (value.get(key) for key in ("id", "uuid", "title", "name"))
    return next((str(name).strip() for name in names if isinstance(name, str | int)), "")


def _branch(value: Record, left: list[LeftOut]) -> list[object]:
    """The messages from the root to the current node, in order; the others go to `left`."""
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
    for name, node in mapping.items():
        if name not in seen and isinstance(node, Mapping) and node.get("message"):
            left.append(LeftOut("message of another branch", as_text(node["message"])))
    return branch[::-1]
