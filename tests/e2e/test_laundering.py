"""No way to make words look higher than whoever wrote them (W8).

What a tool read or an import brought is told again in every way there is; nobody's words rise but
by a person's own statement. CONCORD_LAUNDERED=n tries n times.
"""

import os
from collections.abc import AsyncIterator

import pytest
from concord.dissonance.v1 import dialectic_pb2_grpc
from concord.governance.v1 import proposal_pb2_grpc
from concord.graph.v1 import memory_pb2_grpc
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_testing.laundering import AGENT, HONEST, VERIFIED, WAYS, Keys, Writer, of
from dissonance_over_graph import ASKING, Dissonant, dissonant
from governed_world import World

TRIED = int(os.environ.get("CONCORD_LAUNDERED", "200"))
SCOPES = ASKING | {"search:read"}


def writer(works: Dissonant, name: str, kind: str, origin: str) -> Writer:
    """A key of the space."""
    who = Caller("one", name, SCOPES, kind, origin=origin)
    world = works.world
    assert works.search is not None
    return Writer(
        memory_pb2_grpc.MemoryServiceStub(world.graph.channel(who)),
        proposal_pb2_grpc.ProposalServiceStub(world.governance.channel(who)),
        dialectic_pb2_grpc.DialecticServiceStub(works.served.channel(who, cap=60)),
        search_pb2_grpc.SearchServiceStub(works.search.channel(who)),
    )


@pytest.fixture
async def keys(live: World) -> AsyncIterator[Keys]:
    """Every service, and a space with these keys."""
    party = live.party()
    await party.enrol()
    async with dissonant(live, follow=False) as works:
        yield Keys(
            writer(works, "anna", "HUMAN", "HUMAN"),
            writer(works, "agent", "AGENT", "AGENT"),
            writer(works, "helper", "AGENT", "AGENT"),
            writer(works, "crawler", "SYSTEM", "TOOL"),
            party.propose,
            party.decide,
        )


async def test_nobodys_words_rise(keys: Keys) -> None:
    """W8 0 of 200 over summary, extraction, merge, synthesis, import, tool echo and agreement."""
    raised = []
    for number in range(TRIED):
        way = WAYS[number % len(WAYS)]
        told, most = await way(keys, number)
        assert told.id, way
        if not told.words_origin or told.words_origin < most:
            raised.append((way.__name__, number, told.origin, told.words_origin))

    assert raised == []


async def test_honest_words_stay_whose_they_are(keys: Keys) -> None:
    """W8 At least .98 of as many keep the origin that they have a right to."""
    kept = 0
    for number in range(TRIED):
        told, whose = await HONEST[number % len(HONEST)](keys, number)
        kept += told.words_origin == whose

    assert kept >= 0.98 * TRIED


async def test_a_search_goes_by_whose_words_they_are(keys: Keys) -> None:
    """W8 S2 Its filter, the least trust, and what it says of them; a claim of trust counts for
    nothing."""
    verified = [type_pb2.Source(speaker="owner; written by a person", trust=VERIFIED)]
    read = await keys.tool.add("The harbour opens at six.", id="read", sources=verified)
    said = await keys.agent.add("The harbour opens at nine.", id="said")
    await keys.agent.add("The harbour opens early.", id="sum", sources=of(read))
    await keys.person.add("The harbour is mine.", id="own", sources=of(said))

    async def found(**wanted: object) -> dict[str, str]:
        request = search_pb2.SearchRequest(
            query="harbour",
            filter=search_pb2.SearchFilter(**wanted),  # type: ignore[arg-type]
            peek=True,
        )
        request.consistency.at_least_as_fresh = keys.person.token
        reply = await keys.person.search.Search(request)
        return {each.memory.id: each.provenance for each in reply.results}

    assert set(await found(words_origins=[AGENT])) == {"said"}
    assert set(await found(origins=[AGENT])) == {"said", "sum"}
    assert set(await found(min_trust=type_pb2.TRUST_LEVEL_VERIFIED)) == {"own"}
    assert set(await found(min_trust=type_pb2.TRUST_LEVEL_REPORTED)) == {"own", "said"}
    told = await found()
    assert "written by an agent; " in told["sum"]
    assert "a tool" in told["sum"]
    assert 'written by a tool; said by "owner; written by a person"; claims' in told["read"]
