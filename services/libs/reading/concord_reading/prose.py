"""Blanks the parts of a text that are no sentences, before anything is compared (D3, D13).

These are code, links, URLs, link definitions, images, headings and tables of Markdown, among them
the headings with which importers name a note and its parts, and their list of a note's parts.
"""

import re

LINK = re.compile(r"(?:\b\w+\s*:\s*)?\[\[[^\[\]\n]{1,400}\]\]")
"""A link of a memory, with the label before it. Graph makes edges of links."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
SPAN = re.compile(r"`[^`\n]*`")
"""Code within a sentence."""
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[^\n]*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t][^\n]*)?$", re.MULTILINE)
_UNDERLINED = re.compile(r"^[ \t]*\S[^\n]*\n {0,3}(?:=+|-{2,})[ \t]*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|[^\n]*$", re.MULTILINE)
_PARTS = re.compile(r"(?<=\n)Parts: [^\n]*\Z")
"""An importer's list of the headings of a note that it split."""
_TARGET = r"\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]" + _TARGET)
_LINKED = re.compile(r"(?<=\])" + _TARGET)
"""The target of a Markdown link; its words stay."""
_URL = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,30}://|mailto:|www\.)[^\s<>\"]*[^\s<>\".,;:!?)\]'”]", re.IGNORECASE
)

_QUOTED = re.compile(
    r"[\"“„«»][^\"“”„«»\n]*[\"”“»«]|(?<!\w)['‘][^'‘’\n]+['’](?!\w)|^>.*$", re.MULTILINE
)
_QUOTED_NAME = 3
"""Words of the longest quotation that is read as a name."""


def prose(text: str) -> str:
    """Return a text of the same length whose other parts are blank; linear in its length."""
    text = running_text(text)
    for pattern in (SPAN, _LINKED, LINK, _URL):
        text = pattern.sub(_blanked, text)
    return text


def running_text(text: str) -> str:
    """Return a text of the same length without the blocks that hold no sentences: fenced code,
    headings, tables and the like. Its sentences are as written, with their links and code."""
    for pattern in (_FENCED, _DEFINITION, _HEADING, _UNDERLINED, _ROW, _IMAGE, _PARTS):
        text = pattern.sub(_blanked, text)
    return text


def without_quotations(text: str) -> str:
    """Return a text of the same length without its longer quotations, which it does not assert. A
    short one is a name."""
    return _QUOTED.sub(_blanked_quotation, text)


def without_links(text: str) -> str:
    """Return a text without its links to memories, each of which names an id."""
    return LINK.sub(" ", text)


def _blanked_quotation(found: re.Match[str]) -> str:
    quoted = found.group()
    return quoted if len(quoted.split()) <= _QUOTED_NAME else " " * len(quoted)


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())
