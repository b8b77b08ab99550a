"""Reads Markdown notes with YAML front matter as memories: one file or a folder."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from concord.type.v1 import type_pb2

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
from concord_client.importers.note_keys import (
    KEYS,
    MOST_FACTS,
    divided,
    enum_of,
    facts_of,
    is_in_range,
)
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
from concord_client.importers.text_file import read_text
from concord_client.importers.vault import (
    MOST_NAME,
    Note,
    Vault,
    is_name,
    links_in,
    note_id,
    replaced_by,
    replaced_in,
    target_of,
)

_STATUS = frozenset({"status", "superseded_by"})
"""Keys whose links say what replaced the note."""
_REPLACING = frozenset({"supersedes", "deprecates"})
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_NO_WORD = re.compile(r"[\W_]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


MARKUP = re.compile(
    r"^ {0,3}#+[ \t]|[ \t]#+[ \t]*$"  # marks of headings
    rf"|^---[ \t]*$|^\.\.\.[ \t]*$|^(?:{'|'.join(sorted(KEYS))})[ \t]*(?=:)"  # of front matter
    r"|(?<=: )~[ \t]*$|:(?=\s|$)|[\[\]{},\"'&*!|>-]|\\[tn]|\\(?=[\"\\])"  # signs of YAML
    r"|(?<=\[\[)[^\[\]|#\n]*(?=[|#])|!(?=\[\[)"  # a link's target, which becomes an id
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
            reader = _Reader(vault, found.name, *divided(note.keys), replaced)
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
            (keys, others), body = divided(read.keys), read.body
            places = [place for place, _ in _placed(body)[1:]]
            ids = [note_id(f"{_external_id(keys, found.name)}#{place}") for place in places]
            note = Note(_id(keys, found.name), _title(keys, found.name), tuple(ids))
            said = replaced_by(str(others.get("status", ""))) + replaced_in(body)
            with suppress(ItemUnreadable):
                said = [*list_of(others, "superseded_by"), *said]
            names = [text_of(keys, "id"), str(others.get("id", "")), *list_of(keys, "aliases")]
            vault.add(found.name, note, names, said)
    return vault


@dataclass(frozen=True)
class _Reader:
    """One note, the other notes of its folder, and the notes that say it replaced them."""

    vault: Vault
    name: str
    keys: Mapping[str, object]
    others: Mapping[str, object]
    """The keys that find no field."""
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
        lines, linked = self._lines()
        if headings:
            most = MAX_CONTENT - len(lines) - 2
            text = f"{text}\n\nParts: {'; '.join(headings)}"[:most]
        memory = self._of_keys([*related, *linked])
        memory.content = _with_lines(text, lines)
        check_content(memory.content)
        memory.id = _id(keys, self.name)
        memory.external_id = _external_id(keys, self.name)
        memory.sources.add(file=self.name)
        add_fitting_properties(memory.properties, self.others, self.left)
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
        facts = facts_of(keys, self.left)
        memory = type_pb2.Memory(
            kind=enum_of(keys, "kind"),
            importance=enum_of(keys, "importance"),
            domain=text_of(keys, "domain"),
            surfaces_when=list_of(keys, "surfaces_when"),
            tags=[tag.removeprefix("#") for tag in list_of(keys, "tags")],
            concepts=list(dict.fromkeys([*list_of(keys, "concepts"), *list_of(keys, "aliases")])),
            facts=[*facts, *_related(title, related, MOST_FACTS - len(facts))],
        )
        if begun := _begun(keys, self.others, self.name):
            memory.valid_from.FromDatetime(begun)
        if ended := time_of(keys, "valid_until"):
            memory.valid_until.FromDatetime(ended)
        return memory

    def _lines(self) -> tuple[str, list[str]]:
        """The links of the front matter as lines, and the titles of the notes that are related."""
        lines = [line for key in LINEAGE_KEYS if (line := self._lineage(key))]
        links = [link for key, value in self.others.items() if key not in _STATUS
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
            self.left.append(LeftOut(f"note that is not there, in {key}", entry))
        return [named] if named else []


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


def _begun(keys: Mapping[str, object], others: Mapping[str, object], name: str) -> datetime | None:
    """The note's begin: its valid_from, else a readable date or created, else its name's date."""
    if "valid_from" in keys:
        return time_of(keys, "valid_from")
    dated = _DATED.match(PurePosixPath(name).name)
    for key, values in (("date", others), ("created", others), ("", {"": dated and dated[0]})):
        with suppress(ItemUnreadable):
            if (found := time_of(values, key)) and is_in_range(found):
                return found
    return None


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
