"""How long an integrative search's check of its results against a node's values takes (S6)."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import islice

from concord_dissonance import bootstrap as dissonance_parts
from concord_dissonance.config import Addresses
from concord_search.adapters.dissonance.client import JudgesClient
from concord_search.ports.graph import Statement
from concord_search.ports.judges import CheckStatus, Compared
from concord_search.usecases.check_statements import (
    BUDGET,
    CHECKED_RESULTS,
    CHECKED_STATEMENTS,
)
from concord_testing.serving import new_issuer

from tests.bench import sentences
from tests.bench.run import Run
from tests.bench.servers import graph, nowhere, served
from tests.bench.table import Bar, Row
from tests.bench.timing import timed

SPACE = "default"
CHECKS, WARM_UP = 40, 5
SHORT = [
    f"{how} {what}"
    for how in ("honest", "careful", "plain", "short", "open")
    for what in ("answers", "words", "tests", "sources", "plans")
]
LONG = list(islice(sentences.endless(12), CHECKED_STATEMENTS))
UNBOUND = 30.0
"""Seconds, in which every check ends."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """Two rows: checks that no time ends, and how many end within their time, for values of two
    words and for values as long as what is found."""
    issuer = new_issuer()
    texts = sentences.endless(11)
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(graph(run.folder / "checked" / "graph.db"))
        truth = await stack.enter_async_context(served(app.registrations, issuer=issuer))
        log = stack.enter_context(nowhere("dissonance"))
        addresses = Addresses(
            graph_address=truth.serving.address,
            search_address="unix:/nowhere",
            governance_address="unix:/nowhere",
        )
        judging = dissonance_parts.build(addresses, issuer, log=log)
        stack.push_async_callback(judging.close)
        live = await stack.enter_async_context(served(judging.registrations, issuer=issuer))
        judges = JudgesClient(live.serving.address, issuer)
        stack.push_async_callback(judges.close)

        async def check(values: Sequence[str], seconds: float) -> CheckStatus:
            pairs = compared(list(islice(texts, CHECKED_RESULTS)), values)
            return (await judges.verdicts(SPACE, pairs, seconds, use_models=False)).status

        count = run.size(CHECKS, WARM_UP)
        for what, values in (("short", SHORT), ("long", LONG)):
            await timed(partial(check, values), [UNBOUND] * WARM_UP)
            began = time.process_time()
            took = await timed(partial(check, values), [UNBOUND] * count)
            spent = (time.process_time() - began) / count * 1_000
            ended = [await check(values, BUDGET) for _ in range(count)]
            share = ended.count(CheckStatus.COMPLETE) / count
            note = f"p95 {took.at(95):.0f} ms; {spent:.0f} ms of a processor; {share:.0%} complete"
            yield Row(
                f"check of {CHECKED_RESULTS} results, {CHECKED_STATEMENTS} {what} values, p50",
                "ms",
                (took.at(50),),
                bar=Bar(BUDGET * 1_000) if values is SHORT else None,
                note=f"{note} in {BUDGET * 1_000:.0f} ms; results that were never read before",
            )


def compared(texts: Sequence[str], values: Sequence[str]) -> list[Compared]:
    """Each text beside each of a node's values, as a search compares them."""
    stated = [
        Statement(f"e{place}", f"agent VALUES {value}", ("agent", "VALUES", value))
        for place, value in enumerate(values)
    ]
    return [Compared(text, None, "", value) for text in texts for value in stated]
