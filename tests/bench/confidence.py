"""How sure first results are said to be, and how often they are right.

Each conversation by a fit without it, on development data: questions asked of their own
conversation, and of each other one, which cannot answer them.
"""

from collections.abc import AsyncIterator

from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.run import Run
from tests.bench.table import Bar, Row
from tests.fitting.development import DATA, is_there, samples_of
from tests.fitting.profile import left_out

SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
BARS = {
    "HIGH right": Bar(0.80, at_most=False),
    "answerable HIGH": Bar(0.15, at_most=False),
    "unanswerable LOW": Bar(0.92, at_most=False),
    "worst unanswerable LOW": Bar(0.85, at_most=False),
    "right LOW": Bar(0.10),
}
OF_FACTS = {
    "HIGH right": Bar(0.85, at_most=False),
    "answerable HIGH": Bar(0.15, at_most=False),
    "unanswerable LOW": Bar(0.90, at_most=False),
}


async def bench(run: Run) -> AsyncIterator[Row]:
    """For each profile the bars of the bands, and what other bounds would reach."""
    for profile in DATA:
        if not is_there(profile, run.evaluation):
            continue
        embedder = MiniLm()
        await embedder.open()
        try:
            samples = await samples_of(profile, run.evaluation, embedder, run.folder / profile)
        finally:
            await embedder.close()
        seen = left_out(profile, samples)
        bars = BARS | (OF_FACTS if profile == "plain" else {})
        for what, share in seen.bands(*seen.bounds()).items():
            yield Row(f"{profile}: {what}", "share", (share,), bar=bars.get(what))
        for share, *reached in seen.trade_off(SHARES):
            what = f"{profile}: at {share:.2f} answerable HIGH and {1 - share:.2f} unanswerable LOW"
            yield Row(f"{what}, HIGH right / right LOW", "share", tuple(reached))
