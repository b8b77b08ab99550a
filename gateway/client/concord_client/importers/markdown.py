"""Reads Markdown notes with YAML front matter as memories: one file or a folder."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from concord.type.v1 import type_pb2
from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from concord_client.facts import fact_of
from concord_client.importers.folder import Found, markdown_files
from concord_client.importers.front_matter import (
    LABEL,
    LINEAGE_KEYS,
    label_of,
    linked_id,
    list_of,
    split,
    text_of,
    time_of,
)
from concord_client.importers.headings import Part, parts
from concord_client.importers.outcome import (
    MAX_CONTENT,
    MAX_ITEM_BYTES,
    Defect,
    Draft,
    ItemUnreadable,
    LeftOut,
    Outcome,
    at_place,
    check_content,
)
from concord_client.importers.properties import add_properties
from concord_client.importers.spelling import contract_name, short_words
from concord_client.importers.text_file import read_text
from concord_client.importers.vault import (
    MOST_NAME,
    Note,
    Vault,
    is_name,
    note_id,
    replaced_by,
    replaced_in,
    target_of,
)

_REPLACING = frozenset({"supersedes", "deprecates"})
_KEYS = frozenset(
    {
        *("id", "title", "kind", "domain", "tags", "concepts", "importance", "surfaces_when"),
        *("valid_from", "valid_until", "external_id", "facts", "aliases", *LINEAGE_KEYS),
    }
)
MOST_FACTS = 10
"""The contract's limit for a memory."""

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_NO_WORD = re.compile(r"[\W_]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


MARKUP = re.compile(
    r"^ {0,3}#+[ \t]|[ \t]#+[ \t]*$"  # marks of headings
    rf"|^---[ \t]*$|^\.\.\.[ \t]*$|^(?:{'|'.join(sorted(_KEYS))})[ \t]*(?=:)"  # of front matter
    r"|(?<=: )~[ \t]*$|:(?=\s|$)|[\[\]{},\"'&*!|>-]|\\[tn]|\\(?=[\"\\])"  # signs and escapes of YAML
    r"|(?<=\[\[)[^\[\]|#\n]*(?=[|#])|!(?=\[\[)"  # a link's target, which becomes its memory's id
    r"|(?<=\]\()[^()\n]*\)",
    re.MULTILINE,
)
"""What the form defines as markup, where it becomes a field, a link or a part of its own."""


def read_markdown(path: Path) -> Iterator[Outcome]:
    """Yield the outcomes of a folder's Markdown files, or of one file, in a fixed order.

    Front matter keys: id (default: made of the external id), title (default: the file's name),
    kind, domain, tags, concepts, aliases (added to the concepts), importance, surfaces_when,
    valid_from (default: date, created, or the date that the file's name begins with), valid_until,
    external_id (default: the path inside the folder), supersedes, deprecates, amends, contradicts
    (ids or names of notes, appended to the content as lines of links), superseded_by (or a status
    or a line of the body "Superseded by LINK"), and facts ("SUBJECT|RELATION|OBJECT", or a list of
    such). Other keys become properties.
    The body is the content, under its title. A link to another note of the folder becomes a link
    to its memory, and a fact: TITLE|RELATED_TO|TITLE. A long note is split at its headings, each
    part derived from the note (see `headings`). A file that is empty, too large, not UTF-8 or has
    front matter that cannot be read gives a Defect. Files that are no Markdown, hidden ones, and
    comments and empty keys of front matter are left out.
    """
    vault = _vault(path)
    replaced = vault.replaced()
    for found in markdown_files(path):
        if not isinstance(found, Found):
            yield found
            continue
        text = ""
        try:
            text = read_text(found.path, MAX_ITEM_BYTES).replace("\r\n", "\n")
            note = split(text)
            reader = _Reader(vault, found.name, note.keys, replaced)
            drafts = list(reader.drafts(note.body))
        except ItemUnreadable as unreadable:
            yield Defect(found.name, unreadable.line, unreadable.reason, text=text)
        else:
            yield from at_place([*note.left, *reader.left], found.name, 1)
            yield from drafts


def _vault(path: Path) -> Vault:
    """The readable notes of a folder, by their names."""
    vault = Vault()
    for found in markdown_files(path):
        if not isinstance(found, Found):
            continue
        with suppress(ItemUnreadable):
            read = split(read_text(found.path, MAX_ITEM_BYTES).replace("\r\n", "\n"))
            keys, body = read.keys, read.body
            places = [place for place, _ in _placed(body)[1:]]
            ids = [note_id(f"{_external_id(keys, found.name)}#{place}") for place in places]
            note = Note(_id(keys, found.name), _title(keys, found.name), tuple(ids))
            said = [*list_of(keys, "superseded_by"), *replaced_by(str(keys.get("status", "")))]
            said += replaced_in(body)
            names = [text_of(keys, "id"), *list_of(keys, "aliases")]
            vault.add(found.name, note, names, said)
    return vault


@dataclass(frozen=True)
class _Reader:
    """One note, the other notes of its folder, and the notes that say it replaced them."""

    vault: Vault
    name: str
    keys: Mapping[str, object]
    replaced: Mapping[str, list[str]]
    """By a note's id, the ids of the notes and parts that it replaced."""
    left: list[LeftOut] = field(default_factory=list)
    """What of the note is in none of its memories."""

    def drafts(self, body: str) -> Iterator[Draft]:
        """The note, and the parts of a long one. Raises `ItemUnreadable`."""
        (_, first), *others = _placed(body)
        whole = self._whole(first.text, [part.heading for _, part in others])
        yield Draft(whole, self.name, 1)
        for place, part in others:
            yield Draft(self._part(whole, part, place), self.name, 0, place)

    def _whole(self, body: str, headings: list[str]) -> type_pb2.Memory:
        keys, title = self.keys, _title(self.keys, self.name)
        text, related = self.vault.linked(_titled(body, title, keys), self.name)
        if headings:
            text = f"{text}\n\nParts: {'; '.join(headings)}"[:MAX_CONTENT]
        memory = self._of_keys(related)
        memory.content = self._with_lineage(text)
        check_content(memory.content)
        memory.id = _id(keys, self.name)
        memory.external_id = _external_id(keys, self.name)
        memory.sources.add(file=self.name)
        others = {name: value for name, value in keys.items() if name not in _KEYS}
        add_properties(memory.properties, others)
        return memory

    def _part(self, whole: type_pb2.Memory, part: Part, place: str) -> type_pb2.Memory:
        """A part as a memory: derived from its note, with the note's kind, domain and times."""
        title = _title(self.keys, self.name)
        text, related = self.vault.linked(part.text, self.name)
        content = f"# {title} › {part.heading}\n\n{text}".rstrip()
        check_content(content)
        external_id = f"{whole.external_id}#{place}"
        memory = type_pb2.Memory(
            id=note_id(external_id),
            content=content,
            kind=whole.kind,
            importance=whole.importance,
            domain=whole.domain,
            tags=whole.tags,
            external_id=external_id if len(external_id) <= MOST_NAME else note_id(external_id),
            sources=[type_pb2.Source(file=self.name, memory_ids=[whole.id])],
            facts=_related(title, related, MOST_FACTS),
        )
        for name in ("valid_from", "valid_until"):
            if whole.HasField(name):
                getattr(memory, name).CopyFrom(getattr(whole, name))
        return memory

    def _of_keys(self, related: list[str]) -> type_pb2.Memory:
        keys, title = self.keys, _title(self.keys, self.name)
        facts = [_fact(entry) for entry in list_of(keys, "facts")]
        memory = type_pb2.Memory(
            kind=_kind(keys),
            importance=_importance(keys),
            domain=text_of(keys, "domain"),
            surfaces_when=list_of(keys, "surfaces_when"),
            tags=[tag.removeprefix("#") for tag in list_of(keys, "tags")],
            concepts=list(dict.fromkeys([*list_of(keys, "concepts"), *list_of(keys, "aliases")])),
            facts=[*facts, *_related(title, related, MOST_FACTS - len(facts))],
        )
        if begun := _begun(keys, self.name):
            _set_time(memory.valid_from, begun, "valid_from")
        if ended := time_of(keys, "valid_until"):
            _set_time(memory.valid_until, ended, "valid_until")
        return memory

    def _with_lineage(self, body: str) -> str:
        """The text, and below it the front matter's lineage as lines of links."""
        lines = [line for key in LINEAGE_KEYS if (line := self._lineage(key))]
        if lines and _hides_what_follows(body):
            raise ItemUnreadable(
                "a code fence or comment that never ends would hide the front matter's links"
            )
        return "\n\n".join([part for part in (body, "\n".join(lines)) if part])

    def _lineage(self, key: str) -> str:
        """The line of links for one lineage key, or ""."""
        entries = list_of(self.keys, key)
        ids = [each for entry in entries for each in self._targets(key, entry)]
        self.left.extend(LeftOut(LABEL, label) for each in entries if (label := label_of(each)))
        if key == "supersedes":
            ids += self.replaced.get(_id(self.keys, self.name), [])
        links = ", ".join(f"[[memory:{each}]]" for each in dict.fromkeys(ids))
        return f"{key.capitalize()}: {links}" if links else ""

    def _targets(self, key: str, entry: str) -> list[str]:
        note = self.vault.find(target_of(entry), self.name)
        if note and note.id != _id(self.keys, self.name):
            return [note.id, *(note.parts if key in _REPLACING else ())]
        named = linked_id(entry)
        if named is None:
            raise ItemUnreadable(f"{key}: no note of this name, and no memory id: {entry[:60]!r}")
        return [named]


def _placed(body: str) -> list[tuple[str, Part]]:
    """The parts of a body, each with its place: its heading, numbered if it recurs."""
    seen, placed = Counter[str](), []
    for part in parts(body.strip("\n").rstrip()):
        seen[part.heading] += 1
        again = f"/{seen[part.heading]}" if seen[part.heading] > 1 else ""
        placed.append((part.heading + again, part))
    return placed


def _id(keys: Mapping[str, object], name: str) -> str:
    return text_of(keys, "id") or note_id(_external_id(keys, name))


def _external_id(keys: Mapping[str, object], name: str) -> str:
    return text_of(keys, "external_id") or name


def _title(keys: Mapping[str, object], name: str) -> str:
    return text_of(keys, "title") or PurePosixPath(name).stem


def _titled(body: str, title: str, keys: Mapping[str, object]) -> str:
    """The body under its title; a note with neither body nor keys stays empty."""
    if not body and not keys:
        return ""
    first = body.partition("\n")[0]
    same = first.strip("# \t") == title if "title" in keys else _words(first) == _words(title)
    return body if same else f"# {title}\n\n{body}".rstrip()


def _words(text: str) -> str:
    """A title normalised for comparison: `my-note` equals `# My note`."""
    return _NO_WORD.sub(" ", text).strip().casefold()


def _related(title: str, others: list[str], most: int) -> list[type_pb2.Fact]:
    """Facts from the note's links, at most `most`; the other links are only in the content."""
    if not is_name(title):
        return []
    facts = [
        type_pb2.Fact(subject=title, relation="RELATED_TO", object=other)
        for other in others
        if other != title
    ]
    return facts[: max(most, 0)]


def _begun(keys: Mapping[str, object], name: str) -> datetime | None:
    """The note's begin: its valid_from, else a readable date or created, else its name's date."""
    if "valid_from" in keys:
        return time_of(keys, "valid_from")
    for key in ("date", "created"):
        with suppress(ItemUnreadable):
            if found := time_of(keys, key):
                return found
    with suppress(ItemUnreadable):
        if dated := _DATED.match(PurePosixPath(name).name):
            return time_of({"name": dated[0]}, "name")
    return None


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
