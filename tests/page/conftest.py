"""A running system with something in it, and a real browser that is signed in to it.

With CONCORD_SYSTEM naming the folder of its `credentials.json`, that is the system, in a new space.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from concord.governance.v1 import access_pb2
from concord_client import AsyncClient, credentials
from concord_client.credentials import Target
from concord_testing.command_line import CommandLine
from concord_testing.up_process import clean_environ, spawned
from page_views import InSpace, SignIn, System
from playwright.sync_api import Browser, Page, expect, sync_playwright
from running_system import fresh_spaces
from two_signers import begun, environ_of

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
"""As Debian's runs without a screen: as root, and drawing by software."""

# What others do appears within four seconds, when the machine is free.
expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder needs a browser."""
    for each in items:
        if each.path.is_relative_to(Path(__file__).parent):
            each.add_marker(pytest.mark.page)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """The whole system, embedded, as `concord up` starts it; or the one that is named."""
    folder = tmp_path_factory.mktemp("page")
    if named := os.environ.get("CONCORD_SYSTEM"):
        address = credentials.read(Path(named) / credentials.FILE_NAME).http_url
        if httpx.get(f"{address}/page/app.js", trust_env=False).status_code != HTTPStatus.OK:
            pytest.skip(f"The gateway at {address} has no page: GATEWAY_PAGE is off there.")
        with ThreadPoolExecutor(1) as pool:  # the browser's loop runs in this thread
            yield pool.submit(asyncio.run, _with_a_space(Path(named), folder)).result()
        return
    with spawned(folder / "data") as system:
        yield System(system.http_url, system.environ)


async def _with_a_space(named: Path, folder: Path) -> System:
    """A system that runs already, and credentials for a new space of it."""
    made = await fresh_spaces(named)
    async with AsyncClient(Target(made.url, made.owner_keys["default"])) as owner:
        space = (await owner.access.ListKeys(access_pb2.ListKeysRequest())).keys[0].space
    known = {
        "url": made.url,
        "http_url": made.http_url,
        "keys": {space: made.keys["default"]},
        "owner_keys": {space: made.owner_keys["default"]},
        "enrolment_secrets": {space: made.enrolment_secrets["default"]},
    }
    (folder / credentials.FILE_NAME).write_text(json.dumps(known))
    return System(made.http_url, clean_environ() | {"CONCORD_DATA": str(folder)}, space)


@pytest.fixture(scope="session")
def concord(running: System, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The command line of its owner, who has made and enrolled both keys."""
    environ = environ_of(running, tmp_path_factory.mktemp("home"))
    return begun(InSpace(environ, running.space))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser process."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"There is no Chromium, {CHROMIUM}: deploy/apt-test.txt names it.")
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
