"""Dissonance beside graph, search and governance, in the test's own process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from concord_dissonance.bootstrap import build
from concord_dissonance.config import Addresses
from concord_testing.serving import serving
from contract_live import Live, member
from dialectic_contracts import begun

DIALECTIC = "concord.dissonance.v1.DialecticService"
SERVICES = ("concord.dissonance.v1.DissonanceService", DIALECTIC)


@asynccontextmanager
async def with_dissonance(live: Live) -> AsyncIterator[Live]:
    """Run dissonance over a deployment until the block ends; it proposes nothing by itself."""
    graph = live.servings["concord.graph.v1.ConflictService"]
    addresses = Addresses(
        graph_address=graph.address,
        search_address=live.servings["concord.search.v1.SearchService"].address,
        governance_address=live.servings["concord.governance.v1.ProposalService"].address,
    )
    app = build(addresses, graph.issuer)
    try:
        async with serving(
            app.registrations, translate=app.translate, issuer=graph.issuer
        ) as dissonance:
            whole = Live(live.servings | dict.fromkeys(SERVICES, dissonance))
            for space in ("a", "b"):
                await whole.ask(member(space), f"{DIALECTIC}.Synthesize", begun(space))
            yield whole
    finally:
        await app.close()
