"""Signing in to the page, and its views once they are loaded."""

from collections.abc import Callable

from concord_testing.up_process import Spawned
from playwright.sync_api import Page

SignIn = Callable[..., Page]
"""Called with words of the command line before `page`; options are those of a browser's profile."""


def view(page: Page, running: Spawned, name: str) -> Page:
    """The page, once a view is loaded: its heading is there and nothing says that it loads."""
    page.goto(f"{running.http_url}/#/{name}")
    page.locator("main h1").first.wait_for()
    page.get_by_text("Loading…").wait_for(state="detached")
    return page
