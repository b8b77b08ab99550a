"""Signing in to the page, and its views once they are loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from concord_testing.command_line import CommandLine
from playwright.sync_api import Page
from typer.testing import Result


@dataclass(frozen=True)
class System:
    """A system that runs: the page's address, how commands find it, and the space in use."""

    http_url: str
    environ: Mapping[str, str]
    space: str = "default"


class InSpace(CommandLine):
    """The command line in a space."""

    def __init__(self, environ: Mapping[str, str], space: str) -> None:
        super().__init__(environ)
        self._space = space

    def __call__(self, *arguments: str, stdin: str | None = None) -> Result:
        """The outcome of a command, whatever its exit status."""
        return super().__call__("--space", self._space, *arguments, stdin=stdin)


SignIn = Callable[..., Page]
"""Called with words of the command line before `page`; options are those of a browser's profile."""


def view(page: Page, running: System, name: str) -> Page:
    """The page, once a view is loaded: its heading is there and nothing says that it loads."""
    page.goto(f"{running.http_url}/#/{name}")
    page.locator("main h1").first.wait_for()
    page.get_by_text("Loading…").wait_for(state="detached")
    return page
