"""The notes of a folder by the names in links, and the translation of links to memories."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from posixpath import normpath
from unicodedata import normalize
from urllib.parse import unquote

from concord_client.importers.folder import SUFFIXES

LINK = re.compile(
    r"(?P<hidden>(?P<ticks>`+).+?(?<!`)(?P=ticks)(?!`)|<!--.*?-->)"
    r"|!?\[\[(?P<wiki>[^\[\]\n]{1,400})\]\]"
    r"|(?<!!)\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]*\]){0,400})\]\(\s*(?:"
    r"(?P<href>(?:[^()<>\s#]|\([^()\s#]*\)){1,400}\.(?:md|markdown))(?P<at>#[^()\s]*)?"
    r"|<(?P<spaced>[^<>\n#]{1,400}\.(?:md|markdown))(?P<place>#[^<>\n]*)?>)"
    r"(?:\s+(?P<title>\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*\)"
)
"""A link to a note, as `[[A#x|b]]` or as `[b](A.md#x "title")`; or code or a comment, `hidden`."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OF_OTHER_FILE = re.compile(r"\.\w{1,5}")
_NUMBERED = re.compile(r"(?:adr|rfc)?[-_ ]?(\d{1,5})(?=[-_. ]\D|$)")
_REPLACING = frozenset({"supersedes", "deprecates"})
MOST_NAME = 512


@dataclass(frozen=True, slots=True)
class Note:
    """A note that links can name."""

    id: str
    title: str
    parts: tuple[str, ...] = ()
    """Ids of the parts that it is split into; a note that replaces it replaces these, too."""

    def ids(self, key: str) -> list[str]:
        """The ids that lineage of this kind is to."""
        return [self.id, *(self.parts if key in _REPLACING else ())]


@dataclass
class Vault:
    """The notes of a folder, by path and by other names: file name, title, aliases."""

    _by_path: dict[str, Note] = field(default_factory=dict)
    _by_name: dict[str, Note] = field(default_factory=dict)
    _by_number: dict[tuple[PurePosixPath, int], Note] = field(default_factory=dict)
    _paths: dict[str, Note] = field(default_factory=dict)

    def add(self, path: str, note: Note, names: list[str]) -> None:
        """Add a note; of several with the same name, links mean the first."""
        bare = PurePosixPath(_bare(path))
        self._by_path.setdefault(str(bare), note)
        self._paths[path] = note
        for name in (bare.name, namespaced(bare.name), note.title, *names):
            self._by_name.setdefault(_folded(name), note)
        for at in range(1, len(bare.parts)):  # the ends of its path, as [[people/ada]]
            self._by_name.setdefault("/".join(bare.parts[at:]), note)
        if numbered := _NUMBERED.match(bare.name):
            self._by_number.setdefault((bare.parent, int(numbered[1])), note)

    def find(self, target: str, beside: str) -> Note | None:
        """The note that a link's `target` in the note at path `beside` names, or None."""
        name = _bare(target)
        near = normpath(str(PurePosixPath(_bare(beside)).parent / name))
        return self._by_path.get(near) or self._by_path.get(name) or self._by_name.get(name)

    def numbered(self, number: int, beside: str) -> Note | None:
        """The note whose file name begins with a number, in the folder of the note `beside`."""
        return self._by_number.get((PurePosixPath(_bare(beside)).parent, number))

    def at(self, path: str) -> Note:
        """The note that was added with this path."""
        return self._paths[path]

    def linked(self, text: str, beside: str) -> tuple[str, list[str]]:
        """The text with links to memories instead of notes, and the titles of the linked notes."""
        own, titles = self.find(beside, ""), dict[str, None]()

        def replaced(link: re.Match[str]) -> str:
            if link["hidden"]:
                return link[0]
            target = link["wiki"] or _href(link)
            note, label = self.find(target_of(target), beside), link["text"] or _label(target)
            if note is None and link["wiki"] and not _OF_OTHER_FILE.search(target_of(target)):
                titles[target_of(target)] = None
            if note is None or note == own:
                return link[0]
            titles[note.title] = None
            label = label.replace("[", "(").replace("]", ")")
            title = f" {link['title']}" if link["title"] else ""
            return f"[[memory:{note.id}{_place(link)}|{label}]]{title}"

        lines = [line if is_code else LINK.sub(replaced, line) for line, is_code in lines_of(text)]
        return "\n".join(lines), [title for title in titles if is_name(title)]


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """The lines, each with whether it is fenced code."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        yield line, bool(fence or mark)


def prose_of(text: str) -> list[str]:
    """The lines that are no fenced code."""
    return [line for line, is_code in lines_of(text) if not is_code]


def namespaced(name: str) -> str:
    """The page that a file of Logseq's is: `Plans___Q3` and `Plans%2FQ3` are Plans/Q3."""
    return unquote(name).replace("___", "/")


def note_id(external_id: str) -> str:
    """The id of a note without one of its own, equal in each import."""
    return f"note-{sha256(external_id.encode()).hexdigest()[:20]}"


def target_of(written: str) -> str:
    """The target of a link: that of `[[A#x|b]]` and `A#x|b` is A, that of `[b](A.md)` is A.md."""
    link = LINK.search(written)
    inner = (link["wiki"] or _href(link)) if link else ""
    return (inner or written).strip().partition("|")[0].partition("#")[0].rstrip("\\").strip()


def links_in(value: object) -> list[str]:
    """The links in the texts of a value of front matter."""
    if isinstance(value, list):
        return [link for each in value for link in links_in(each)]
    if isinstance(value, dict):
        return links_in(list(value.values()))
    if not isinstance(value, str):
        return []
    return [each[0] for each in LINK.finditer(value) if not each["hidden"]]


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
