"""Reads Markdown notes with YAML front matter as memories: one file or a folder."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from concord.type.v1 import type_pb2

from concord_client.importers.folder import Found, markdown_files
from concord_client.importers.front_matter import (
    LABEL,
    LINEAGE_KEYS,
    label_of,
    linked_id,
    list_of,
    text_of,
    time_of,
)
from concord_client.importers.headings import Part
from concord_client.importers.note import STATUS, NoteText, note_of
from concord_client.importers.note_keys import MOST_FACTS, facts_of, importance_of, kind_of
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
from concord_client.importers.properties import add_fitting_properties
from concord_client.importers.status_lines import NUMBER
from concord_client.importers.text_file import read_text
from concord_client.importers.vault import (
    MOST_NAME,
    Vault,
    is_name,
    links_in,
    note_id,
    target_of,
)

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def read_markdown(path: Path) -> Iterator[Outcome]:
    """Yield the outcomes of a folder's Markdown files, or of one file, in a fixed order.

    Front matter keys: id (default: made of the external id), title, kind (default: a journal if the
    name or title is a day), domain, tags, concepts, aliases (added to the concepts), importance,
    surfaces_when, valid_from (default: date, created, a line "Date:", or the date in the name or
    title), valid_until, external_id (default: the path inside the folder), supersedes, deprecates,
    amends, contradicts (ids or names of notes, appended to the content as lines of links),
    superseded_by and its kin (or a status or a line of the body such as "Superseded by LINK"), and
    facts ("SUBJECT|RELATION|OBJECT", or a list of such). Other keys, and values that these cannot
    hold, become properties; their links a line "Related:".
    The body is the content, under its title, which is its first heading unless front matter has
    one. A link to another note of the folder becomes a link to its memory, and a fact:
    TITLE|RELATED_TO|TITLE. A long note is split at its headings, each part derived from the note
    (see `headings`); MEMORY.md, CLAUDE.md and their like at their items. A file that is empty, too
    large or not UTF-8 gives a Defect. Files that are no Markdown, hidden ones, and comments and
    empty keys of front matter are left out.
    """
    found = list(_read(path))
    vault = Vault()
    for each in found:
        if isinstance(each, NoteText):
            vault.add(each.name, each.note, each.names)
    stated = _stated(vault, [each for each in found if isinstance(each, NoteText)])
    for each in found:
        if not isinstance(each, NoteText):
            yield each
            continue
        reader = _Reader(vault, each, stated.get(each.note.id, {}))
        try:
            drafts = list(reader.drafts())
        except ItemUnreadable as unreadable:
            yield Defect(each.name, unreadable.line, unreadable.reason, text=each.text)
        else:
            yield from at_place([*each.left, *reader.left], each.name, 1)
            yield from drafts


def _read(path: Path) -> Iterator[NoteText | Defect | LeftOut]:
    for found in markdown_files(path):
        if not isinstance(found, Found):
            yield found
            continue
        try:
            text = read_text(found.path, MAX_ITEM_BYTES).replace("\r\n", "\n")
        except ItemUnreadable as unreadable:
            yield Defect(found.name, unreadable.line, unreadable.reason)
        else:
            yield note_of(found.name, text)


def _stated(vault: Vault, notes: Sequence[NoteText]) -> Mapping[str, Mapping[str, list[str]]]:
    """By the newer note's id and the kind of lineage, the ids that notes' lines say it is to."""
    found: dict[str, dict[str, list[str]]] = {}
    for text in notes:
        note = vault.at(text.name)
        for said in text.stated:
            other = vault.find(target_of(said.target), text.name)
            if other is None and (number := NUMBER.fullmatch(said.target.strip())):
                other = vault.numbered(int(number[1]), text.name)
            if other and other != note:
                newer, older = (other, note) if said.is_passive else (note, other)
                found.setdefault(newer.id, {}).setdefault(said.key, []).extend(older.ids(said.key))
    return found


@dataclass(frozen=True)
class _Reader:
    """One note, the other notes of its folder, and what their lines say of its lineage."""

    vault: Vault
    text: NoteText
    stated: Mapping[str, list[str]]
    """By the kind of lineage, the ids of the notes and parts that this note is the newer one of."""
    left: list[LeftOut] = field(default_factory=list)
    """What of the note is in none of its memories."""

    @property
    def name(self) -> str:
        """The note's path in the folder."""
        return self.text.name

    @property
    def keys(self) -> Mapping[str, object]:
        """The keys of its front matter that find a field."""
        return self.text.keys

    def drafts(self) -> Iterator[Draft]:
        """The note, and the parts of a long one. Raises `ItemUnreadable`."""
        (_, first), *others = self.text.placed
        whole = self._whole(first.text, self.text.headings)
        yield Draft(whole, self.name, 1)
        for place, part in others:
            yield Draft(self._part(whole, part, place), self.name, 0, place)

    def _whole(self, body: str, headings: list[str]) -> type_pb2.Memory:
        text, related = self.vault.linked(self.text.titled(body, is_long=bool(headings)), self.name)
        lines, linked = self._lines()
        if headings:
            most = MAX_CONTENT - len(lines) - 2
            named = "; ".join(filter(None, headings))
            text = f"{text}\n\nParts: {named}"[:most] if named else text
        memory = self._of_keys([*related, *linked])
        memory.content = _with_lines(text, lines)
        check_content(memory.content)
        memory.id = self.text.note.id
        memory.external_id = self.text.external_id
        memory.sources.add(file=self.name)
        add_fitting_properties(memory.properties, self.text.others, self.left)
        return memory

    def _part(self, whole: type_pb2.Memory, part: Part, place: str) -> type_pb2.Memory:
        """A part as a memory: derived from its note, with the note's kind, domain and times."""
        title = self.text.note.title
        text, related = self.vault.linked(part.text, self.name)
        heading = f"{title} › {part.heading}" if part.heading else title
        content = f"# {heading}\n\n{text}".rstrip()
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
        keys, title = self.keys, self.text.note.title
        facts = facts_of(keys, self.left)
        kind = kind_of(keys)
        if not kind and self.text.is_daily:
            kind = type_pb2.MEMORY_KIND_JOURNAL
        memory = type_pb2.Memory(
            kind=kind,
            importance=importance_of(keys),
            domain=text_of(keys, "domain"),
            surfaces_when=list_of(keys, "surfaces_when"),
            tags=[_tag(tag) for tag in list_of(keys, "tags")],
            concepts=list(dict.fromkeys([*list_of(keys, "concepts"), *list_of(keys, "aliases")])),
            facts=[*facts, *_related(title, related, MOST_FACTS - len(facts))],
        )
        if begun := self.text.begun:
            memory.valid_from.FromDatetime(begun)
        if ended := time_of(keys, "valid_until"):
            memory.valid_until.FromDatetime(ended)
        return memory

    def _lines(self) -> tuple[str, list[str]]:
        """The links of the front matter as lines, and the titles of the notes that are related."""
        lines = [line for key in LINEAGE_KEYS if (line := self._lineage(key))]
        links = [link for key, value in self.text.others.items()
                 if key not in STATUS
                 for link in links_in(value)]  # fmt: skip
        if not links:
            return "\n".join(lines), []
        text, related = self.vault.linked(", ".join(dict.fromkeys(links)), self.name)
        return "\n".join([f"Related: {text}", *lines]), related

    def _lineage(self, key: str) -> str:
        """The line of links for one lineage key, or ""."""
        entries = list_of(self.keys, key)
        ids = [each for entry in entries for each in self._targets(key, entry)]
        self.left.extend(LeftOut(LABEL, label) for each in entries if (label := label_of(each)))
        ids += self.stated.get(key, [])
        links = ", ".join(f"[[memory:{each}]]" for each in dict.fromkeys(ids))
        return f"{key.capitalize()}: {links}" if links else ""

    def _targets(self, key: str, entry: str) -> list[str]:
        note = self.vault.find(target_of(entry), self.name)
        if note and note.id != self.text.note.id:
            return note.ids(key)
        named = linked_id(entry)
        if named is None:
            self.left.append(LeftOut(f"note that is not there, in {key}", entry))
        return [named] if named else []


def _tag(text: str) -> str:
    """A tag without its marks: `#rye` and `[[rye]]` are rye."""
    return text.removeprefix("#").removeprefix("[[").removesuffix("]]").strip()


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


def _with_lines(text: str, lines: str) -> str:
    """The text with lines of links below it, or above it if a fence or comment would hide them."""
    parts = [lines, text] if _hides_what_follows(text) else [text, lines]
    return "\n\n".join(part for part in parts if part)


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
