"""A synthesis that models review, of whom one gives no review."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from concord_testing.chat_endpoint import Body, http, serving_chat
from concord_testing.command_line import CommandLine
from concord_testing.council import council_file, reviewing
from concord_testing.up_process import spawned
from page_views import System, view
from playwright.sync_api import Browser, expect
from two_signers import environ_of


def test_a_degraded_council_looks_degraded(tmp_path: Path, chromium: Browser) -> None:
    """W5 D9: the verdict, each one's scores, where two are apart, and who gave no review."""
    with _models() as url:
        settings = {
            "DISSONANCE_MODELS_FILE": str(council_file(tmp_path, url, quorum=2)),
            "DISSONANCE_LLM_SPACES": "default",
        }
        with spawned(tmp_path / "data", settings=settings) as system:
            concord = CommandLine(environ_of(system, tmp_path))
            concord("add", "The office is in Kiel.")
            concord("add", "The office is in Bremen.")
            page = chromium.new_context().new_page()
            page.goto(concord.done("page", "--no-open").strip().splitlines()[-1])
            page.get_by_role("heading", name="Today").wait_for()
            view(page, System(system.http_url, system.environ), "syntheses")

            page.get_by_label("Question").fill("where is the office")
            page.get_by_label("have several models review it").check()
            page.get_by_role("button", name="Bring together").click()

            verdict = page.get_by_role("region", name="Verdict of the reviewers")
            expect(verdict).to_contain_text("1 of 3 gave no review", timeout=60_000)
            expect(verdict).to_contain_text("5.0 apart on coherence")
            expect(page.get_by_text("no review", exact=True)).to_be_visible()
            lower = page.locator("article").filter(has_text="two:8b")
            expect(lower).to_contain_text("3.0 of 10 by its scores")
            expect(lower).to_contain_text("No exception is named.")
            page.context.close()


@contextmanager
def _models() -> Iterator[str]:
    """The address of three reviewers: one refuses, two differ by five points."""
    loop, found, ended = asyncio.new_event_loop(), list[str](), asyncio.Event()
    ready = threading.Event()

    def answer(body: Body) -> bytes:
        if "one" in body["model"]:
            return http(401, b"{}")
        return reviewing(body, score=3 if "two" in body["model"] else 8)

    async def serve() -> None:
        async with serving_chat(answer) as endpoint:
            found.append(endpoint.url)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
