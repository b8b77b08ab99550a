"""What somebody waits for on the page, in a real Chromium that draws by software.

The data are those of `concord demo`, and a space of 10,000 nodes and 20,000 edges. The drawing is
timed by the page, from the edges that it has read to the frame after the first that shows them.
"""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Any

from concord.governance.v1.access_pb2 import CreateSignInRequest
from concord.type.v1.type_pb2 import Fact, Memory
from concord_client import Client
from concord_client.cli.demo import tour
from concord_gateway.http import page as page_files
from concord_testing.up_process import Spawned, spawned
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.bench.filling import batched, requests
from tests.bench.run import Run
from tests.bench.table import Bar, Row

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
OPTIONS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
VIEWS = (
    *("today", "memories", "memories?q=metadata for packages", "memory/pep-566", "graph"),
    *("graph/memory:pep-566", "conflicts", "claims", "proposals", "audit", "syntheses", "system"),
)
FACTS = 10
"""That one memory states, the most it may."""
FIGURES = "its heading, and all that it reads, in an empty cache"
TITLED = """() => {
  const titled = document.querySelector("main h1");
  return titled && performance.now();
}"""
READ = """() => Math.max(
  ...performance.getEntriesByType("resource").map((each) => each.responseEnd))"""
DRAWN = """() => performance.getEntriesByName("drawn")[0]?.toJSON()"""
TASKS = """globalThis.tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map((each) => each.toJSON())))
  .observe({ type: "longtask", buffered: true });"""
"""Keeps what held the page's thread for more than 50 ms."""
USED_SECONDS = 10
"""How long somebody looks at the drawing: two looks for changes are in it."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields each view's first paint, the drawing of a large graph, its tasks, and the size."""
    rows = _measured(run)
    with ThreadPoolExecutor(1) as pool:  # a browser is used from one thread
        while row := await asyncio.get_running_loop().run_in_executor(pool, next, rows, None):
            yield row


def _measured(run: Run) -> Iterator[Row]:
    yield _size()
    yield from _paints(run)
    yield from _large(run)


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


def _signed_in(browser: Browser, system: Spawned, space: str) -> tuple[BrowserContext, Page]:
    """A profile of its own, signed in."""
    with system.client(space) as client:
        code = client.access.CreateSignIn(CreateSignInRequest()).code
    context = browser.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"{system.http_url}/#code={code}")
    page.get_by_role("heading", name="Today").wait_for()
    return context, page


def _size() -> Row:
    """What the browser would load if it opened every view."""
    folder = Path(page_files.__file__).parents[1] / "page"
    total = sum(len(file.packed) for _, file in page_files._files(folder, "/"))
    return Row("the page's files, packed", "KB", (total / 1000,), bar=Bar(600))


def _paints(run: Run) -> Iterator[Row]:
    """How long until each view shows what it has to, at the demo's data."""
    data = run.folder / "demo"
    with redirect_stdout(StringIO()):
        tour.run(data, as_json=True)
    with spawned(data) as system, _browser() as browser:
        context, page = _signed_in(browser, system, tour.SPACE)
        for name in VIEWS:
            taken = [_opened(context, page, system, name) for _ in range(run.size(5, 1))]
            figure = (median(each[0] for each in taken), median(each[1] for each in taken))
            yield Row(f"/#/{name}", "ms", figure, bar=Bar(1000), note=FIGURES)
        yield _idle(page)
        context.close()


def _opened(context: BrowserContext, page: Page, system: Spawned, name: str) -> tuple[float, float]:
    """Milliseconds from the start of a load, with an empty cache, to the view's heading, and to the
    end of what the view reads."""
    page.goto("about:blank")
    context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.goto(f"{system.http_url}/#/{name}", wait_until="commit")
    titled: float = page.wait_for_function(TITLED).json_value()
    page.wait_for_load_state("networkidle")
    read: float = page.evaluate(READ)
    return titled, read


def _idle(page: Page) -> Row:
    """How much a page that is only looked at asks of the system."""
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(20_000)
    note = "where nobody types or points for two minutes a fifth of it, and hidden none"
    return Row("calls of a page that is looked at", "/min", (len(asked) * 3.0,), note=note)


def _large(run: Run) -> Iterator[Row]:
    """How long the drawing of a large space takes, and what holds the page afterwards."""
    nodes = run.size(10_000, 500)
    with spawned(run.folder / "large") as system, _browser() as browser:
        with system.client() as client:
            _fill(client, nodes)
        context, page = _signed_in(browser, system, "default")
        page.add_init_script(TASKS)
        page.reload()
        page.goto(f"{system.http_url}/#/graph?whole=1")
        drawn: dict[str, Any] = page.wait_for_function(DRAWN).json_value()
        what = f"{nodes:,} nodes and {2 * nodes:,} edges"
        yield Row(f"{what}, read", "ms", (drawn["startTime"],), note="in pages of 200 edges")
        yield Row(f"{what}, drawn", "ms", (drawn["duration"],), bar=Bar(2000))
        _use(page)
        tasks: list[dict[str, Any]] = page.evaluate("tasks")
        ended = drawn["startTime"] + drawn["duration"]
        longest = max((each["duration"] for each in tasks if each["startTime"] > ended), default=0)
        note = f"while it is moved, zoomed and pointed at for {USED_SECONDS} s; 0: under 50 ms"
        yield Row("the longest task afterwards", "ms", (float(longest),), bar=Bar(200), note=note)
        context.close()


def _use(page: Page) -> None:
    box = page.locator(".canvas").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    for turn in range(USED_SECONDS):
        page.mouse.wheel(0, -120 if turn % 2 else 120)
        page.wait_for_timeout(400)
        page.mouse.down()
        page.mouse.move(x + 20 * turn, y - 10 * turn, steps=8)
        page.mouse.up()
        page.wait_for_timeout(400)


def _fill(client: Client, nodes: int) -> None:
    """A tree over all nodes, and as many edges again between any two of them."""
    draw = random.Random(4)
    tree = [(f"Node {at}", "PART_OF", f"Node {draw.randrange(at)}") for at in range(1, nodes)]
    pairs = set[tuple[int, int]]()
    while len(pairs) <= nodes:
        pairs.add((draw.randrange(nodes), draw.randrange(nodes)))
    facts = [*tree, *((f"Node {one}", "KNOWS", f"Node {other}") for one, other in sorted(pairs))]
    memories = (
        Memory(
            content=f"What is known of {facts[at][0]} and others, {at}.",
            facts=[Fact(subject=one, relation=how, object=other) for one, how, other in some],
        )
        for at in range(0, len(facts), FACTS)
        for some in [facts[at : at + FACTS]]
    )
    for number, batch in enumerate(batched(memories, 5)):
        reply = client.memory.BatchAddMemories(requests(f"large-{number}", batch))
        if reply.errors:
            raise RuntimeError(f"refused: {reply.errors[0].reason}: {reply.errors[0].message}")
