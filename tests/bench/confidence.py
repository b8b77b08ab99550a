"""How sure first results are said to be, and how often they are right.

Each conversation by a fit without it, on development data: questions asked of their own
conversation, and of each other one, which cannot answer them.
"""

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.conversations import beam, locomo
from tests.bench.run import Run
from tests.bench.table import Bar, Row
from tests.fitting.profile import First, left_out
from tests.fitting.samples import gather

STEPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.01)
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
BARS = {
    "HIGH right": Bar(0.80, at_most=False),
    "answerable HIGH": Bar(0.15, at_most=False),
    "unanswerable LOW": Bar(0.90, at_most=False),
    "right LOW": Bar(0.10),
}
DATA = {"people": ("locomo", locomo), "assistant": ("beam", beam)}


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each profile the bars of the bands, what other bounds would reach, and a reliability
    table."""
    for profile, (name, read) in DATA.items():
        folder = run.evaluation / name
        if not folder.is_dir():
            print(f"SKIPPED: no data at {folder}", flush=True)
            continue
        embedder = MiniLm()
        await embedder.open()
        try:
            samples = await gather(read(folder), embedder, run.folder / name)
        finally:
            await embedder.close()
        seen = left_out(profile, samples)
        for what, share in seen.bands(*seen.bounds()).items():
            yield Row(f"{profile}: {what}", "share", (share,), bar=BARS.get(what))
        for share, *reached in seen.trade_off(SHARES):
            what = f"{profile}: at {share:.2f} answerable HIGH and {1 - share:.2f} unanswerable LOW"
            yield Row(f"{what}, HIGH right / right LOW", "share", tuple(reached))
        for row in _reliability(profile, seen.firsts):
            yield row


def _reliability(profile: str, firsts: Sequence[First]) -> list[Row]:
    """Of first results by what was said of them: how sure on average, and how often right."""
    rows = []
    for low, high in pairwise(STEPS):
        some = [each for each in firsts if low <= each.said_right < high]
        if some:
            said = sum(each.said_right for each in some) / len(some)
            right = sum(each.right for each in some) / len(some)
            what = f"{profile}: said {low:.2f} to {min(high, 1.0):.2f}, {len(some)} results"
            rows.append(Row(what, "right", (right,), floor=(said,), floor_is="what was said"))
    return rows
