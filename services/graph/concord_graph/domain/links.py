"""Links that a memory's content makes to other memories (spec M3): plain data and its limits."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from concord_graph.domain.items import MemoryKind, MemoryOrigin

ID_PATTERN = r"^[A-Za-z0-9](?:[A-Za-z0-9._/\-]{0,126}[A-Za-z0-9])?$"
"""A memory id that a caller may choose: 1 to 128 characters."""

SUPERSEDES = "SUPERSEDES"
DEPRECATES = "DEPRECATES"
AMENDS = "AMENDS"
CONTRADICTS = "CONTRADICTS"
RELATED_TO = "RELATED_TO"

_ID = re.compile(ID_PATTERN)
_LINK = re.compile(r"(?:\b\w+\s*:\s*)?\[\[[^\[\]\n]{1,400}\]\]")


def is_memory_id(text: str) -> bool:
    """Tell whether a caller may name a memory so."""
    return _ID.fullmatch(text) is not None


def without_links(content: str) -> str:
    """Return a content's prose: without its links and the label before each."""
    return _LINK.sub(" ", content) if "[[" in content else content


class Voice(Enum):
    """Who speaks in a content: it decides where relation words act (M3)."""

    WRITTEN = auto()
    """Whoever adds or changes the memory: before any link, on its line."""
    IMPORTED = auto()
    """A note or table that somebody imports: only as the first word of a line, or in a status."""
    STORED = auto()
    """A turn, a chat, or text that a program or model took from elsewhere: nowhere."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link that a memory makes to the target."""

    relation: str
    """SUPERSEDES, DEPRECATES, AMENDS, CONTRADICTS or RELATED_TO."""
    target_id: str


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """One place in a content where a link is written, as the grammar reads its line.

    `line`: its line. `quoted`: it stands in a quotation. `begins`: its relation word is the first
    word of the line, or part of a status. `malformed`: the link as written, without a valid id.
    """

    link: Link
    line: str
    quoted: bool = False
    begins: bool = False
    malformed: str = ""

    def meant(self, voice: Voice) -> Link | None:
        """Return the link that a speaker means by it; None if it is text.

        Raises:
            MalformedLink: a relation word acts on a link without a valid id.
        """
        silent = voice is Voice.STORED or (voice is Voice.IMPORTED and not self.begins)
        acts = self.link.relation != RELATED_TO and not (self.quoted or silent)
        if self.malformed:
            if acts:
                raise MalformedLink(self.malformed)
            return None
        return self.link if acts else Link(RELATED_TO, self.link.target_id)


def voice_of(kind: MemoryKind, origin: MemoryOrigin) -> Voice:
    """Return who speaks in a memory of this kind that a key of this origin writes."""
    if kind == MemoryKind.TURN:
        return Voice.STORED
    return Voice.IMPORTED if origin == MemoryOrigin.IMPORT else Voice.WRITTEN


def meant_links(written: Sequence[WrittenLink], voice: Voice) -> tuple[Link, ...]:
    """Return the links that a new content makes, each once. Raises MalformedLink."""
    meant = (each.meant(voice) for each in written)
    return tuple(dict.fromkeys(link for link in meant if link is not None))


def reread_links(
    written: Sequence[WrittenLink],
    before: Sequence[WrittenLink],
    stored: Collection[Link],
    voice: Voice,
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Return the stored links that a changed content keeps, and those that it makes anew.

    A link on a line that stood there before keeps what is stored of it, by whatever rule it was
    read; only links on other lines are read anew. Raises MalformedLink.
    """
    read = frozenset(before)
    kept = tuple(
        link
        for each in written
        if each in read
        for link in (each.link, Link(RELATED_TO, each.link.target_id))
        if link in stored
    )
    return kept, meant_links([each for each in written if each not in read], voice)


class MalformedLink(ValueError):
    """A relation word stands before a link whose target is empty or no valid id."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_LINK_MALFORMED"

    def __init__(self, link: str) -> None:
        """Store the link as it is written, cut to 200 characters."""
        self.link = link if len(link) <= 200 else link[:199] + "…"
        super().__init__(f"not a memory id: {self.link}")
        self.violations = (("memory.content", str(self)),)
