"""Output for people: coloured and wrapped on a terminal, plain and unwrapped in a pipe."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from functools import cache
from io import StringIO
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from rich import box
from rich.console import Console, Group, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

from concord_client.cli.render import visible

PIPE_WIDTH = 32_768
"""So wide that no line is wrapped in a pipe: content has at most 20,000 characters."""

_HIDDEN = "hidden"
"""The key in a style's meta for the hidden characters that the styled text writes out."""


class _Output(Console):
    """A console that raises BrokenPipeError, which the command line handles."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@cache
def console() -> Console:
    """Standard output."""
    return _Output(highlight=False)


@cache
def complaints() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False)


def show(*parts: RenderableType, on_error: bool = False) -> None:
    """Prints the parts; in a pipe without colour, wrapping or padding.

    Hidden characters are written out, wherever they come from, and a last line says so: stored text
    must neither control the reader's terminal nor look like another text. `on_error`: print on
    standard error, if a program reads standard output.
    """
    output = complaints() if on_error else console()
    if output.is_terminal:
        _print(output, parts)
        return
    memory = StringIO()
    _print(Console(file=memory, width=PIPE_WIDTH, highlight=False, no_color=True), parts)
    for line in memory.getvalue().splitlines():
        output.file.write(f"{line.rstrip()}\n")


def _print(output: Console, parts: Sequence[RenderableType]) -> None:
    found: set[str] = set()
    segments = list(_written_out(output.render(Group(*parts)), found))
    output.print(Segments(segments), end="", crop=False)
    if found:
        output.print(Text(visible.hidden_notice(found), "bold red"))


def _written_out(segments: Iterable[Segment], found: set[str]) -> Iterator[Segment]:
    """The segments without hidden characters; those found go into `found`."""
    for segment in segments:
        if segment.style is not None and segment.style.meta:
            found.update(segment.style.meta.get(_HIDDEN, ""))
        if segment.control or not any(map(visible.is_hidden, segment.text)):
            yield segment
            continue
        found.update(filter(visible.is_hidden, segment.text))
        yield Segment(visible.visible(segment.text), segment.style)


def show_more(page_token: str) -> None:
    """Prints the option for the next page, if there is one."""
    if page_token:
        show(text(f"More: --page-token {page_token}", "dim"))


def table(*columns: str) -> Table:
    """An empty table; a column named "#..." is right-aligned, and "=..." is of ids.

    Neither is ever wrapped: an id must stay whole on its line, to be copied.
    """
    made = Table(
        box=box.SIMPLE_HEAD if console().is_terminal else None,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for name in columns:
        made.add_column(
            name.lstrip("#="),
            justify="right" if name.startswith("#") else "left",
            no_wrap=name.startswith(("#", "=")),
            overflow="fold",  # never an ellipsis
        )
    return made


def lines(*parts: Text) -> Text:
    """The parts, one below the other."""
    return Text("\n").join(parts)


def text(content: str, style: str = "") -> Text:
    """Stored text: markup in it has no effect, and hidden characters are written out.

    `style` applies to this text only, not to text that is appended later.
    """
    made = Text()
    for hides, piece in visible.runs(content):
        own = Style.parse(style) if style else Style.null()
        mark = Style(reverse=True, meta={_HIDDEN: piece}) if hides else Style.null()
        made.append(visible.visible(piece) if hides else piece, own + mark)
    return made


def shortened(content: str, most: int) -> str:
    """The text, or its first `most` characters and its length if it is longer."""
    flat = content.strip()
    if len(flat) <= most:
        return flat
    return f"{flat[:most].rstrip()} … ({len(flat):,} characters)"


def fields(pairs: Sequence[tuple[str, str]]) -> Table:
    """A table of names and values, without empty values."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            made.add_row(name, text(value))
    return made


def when(time: Timestamp) -> str:
    """A time in UTC to the second; only the date at midnight."""
    at = time.ToDatetime(tzinfo=UTC)
    if (at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0):
        return at.strftime("%Y-%m-%d")
    return at.strftime("%Y-%m-%d %H:%M:%SZ")


def word(enum: Any, value: int) -> str:
    """An enum value's name as a word: MEMORY_KIND_FACT -> fact.

    `enum`: the generated wrapper, whose type at run time differs from that in its stubs.
    """
    prefix = enum.keys()[0].removesuffix("UNSPECIFIED")
    return str(enum.Name(value)).removeprefix(prefix).lower().replace("_", " ")


def plural(count: int, one: str, many: str = "") -> str:
    """`1 memory`, `2 memories`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
