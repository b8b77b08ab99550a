"""A running system with something in it, and a real browser that is signed in to it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned, spawned
from page_views import SignIn
from playwright.sync_api import Browser, Page, sync_playwright
from two_signers import begun, environ_of

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
"""As Debian's runs without a screen: as root, and drawing by software."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder needs a browser."""
    for each in items:
        if each.path.is_relative_to(Path(__file__).parent):
            each.add_marker(pytest.mark.page)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """The whole system, embedded, as `concord up` starts it."""
    with spawned(tmp_path_factory.mktemp("page") / "data") as system:
        yield system


@pytest.fixture(scope="session")
def concord(running: Spawned, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The command line of its owner, who has made and enrolled both keys."""
    return begun(CommandLine(environ_of(running, tmp_path_factory.mktemp("home"))))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser process."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def sign_in(chromium: Browser, concord: CommandLine) -> Iterator[SignIn]:
    """Signs in by a one-time link; each time with a profile of its own. Whatever the page logs as
    an error, or throws, fails the test."""
    contexts, wrong = [], list[str]()

    def signed_in(*words: str, **options: object) -> Page:
        link = concord.done(*words, "page", "--no-open").strip().splitlines()[-1].strip()
        context = chromium.new_context(**options)  # type: ignore[arg-type] # playwright's own
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.goto(link)
        page.get_by_role("heading", name="Today").wait_for()
        return page

    yield signed_in
    for context in contexts:
        context.close()
    assert [each for each in wrong if "Failed to load resource" not in each] == []
