"""The notes of a folder by the names in links, and the translation of links to memories."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from posixpath import normpath
from unicodedata import normalize
from urllib.parse import unquote

from concord_client.importers.folder import SUFFIXES

_LINK = re.compile(
    r"(?P<hidden>(?P<ticks>`+).+?(?<!`)(?P=ticks)(?!`)|<!--.*?-->)"
    r"|!?\[\[(?P<wiki>[^\[\]\n]{1,400})\]\]"
    r"|(?<!!)\[(?P<text>[^\[\]\n]{0,400})\]\((?:"
    r"(?P<href>[^()<>\s#]{1,400}\.(?:md|markdown))(?P<at>#[^()\s]*)?"
    r"|<(?P<spaced>[^<>\n#]{1,400}\.(?:md|markdown))(?P<place>#[^<>\n]*)?>)\)"
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OF_OTHER_FILE = re.compile(r"\.\w{1,5}")
_REPLACED = re.compile(
    r"[\W_]*(?:status[\W_]+)?(?:superseded|replaced|obsoleted)[ _-]by:?\s+(.+)", re.IGNORECASE
)
MOST_NAME = 512


@dataclass(frozen=True, slots=True)
class Note:
    """A note that links can name."""

    id: str
    title: str
    parts: tuple[str, ...] = ()
    """Ids of the parts that it is split into; a note that replaces it replaces these, too."""


@dataclass
class Vault:
    """The notes of a folder, by path and by other names: file name, title, aliases."""

    _by_path: dict[str, Note] = field(default_factory=dict)
    _by_name: dict[str, Note] = field(default_factory=dict)
    _replaced_by: list[tuple[Note, str, list[str]]] = field(default_factory=list)

    def add(self, path: str, note: Note, names: list[str], replaced_by: list[str]) -> None:
        """Add a note; of several with the same name, links mean the first.

        `replaced_by`: the links in this note to the notes that replaced it.
        """
        self._by_path.setdefault(_bare(path), note)
        for name in (PurePosixPath(_bare(path)).name, note.title, *names):
            self._by_name.setdefault(_folded(name), note)
        self._replaced_by.append((note, path, replaced_by))

    def find(self, target: str, beside: str) -> Note | None:
        """The note that a link's `target` in the note at path `beside` names, or None."""
        name = _bare(target)
        near = normpath(str(PurePosixPath(_bare(beside)).parent / name))
        return (
            self._by_path.get(near)
            or self._by_path.get(name)
            or self._by_name.get(name)
            or self._by_name.get(PurePosixPath(name).name)
        )

    def replaced(self) -> Mapping[str, list[str]]:
        """By a note's id, the ids of the notes that say it replaced them, and of their parts."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for note, path, said in self._replaced_by:
            for each in said:
                newer = self.find(target_of(each), path)
                if newer and newer != note:
                    found[newer.id] += [note.id, *note.parts]
        return found

    def linked(self, text: str, beside: str) -> tuple[str, list[str]]:
        """The text with links to memories instead of notes, and the titles of the linked notes."""
        own, titles = self.find(beside, ""), dict[str, None]()

        def replaced(link: re.Match[str]) -> str:
            if link["hidden"]:
                return link[0]
            target = link["wiki"] or _href(link)
            note, label = self.find(target_of(target), beside), link["text"] or _label(target)
            if note is None and link["wiki"] and not _OF_OTHER_FILE.search(target_of(target)):
                titles[PurePosixPath(target_of(target)).name] = None
            if note is None or note == own:
                return link[0]
            titles[note.title] = None
            return f"[[memory:{note.id}{_place(link)}|{label}]]"

        lines = [line if is_code else _LINK.sub(replaced, line) for line, is_code in _lines(text)]
        return "\n".join(lines), [title for title in titles if is_name(title)]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines, each with whether it is fenced code."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        yield line, bool(fence or mark)


def note_id(external_id: str) -> str:
    """The id of a note without one of its own, equal in each import."""
    return f"note-{sha256(external_id.encode()).hexdigest()[:20]}"


def target_of(written: str) -> str:
    """The target of a link: that of `[[A#x|b]]` and `A#x|b` is A, that of `[b](A.md)` is A.md."""
    link = _LINK.search(written)
    inner = (link["wiki"] or _href(link)) if link else ""
    return (inner or written).strip().partition("|")[0].partition("#")[0].rstrip("\\").strip()


def replaced_by(status: str) -> list[str]:
    """The link in a status such as "superseded by [[B]]"; empty for another status."""
    said = _REPLACED.match(status.strip())
    return [said[1]] if said else []


def replaced_in(body: str) -> list[str]:
    """The links in the body's lines that begin with "superseded by" or the like."""
    said = [_REPLACED.match(line) for line, is_code in _lines(body) if not is_code]
    return [link[0] for found in said if found for link in _LINK.finditer(found[1])]


def links_in(value: object) -> list[str]:
    """The links in the texts of a value of front matter."""
    if isinstance(value, list):
        return [link for each in value for link in links_in(each)]
    if isinstance(value, dict):
        return links_in(list(value.values()))
    if not isinstance(value, str):
        return []
    return [each[0] for each in _LINK.finditer(value) if not each["hidden"]]


def is_name(text: str) -> bool:
    """Whether a node may have this name."""
    return (
        bool(text.strip())
        and len(text) <= MOST_NAME
        and text.isprintable()
        and (not text.startswith("concord:"))
    )


def _href(link: re.Match[str]) -> str:
    return unquote(link["href"] or link["spaced"] or "")


def _place(link: re.Match[str]) -> str:
    """The heading that a link names and its label does not, such as `#x` of `[[A#x|b]]`."""
    if not link["wiki"]:
        return link["at"] or link["place"] or ""
    path, _, alias = link["wiki"].partition("|")
    return path[path.find("#") :].rstrip() if alias.strip() and "#" in path else ""


def _label(target: str) -> str:
    name, _, alias = target.partition("|")
    return alias.strip() or name.strip()


def _folded(name: str) -> str:
    return normalize("NFC", name).strip().casefold()


def _bare(path: str) -> str:
    """A path normalised for comparison: in lower case, without the suffix of Markdown."""
    lower = _folded(path).removeprefix("./")
    return next((lower.removesuffix(each) for each in SUFFIXES if lower.endswith(each)), lower)
