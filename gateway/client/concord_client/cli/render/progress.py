"""Progress bars for long work: on standard error, and only on a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from concord_client.cli.render.page import complaints


class Advance(Protocol):
    """Moves the bar."""

    def __call__(self, done: int, total: int | None = None) -> None:
        """`done` of `total` steps are done; the total stays when none is given."""


@contextmanager
def bar(title: str, total: int | None = None) -> Iterator[Advance]:
    """A progress bar for the block."""
    watched = complaints().is_terminal
    with Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=complaints(),
        disable=not watched,
        expand=True,
    ) as progress:
        task = progress.add_task(title, total=total)

        def advance(done: int, total: int | None = None) -> None:
            progress.update(task, completed=done, total=total)

        yield advance
