"""Detects the form of a path and reads it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from concord_client.importers import folder, table
from concord_client.importers.chat import read_chat
from concord_client.importers.chat.conversations import is_conversation
from concord_client.importers.chat.records import SPEAKERS
from concord_client.importers.form import Format, Origin
from concord_client.importers.graphiti import read_graphiti
from concord_client.importers.jsonl import read_jsonl, with_keys
from concord_client.importers.markdown import read_markdown
from concord_client.importers.mem0 import read_mem0
from concord_client.importers.outcome import MAX_ITEM_BYTES, Outcome
from concord_client.importers.spelling import STATE_KINDS
from concord_client.importers.table import read_csv

_JSON_LINES = (".jsonl", ".ndjson")


Reader = Callable[[Path], Iterator[Outcome]]


def read(path: Path, form: Format | Origin, session: str = "") -> Iterator[Outcome]:
    """Read the items of `path` in order. `session`: that of a transcript that names none."""
    known = detected(path) if form is Format.AUTO else form
    readers: dict[Format | Origin, Reader] = {
        Format.JSONL: lambda file: with_keys(read_jsonl(file)),
        Format.MARKDOWN: read_markdown,
        Format.CHAT: lambda transcript: read_chat(transcript, session),
        Format.CSV: lambda table: with_keys(read_csv(table, session)),
        Origin.MEM0: lambda file: with_keys(read_mem0(file)),
        Origin.GRAPHITI: read_graphiti,
    }
    return readers[known](path)


def detected(path: Path) -> Format:
    """The form of `path`, by its suffix or, between memories and turns, by its first line."""
    if path.is_dir() or path.suffix.lower() in folder.SUFFIXES:
        return Format.MARKDOWN
    if path.suffix.lower() in table.SUFFIXES:
        return Format.CSV
    try:
        with path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")[:MAX_ITEM_BYTES]
    except OSError:
        return Format.JSONL  # its reader reports the error
    try:
        value: object = json.loads(first.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        is_chat = is_conversation(value) or any(name in value for name in SPEAKERS)
        # a node of a state export has a "name", as speakers do
        is_chat = is_chat and value.get("kind") not in STATE_KINDS
        return Format.CHAT if is_chat else Format.JSONL
    return Format.JSONL if path.suffix.lower() in _JSON_LINES else Format.CHAT
