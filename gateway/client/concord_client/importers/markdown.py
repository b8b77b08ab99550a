"""Reads a folder of Markdown notes with YAML front matter as memories."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from concord.type.v1 import type_pb2
from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from concord_client.facts import fact_of
from concord_client.importers.folder import Found, markdown_files
from concord_client.importers.front_matter import list_of, split, text_of, time_of
from concord_client.importers.outcome import (
    MAX_ITEM_BYTES,
    Defect,
    Draft,
    ItemUnreadable,
    check_content,
)
from concord_client.importers.properties import add_properties
from concord_client.importers.spelling import contract_name, short_words

_KEYS = frozenset(
    {
        *("id", "title", "kind", "domain", "tags", "concepts", "importance", "surfaces_when"),
        "valid_from",
        *("valid_until", "external_id", "facts"),
    }
)
LINEAGE_KEYS = ("supersedes", "deprecates", "amends", "contradicts")

_TARGET = re.compile(
    r"(?:\[\[)?(?:memory:)?([^\[\]|#,\s]+)(?:[#|][^\[\]]*)?(?:\]\])?", re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def read_markdown(folder: Path) -> Iterator[Draft | Defect]:
    """Yield one outcome per Markdown file of the folder, in a fixed order (see `folder`).

    Front matter keys: id, title, kind, domain, tags, concepts, importance, surfaces_when,
    valid_from, valid_until, external_id (default: the path inside the folder), supersedes,
    deprecates, amends, contradicts (ids, appended to the content as lines of links), and facts
    (what the note states: "SUBJECT|RELATION|OBJECT", or a list of such). Others are kept as
    properties.
    The body is the content, under its title where it does not begin with it. A file that is
    empty, too large, not UTF-8 or has front matter that cannot be read gives a Defect.
    """
    for found in markdown_files(folder):
        if isinstance(found, Defect):
            yield found
            continue
        try:
            yield Draft(_memory(_text(found), found.name), found.name, 1)
        except ItemUnreadable as unreadable:
            yield Defect(found.name, unreadable.line, unreadable.reason)


def _text(found: Found) -> str:
    if found.size > MAX_ITEM_BYTES:
        raise ItemUnreadable(f"the file has {found.size} bytes, at most {MAX_ITEM_BYTES}", 0)
    try:
        return found.path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ItemUnreadable(error.strerror or "cannot be read", 0) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ItemUnreadable("not UTF-8", line) from None


def _memory(text: str, name: str) -> type_pb2.Memory:
    keys, body = split(text.replace("\r\n", "\n"))
    content = _content(keys, body)
    check_content(content)
    memory = type_pb2.Memory(
        id=text_of(keys, "id"),
        content=content,
        kind=_kind(keys),
        importance=_importance(keys),
        domain=text_of(keys, "domain"),
        surfaces_when=list_of(keys, "surfaces_when"),
        tags=[tag.removeprefix("#") for tag in list_of(keys, "tags")],
        concepts=list_of(keys, "concepts"),
        external_id=text_of(keys, "external_id") or name,
        sources=[type_pb2.Source(file=name)],
        facts=[_fact(entry) for entry in list_of(keys, "facts")],
    )
    for key, field in (("valid_from", memory.valid_from), ("valid_until", memory.valid_until)):
        instant = time_of(keys, key)
        if instant:
            _set_time(field, instant, key)
    others = {key: value for key, value in keys.items() if key not in _KEYS | {*LINEAGE_KEYS}}
    add_properties(memory.properties, others)
    return memory


def _content(keys: Mapping[str, object], body: str) -> str:
    body, title = body.strip("\n").rstrip(), text_of(keys, "title")
    if title and body.partition("\n")[0].lstrip("# ").strip() != title:
        body = f"# {title}\n\n{body}".rstrip()
    lines = [line for key in LINEAGE_KEYS if (line := _lineage(keys, key))]
    if lines and _hides_what_follows(body):
        raise ItemUnreadable(
            "a code fence or comment that never ends would hide the front matter's links"
        )
    return "\n\n".join([part for part in (body, "\n".join(lines)) if part])


def _lineage(keys: Mapping[str, object], key: str) -> str:
    """Return the line of links that says what front matter says, or ""."""
    targets = []
    for entry in list_of(keys, key):
        target = _TARGET.fullmatch(entry)
        if not target:
            raise ItemUnreadable(f"{key}: no memory id: {entry[:60]!r}")
        targets.append(f"[[memory:{target[1]}]]")
    return f"{key.capitalize()}: {', '.join(targets)}" if targets else ""


def _fact(entry: str) -> type_pb2.Fact:
    try:
        return fact_of(entry)
    except ValueError as error:
        raise ItemUnreadable(f"facts: {error}") from error


def _hides_what_follows(body: str) -> bool:
    fence = ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if not mark:
            continue
        if not fence:
            fence = "" if "`" in mark[1] and "`" in mark[2] else mark[1]
        elif mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
    return bool(fence) or body.rfind("<!--") > body.rfind("-->")


def _kind(keys: Mapping[str, object]) -> type_pb2.MemoryKind.ValueType:
    name = _named(keys, "kind", type_pb2.MemoryKind.DESCRIPTOR)
    return type_pb2.MemoryKind.Value(name or "MEMORY_KIND_UNSPECIFIED")


def _importance(keys: Mapping[str, object]) -> type_pb2.Importance.ValueType:
    name = _named(keys, "importance", type_pb2.Importance.DESCRIPTOR)
    return type_pb2.Importance.Value(name or "IMPORTANCE_UNSPECIFIED")


def _named(keys: Mapping[str, object], key: str, enum: EnumDescriptor) -> str:
    """Return the contract's name of a word such as "fact", in any case; "" without one."""
    word = text_of(keys, key)
    name = contract_name(enum, word)
    if word and name is None:
        words = ", ".join(short_words(enum))
        raise ItemUnreadable(f"{key}: {word.lower()[:60]!r} is none of {words}")
    return name or ""


def _set_time(field: Timestamp, instant: datetime, key: str) -> None:
    try:
        field.FromDatetime(instant)
    except (ValueError, OverflowError):
        raise ItemUnreadable(f"{key}: outside of the years 1 to 9999 in UTC") from None
