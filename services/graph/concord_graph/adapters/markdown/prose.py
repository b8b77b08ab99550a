"""The paragraphs of a Markdown text that are prose: not code, not HTML."""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

HIDDEN = "\ufffc"
"""The character that replaces code, a comment or an escaped bracket in a line."""

_NO_CLOSER = "concord_no_comment_closer"


def prose_paragraphs(content: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the lines of each paragraph of prose, in order, and whether it is in a quotation.

    The lines have HIDDEN where they are not prose.

    Headings and the like are paragraphs, too; a hard line break ends one. Code fences, indented
    code and raw HTML blocks yield nothing; code spans, comments and escaped brackets inside a
    line are hidden. Emphasis marks, link syntax and entities stay as written.
    """
    quotations = 0  # that are open
    for block in _PARSER.parse(content):
        if block.type in ("blockquote_open", "blockquote_close"):
            quotations += block.nesting
        elif block.type == "inline":
            for lines in _paragraphs(block.children or []):
                yield lines, quotations > 0


def _paragraphs(tokens: list[Token]) -> Iterator[list[str]]:
    lines: list[str] = []
    line: list[str] = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            lines.append("".join(line))
            line = []
            if token.type == "hardbreak":
                yield lines
                lines = []
        elif token.type == "text" or (token.type == "text_special" and token.content not in "[]"):
            line.append(token.content)
        else:
            line.append(HIDDEN)
    yield [*lines, "".join(line)]


def _comment(state: StateInline, silent: bool) -> bool:
    """Read one HTML comment; remembers a missing end, so a run of openers costs linear time."""
    if not state.src.startswith("<!--", state.pos) or state.env.get(_NO_CLOSER) is state.tokens:
        return False
    end = state.src.find("-->", state.pos + len("<!--"))
    if end < 0:
        state.env[_NO_CLOSER] = state.tokens
        return False
    if not silent:
        state.push("html_comment", "", 0)
    state.pos = end + len("-->")
    return True


def _parser() -> MarkdownIt:
    """Build the parser: blocks of CommonMark, and only the inline rules that hide characters.

    Links, emphasis and entities cannot change what a memory link says; without their rules the
    text stays as written and hostile input costs linear time. Without `text_join` an escaped
    bracket stays apart from the text and opens no link. Link definitions are left as text.
    """
    parser = MarkdownIt("commonmark")
    parser.disable(["reference", "link", "image", "autolink", "entity", "emphasis", "html_inline"])
    parser.disable(["balance_pairs", "fragments_join", "text_join"])
    parser.inline.ruler.push("html_comment", _comment)
    return parser


_PARSER = _parser()
