"""Reads one note as people keep it: its keys, title, day and parts, and what it says of others."""

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from concord_client.importers.dates import instant_of, instant_of_digits
from concord_client.importers.front_matter import list_of, split, text_of, time_of
from concord_client.importers.headings import Part, items, parts, title_of
from concord_client.importers.note_keys import divided, is_in_range
from concord_client.importers.outcome import ItemUnreadable, LeftOut
from concord_client.importers.status_lines import Stated, date_in, stated_in
from concord_client.importers.vault import Note, namespaced, note_id, prose_of

_PASSIVE_KEYS = {
    "superseded_by": "supersedes",
    "superceded_by": "supersedes",
    "replaced_by": "supersedes",
    "deprecated_by": "deprecates",
    "amended_by": "amends",
}
STATUS = frozenset(["status", *_PASSIVE_KEYS, *(key.replace("_", "-") for key in _PASSIVE_KEYS)])
"""Keys whose links say what replaced the note."""
_OF_AGENTS = frozenset(["memory.md", "claude.md", "claude.local.md", "agents.md", "gemini.md"])
"""Files in which agents keep what they remember, an item a thing."""
_DATED = re.compile(r"(\d{4})([-_.])(\d{2})\2(\d{2})(?!\d)")
_ZETTEL = re.compile(r"(?:\d{14}|\d{12})(?!\d)")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)|\d{8}")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class NoteText:
    """A note's text, read."""

    name: str
    """The path in the folder, with slashes."""
    text: str
    keys: Mapping[str, object]
    """The keys of its front matter that find a field."""
    others: Mapping[str, object]
    """The other keys."""
    left: tuple[LeftOut, ...]
    note: Note
    placed: tuple[tuple[str, Part], ...]
    """Its parts, each with its place: its heading, numbered if it recurs."""
    stated: tuple[Stated, ...]
    begun: datetime | None
    is_daily: bool
    """Whether its name or title is a day."""
    is_titled: bool
    """Whether its body begins with its title."""
    body: str
    is_of_agent: bool
    """Whether it is split at its items."""

    @property
    def headings(self) -> list[str]:
        """The headings of its parts; of items, each heading once."""
        found = [part.heading for _, part in self.placed[1:]]
        return list(dict.fromkeys(found)) if self.is_of_agent else found

    @property
    def external_id(self) -> str:
        """The front matter's external id, else the path."""
        return _external_id(self.keys, self.name)

    @property
    def names(self) -> list[str]:
        """Names beside its path and title that links may use."""
        own = (text_of(self.keys, "id"), str(self.others.get("id", "")))
        return [*filter(None, own), *list_of(self.keys, "aliases")]

    def titled(self, first: str, *, is_long: bool) -> str:
        """The first part under the title; a note with neither body nor keys stays empty."""
        if not self.body and not self.keys and not self.others:
            return ""
        if self.is_titled and not is_long:
            return self.body
        return f"# {self.note.title}\n\n{first}".rstrip()


def note_of(name: str, text: str) -> NoteText:
    """Read a note. Its title is that of the front matter, else its first heading, else its name."""
    read = split(text)
    keys, others = divided(read.keys)
    body = read.body.strip("\n").rstrip()
    stem = PurePosixPath(name).stem
    heading, below = title_of(body)
    title = text_of(keys, "title") or heading or namespaced(stem)
    has_heading = heading == title
    first = body.partition("\n")[0]
    is_titled = has_heading or ("title" not in keys and _words(first) == _words(title))
    content = below if has_heading else body
    is_agents = PurePosixPath(name).name.casefold() in _OF_AGENTS
    placed = _placed(items(content) if is_agents else parts(content.strip("\n").rstrip()))
    external_id = _external_id(keys, name)
    ids = tuple(note_id(f"{external_id}#{place}") for place, _ in placed[1:])
    day, is_day = _day_of(stem)
    title_day = instant_of(title) if _YEAR.search(title) else None
    prose = prose_of(body)
    times = (_stated_time(others), date_in(prose), _zettel(keys, stem), day, title_day)
    begun = time_of(keys, "valid_from") or next(filter(None, times), None)
    begun = begun.replace(tzinfo=UTC) if begun and not begun.tzinfo else begun
    return NoteText(
        name=name,
        text=text,
        keys=keys,
        others=others,
        left=tuple(read.left),
        note=Note(text_of(keys, "id") or note_id(external_id), title, ids),
        placed=tuple(placed),
        stated=(*_stated(others), *stated_in(prose)),
        begun=begun if begun and is_in_range(begun) else None,
        is_daily=is_day or title_day is not None,
        is_titled=is_titled,
        body=body,
        is_of_agent=is_agents,
    )


def _stated(others: Mapping[str, object]) -> list[Stated]:
    """What the front matter says of others."""
    found = list(stated_in([str(others.get("status", ""))]))
    for name in others:
        if key := _PASSIVE_KEYS.get(name.casefold().replace("-", "_").replace(" ", "_")):
            with suppress(ItemUnreadable):
                for entry in list_of(others, name):
                    found.append(Stated(key, entry, is_passive=True))
    return found


def _placed(found: list[Part]) -> list[tuple[str, Part]]:
    seen, placed = Counter[str](), []
    for part in found:
        seen[part.heading] += 1
        again = f"/{seen[part.heading]}" if seen[part.heading] > 1 else ""
        placed.append((part.heading + again, part))
    return placed


def _external_id(keys: Mapping[str, object], name: str) -> str:
    return text_of(keys, "external_id") or name


def _stated_time(others: Mapping[str, object]) -> datetime | None:
    for key in ("date", "created"):
        with suppress(ItemUnreadable):
            if (found := time_of(others, key)) and is_in_range(found):
                return found
    return None


def _day_of(stem: str) -> tuple[datetime | None, bool]:
    """The day that a file's name begins with, and whether it is the whole name."""
    if found := _DATED.match(stem):
        return instant_of("-".join(found.group(1, 3, 4))), found.end() == len(stem)
    day = instant_of_digits(stem) if len(stem) == 8 else None
    day = day or (instant_of(stem) if _YEAR.search(stem) else None)
    return day, day is not None


def _zettel(keys: Mapping[str, object], stem: str) -> datetime | None:
    """The time that a note's id, or the id that its name begins with, is made of."""
    for text in (text_of(keys, "id"), stem):
        if (found := _ZETTEL.match(text)) and (time := instant_of_digits(found[0])):
            return time
    return None


def _words(text: str) -> str:
    """A title normalised for comparison: `my-note` equals `# My note`."""
    return _NO_WORD.sub(" ", text).strip().casefold()
