"""Reads JSON Lines: one object per line, the protobuf JSON of `concord.type.v1.Memory`."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from concord.type.v1.type_pb2 import Memory
from google.protobuf.json_format import (
    MessageToDict,
    Parse,
    ParseDict,
    ParseError,
    SerializeToJsonError,
)

from concord_client.importers import document
from concord_client.importers.exports.items import ReadItem, read_export
from concord_client.importers.front_matter import LABEL, LINEAGE_KEYS, label_of, linked_id, list_of
from concord_client.importers.json_words import read_json, why_not
from concord_client.importers.outcome import (
    MAX_ITEM_BYTES,
    Defect,
    Draft,
    ItemUnreadable,
    LeftOut,
    Outcome,
    at_place,
    check_content,
)
from concord_client.importers.properties import FINITE, add_properties
from concord_client.importers.spelling import memory_of_state, with_contract_names
from concord_client.importers.text_file import SAVE
from concord_client.links import with_links

FIELDS = {name for each in Memory.DESCRIPTOR.fields for name in (each.name, each.json_name)}
"""The names of a memory's fields, in both spellings of the contract's JSON."""


CONTENTS = ("content", "memory", "text", "note", "fact")
"""The names under which items of a list have their text."""
SET_BY_GRAPH = frozenset(
    [
        "entrenchment",
        "create_time",
        "modify_time",
        "etag",
        "access",
        "supersession",
        "relevance_score",
        "forget_time",
        "erase_time",
        "turn_order",
        "conflict_ids",
        "conflict_count",
        "health",
        "origin",
    ]
)
"""Fields of a memory that no writer states."""


def read_jsonl(path: Path) -> Iterator[Outcome]:
    """Yield one outcome per line of the file, in order; blank lines are skipped.

    Field names are the contract's or their lowerCamelCase, enum values the contract's or their
    short words in any case. `supersedes`, `deprecates`, `amends` and `contradicts`, each a memory's
    id or a list of ids, become links; all other fields become properties. The memories of a state
    export are read, too. Fields that graph sets itself are left
    out. A line that is too long, not UTF-8, not JSON, no memory or without content
    gives a Defect. The file is read lazily; a file that cannot be read gives one Defect on line 0.
    """
    file = str(path)
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(_lines(stream), 1):
                if not line.strip():
                    continue
                left: list[LeftOut] = []
                try:
                    draft = Draft(_memory(line, left, first=number == 1), file, number)
                except ItemUnreadable as unreadable:
                    said = line.decode("utf-8-sig", "backslashreplace")
                    yield Defect(file, number, unreadable.reason, text=said)
                else:
                    yield from at_place(left, file, number)
                    yield draft
    except OSError as error:
        yield Defect(file, 0, error.strerror or "cannot be read")


def read_list(path: Path) -> Iterator[Outcome]:
    """Yield one outcome per item of a JSON list of memories, or of an object with one in
    `memories`: objects as in JSON Lines, or texts."""
    return read_export(path, _items)


def _items(value: object, left: list[LeftOut]) -> Iterator[tuple[object, ReadItem]]:
    if isinstance(value, Mapping) and isinstance(value.get("memories"), list):
        left += document.beside(value, ["memories"])
        value = value["memories"]
    if not isinstance(value, list):
        raise ItemUnreadable("a list of memories is expected")
    for each in value:
        yield {"content": each} if isinstance(each, str) else each, _item


def _item(record: Mapping[str, object], left: list[LeftOut]) -> list[Memory]:
    found = dict(memory_of_state(record))
    name = next((name for name in CONTENTS if isinstance(found.get(name), str)), "")
    if not name:
        raise ItemUnreadable(f"content: none of {', '.join(CONTENTS)}")
    return [memory_of(found | {"content": found.pop(name)}, left)]


def with_keys(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Give each memory without id and external id an external id, made of its content (spec M5).

    So a file can be imported again, even if later lines superseded facts of earlier ones. A
    repeated line is another memory only if a line in between stated another fact about the same
    subject and relation: A, B, A.
    """
    newest: dict[tuple[str, str], str] = {}
    times: Counter[str] = Counter()
    for outcome in outcomes:
        if isinstance(outcome, Draft) and not (outcome.memory.id or outcome.memory.external_id):
            said = json.dumps(MessageToDict(outcome.memory), sort_keys=True)
            line = sha256(said.encode()).hexdigest()
            stated = {(fact.subject, fact.relation) for fact in outcome.memory.facts}
            times[line] += not times[line] or any(newest.get(each) != line for each in stated)
            newest |= dict.fromkeys(stated, line)
            outcome.memory.external_id = f"jsonl/{line}/{times[line]}"
        yield outcome


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of a line that is too long, only its first `MAX_ITEM_BYTES` + 1 bytes."""
    while line := stream.readline(MAX_ITEM_BYTES + 1):
        yield line
        while len(line) > MAX_ITEM_BYTES and not line.endswith(b"\n"):
            line = stream.readline(MAX_ITEM_BYTES + 1)


def _memory(line: bytes, left: list[LeftOut], *, first: bool) -> Memory:
    if len(line) > MAX_ITEM_BYTES:
        raise ItemUnreadable(f"the line has more than {MAX_ITEM_BYTES} bytes, the most of a memory")
    try:
        text = line.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError as error:
        raise ItemUnreadable(f"not UTF-8 at byte {error.start + 1}: {SAVE}") from None
    if not text.lstrip().startswith("{"):
        raise ItemUnreadable('not a JSON object, such as {"content": "..."}')
    memory = Memory()
    try:
        _parse(text, memory, left)
    except RecursionError:
        raise ItemUnreadable("the JSON is nested too deeply") from None
    if not memory.content:
        raise ItemUnreadable("content: a text is expected")
    check_content(memory.content)
    return memory


def _parse(text: str, memory: Memory, left: list[LeftOut]) -> None:
    """Read the contract's own JSON, else the other spellings. Raises `ItemUnreadable`."""
    try:
        Parse(text, memory)
    except ParseError:
        memory.Clear()
        _fill(memory, memory_of_state(read_json(text)), left)
    else:
        _demand_finite(memory)
        _leave_out_what_graph_sets(memory, left)


def memory_of(value: Mapping[str, object], left: list[LeftOut]) -> Memory:
    """The memory of a JSON object; other fields become properties, those that no writer states go
    to `left`. Raises `ItemUnreadable`."""
    memory = Memory()
    _fill(memory, value, left)
    check_content(memory.content)
    return memory


def _fill(memory: Memory, value: Mapping[str, object], left: list[LeftOut]) -> None:
    """Set a memory's fields from a JSON object. Raises `ItemUnreadable`."""
    spelt = with_contract_names(value, Memory.DESCRIPTOR)
    own = {name: each for name, each in spelt.items() if name in FIELDS}
    links = {key.capitalize(): _linked(spelt, key, left) for key in LINEAGE_KEYS if key in spelt}
    try:
        ParseDict(own, memory)
    except ParseError:
        raise ItemUnreadable(why_not(own, Memory)) from None
    if links:
        memory.content = with_links(memory.content, links)
    _demand_finite(memory)
    _leave_out_what_graph_sets(memory, left)
    add_properties(
        memory.properties,
        {name: each for name, each in spelt.items() if name not in FIELDS | set(LINEAGE_KEYS)},
    )


def _leave_out_what_graph_sets(memory: Memory, left: list[LeftOut]) -> None:
    for field, value in memory.ListFields():
        if field.name in SET_BY_GRAPH:
            stated = " ".join(str(value).split())
            left.append(LeftOut("field that graph sets itself", f"{field.name}: {stated}"))
            memory.ClearField(field.name)  # type: ignore[arg-type] # one of its fields


def _linked(value: Mapping[str, object], key: str, left: list[LeftOut]) -> list[str]:
    """The memory ids of a lineage key. Raises `ItemUnreadable`."""
    entries = list_of(value, key)
    ids = [linked_id(entry) for entry in entries]
    left += (LeftOut(LABEL, label) for entry in entries if (label := label_of(entry)))
    if None in ids:
        raise ItemUnreadable(f"{key}: a memory's id, or a list of ids, is expected")
    return [each for each in ids if each]


def _demand_finite(memory: Memory) -> None:
    """Raise `ItemUnreadable` for a number in properties that no JSON can have again."""
    places = {f"facts[{at}].properties": each.properties for at, each in enumerate(memory.facts)}
    for place, properties in {"properties": memory.properties, **places}.items():
        try:
            MessageToDict(properties)
        except (SerializeToJsonError, ValueError):
            raise ItemUnreadable(f"{place}: {FINITE}") from None
