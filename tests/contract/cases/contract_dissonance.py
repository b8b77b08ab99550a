"""Dissonance beside graph, search and governance, in the test's own process."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from concord_dissonance.bootstrap import build
from concord_dissonance.config import Addresses
from concord_dissonance.domain.sides import Micros
from concord_testing.chat_endpoint import serving_chat
from concord_testing.council import council_file, reviewing
from concord_testing.serving import serving
from contract_live import Live, frozen_clock, member
from dialectic_contracts import begun

DIALECTIC = "concord.dissonance.v1.DialecticService"
SERVICES = ("concord.dissonance.v1.DissonanceService", DIALECTIC)


def _clock() -> Micros:
    return Micros(frozen_clock())


@asynccontextmanager
async def with_dissonance(live: Live) -> AsyncIterator[Live]:
    """Run dissonance over a deployment until the block ends; it proposes nothing by itself."""
    graph = live.servings["concord.graph.v1.ConflictService"]
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(serving_chat(reviewing))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="concord-")))
        addresses = Addresses(
            graph_address=graph.address,
            search_address=live.servings["concord.search.v1.SearchService"].address,
            governance_address=live.servings["concord.governance.v1.ProposalService"].address,
            llm_spaces=frozenset({"a", "b"}),
            models_file=council_file(folder, endpoint.url),
        )
        app = build(addresses, graph.issuer, clock=_clock)
        stack.push_async_callback(app.close)
        dissonance = await stack.enter_async_context(
            serving(app.registrations, issuer=graph.issuer)
        )
        whole = Live({**live.servings, **dict.fromkeys(SERVICES, dissonance)})
        for space in ("a", "b"):
            await whole.ask(member(space), f"{DIALECTIC}.Synthesize", begun(space))
        yield whole
