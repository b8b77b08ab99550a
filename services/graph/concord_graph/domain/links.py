"""Links that a memory's content makes to other memories (spec M3): plain data and its limits."""

import re
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Link:
    """One link in a content, from the memory that has the content to the target."""

    relation: str
    """SUPERSEDES, DEPRECATES, AMENDS, CONTRADICTS or RELATED_TO."""
    target_id: str


class MalformedLink(ValueError):
    """A relation word stands before a link whose target is empty or no valid id.

    `field` is the path in the request of the content that has it.
    """

    field = "memory.content"

    def __init__(self, link: str) -> None:
        """Store the link as it is written, cut to 200 characters."""
        self.link = link if len(link) <= 200 else link[:199] + "…"
        super().__init__(f"not a memory id: {self.link}")
