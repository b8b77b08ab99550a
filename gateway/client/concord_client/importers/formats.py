"""Detects the form of a path and reads it."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from concord_client.importers import folder, table
from concord_client.importers.chat import read_chat
from concord_client.importers.chat.conversations import is_conversation
from concord_client.importers.chat.records import SPEAKERS
from concord_client.importers.exports.graphiti import read_graphiti
from concord_client.importers.exports.hindsight import is_hindsight, read_hindsight
from concord_client.importers.exports.letta import is_letta, read_letta
from concord_client.importers.exports.mcp_memory import is_mcp_memory, read_mcp_memory
from concord_client.importers.exports.mem0 import read_mem0
from concord_client.importers.form import Format, Origin
from concord_client.importers.jsonl import CONTENTS, read_jsonl, read_list, with_keys
from concord_client.importers.markdown import read_markdown
from concord_client.importers.outcome import MAX_ITEM_BYTES, ItemUnreadable, Outcome
from concord_client.importers.spelling import STATE_KINDS
from concord_client.importers.table import read_csv
from concord_client.importers.text_file import read_text

_JSON_LINES = (".jsonl", ".ndjson")


_EXPORTS = {
    Origin.MCP_MEMORY: is_mcp_memory,
    Origin.LETTA: is_letta,
    Origin.HINDSIGHT: is_hindsight,
}
Reader = Callable[[Path], Iterator[Outcome]]


def read(path: Path, form: Format | Origin, session: str = "") -> Iterator[Outcome]:
    """Read the items of `path` in order. `session`: that of a transcript that names none."""
    known = detected(path) if form is Format.AUTO else form
    readers: dict[Format | Origin, Reader] = {
        Format.JSONL: lambda file: with_keys(
            read_list(file) if is_document(file) else read_jsonl(file)
        ),
        Format.MARKDOWN: read_markdown,
        Format.CHAT: lambda transcript: read_chat(transcript, session),
        Format.CSV: lambda table: with_keys(read_csv(table, session)),
        Origin.MEM0: lambda file: with_keys(read_mem0(file)),
        Origin.GRAPHITI: read_graphiti,
        Origin.MCP_MEMORY: read_mcp_memory,
        Origin.LETTA: read_letta,
        Origin.HINDSIGHT: read_hindsight,
    }
    return readers[known](path)


def is_document(path: Path) -> bool:
    """Whether a file is one JSON value, such as a list, and no JSON Lines."""
    if path.suffix.lower() in _JSON_LINES:
        return False
    first = _beginning(path).lstrip()[:1]
    return first == "[" or (first == "{" and path.suffix.lower() == ".json")


def detected(path: Path) -> Format | Origin:
    """The form of `path`, by its suffix or by what it holds: between memories and turns by its
    first line, and of a JSON document by its whole."""
    suffix = path.suffix.lower()
    if path.is_dir() or suffix in folder.SUFFIXES:
        return Format.MARKDOWN
    if suffix in table.SUFFIXES:
        return Format.CSV
    first = _beginning(path)
    if not first:
        return Format.JSONL  # its reader reports the error
    value = _value(first)
    if value is None and suffix in (".json", ".af"):
        value = _whole(path)
    for origin, is_its in _EXPORTS.items():
        if is_its(value):
            return origin
    if isinstance(value, list):
        is_memories = bool(value) and all(map(_is_memory, value))
        return Format.JSONL if is_memories else Format.CHAT
    if isinstance(value, dict):
        is_chat = is_conversation(value) or any(name in value for name in SPEAKERS)
        # a node of a state export has a "name", as speakers do
        is_chat = is_chat and value.get("kind") not in STATE_KINDS
        return Format.CHAT if is_chat else Format.JSONL
    return Format.JSONL if suffix in _JSON_LINES else Format.CHAT


def _is_memory(value: object) -> bool:
    """Whether an item of a list is a memory: a text, or an object with one and no speaker."""
    if isinstance(value, str):
        return True
    return isinstance(value, dict) and (
        value.get("kind") == "memory"
        or (
            any(isinstance(value.get(name), str) for name in CONTENTS)
            and not any(name in value for name in SPEAKERS)
        )
    )


def _beginning(path: Path) -> str:
    """The first line that is not blank; "" for a file that cannot be read or has none."""
    try:
        with path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")[:MAX_ITEM_BYTES]
    except OSError:
        return ""
    return first.decode("utf-8-sig", "replace")


def _value(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _whole(path: Path) -> object:
    with suppress(ItemUnreadable):
        return _value(read_text(path))
    return None
