"""What an operator sees of a running system: one address for all of it, and figures that hold."""

import asyncio
from pathlib import Path

from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.observe.metrics import Metrics
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import running
from concord_testing.scraping import free_port, scraped
from governed_world import HOUR, Party, World, edge_action

OPEN = "concord_governance_open_proposals"


async def test_one_address_shows_the_whole_system(tmp_path: Path) -> None:
    """W6 S10 Every service's health, calls and figures, and nothing of what is remembered."""
    port = free_port()
    environ = {"METRICS_ADDRESS": f"127.0.0.1:{port}"}
    async with running(tmp_path / "data", environ=environ, grace=1.0) as system:
        async with AsyncClient(Target(system.url, system.keys["default"])) as concord:
            memory = type_pb2.Memory(content="Poisoned tea is at four.", tags=["poison"])
            added = await concord.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
            fresh = type_pb2.Consistency(at_least_as_fresh=added.token)
            await concord.search.Search(
                search_pb2.SearchRequest(query="when is poisoned tea", consistency=fresh)
            )
        text = await scraped(port)

    for server in ("graph", "search", "governance", "dissonance"):
        assert f'concord_serving{{server="{server}"}} 1.0' in text
    lines = set(text.splitlines())
    assert {
        "concord_search_index_lag_changes 0.0",
        "concord_search_index_differing_memories 0.0",
        "concord_search_parked_changes 0.0",
        f'{OPEN}{{age="under_1h"}} 0.0',
        "concord_governance_rolled_back_spaces 0.0",
        'concord_dissonance_model_spend{unit="calls"} 0.0',
    } <= lines
    assert 'concord_rpc_handled_total{code="OK",method="Search",service="concord.search' in text
    assert 'concord_gateway_handled_total{code="OK",path="/concord.search' in text
    assert "oison" not in text


async def test_proposals_that_wait_are_counted_by_age(live: World, party: Party) -> None:
    """V4 W6 Whoever runs the system sees what people have not answered."""
    metrics = Metrics()
    live.app.measure(metrics)

    async def waiting() -> dict[str, float | None]:
        ages = ("under_1h", "under_1d", "under_2d", "over_2d")
        read = metrics.registry.get_sample_value
        found = [await asyncio.to_thread(read, OPEN, {"age": age}) for age in ages]
        return {age: count for age, count in zip(ages, found, strict=True) if count}

    first, second = [await party.propose(edge_action(target=value)) for value in ("a", "b")]
    made = await waiting()
    live.clock.now += 30 * HOUR
    third = await party.propose(edge_action(target="c"))
    later = await waiting()
    for each in (first, second, third):
        await party.decide(each)

    assert made == {"under_1h": 2}
    assert later == {"under_2d": 2, "under_1h": 1}
    assert await waiting() == {}
