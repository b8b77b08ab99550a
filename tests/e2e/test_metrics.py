"""What an operator sees of a running system: one address for all of it, figures that hold, and a
dashboard and a page that name what there is."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.observe.metrics import Metrics
from concord_client import AsyncClient
from concord_client.credentials import Target
from concord_embedded import running
from concord_testing.scraping import free_port, scraped
from governed_world import HOUR, Party, World, edge_action
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

OPEN = "concord_governance_open_proposals"
DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD: dict[str, Any] = json.loads(
    (DEPLOY / "helm/concord/dashboards/concord.json").read_text("utf-8")
)
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The metrics of a running system that remembered something and found it."""
    port = free_port()
    data, environ = tmp_path_factory.mktemp("metrics"), {"METRICS_ADDRESS": f"127.0.0.1:{port}"}
    async with running(data / "data", environ=environ, grace=1.0) as system:
        async with AsyncClient(Target(system.url, system.keys["default"])) as concord:
            memory = type_pb2.Memory(content="Poisoned tea is at four.", tags=["poison"])
            added = await concord.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
            fresh = type_pb2.Consistency(at_least_as_fresh=added.token)
            await concord.search.Search(
                search_pb2.SearchRequest(query="when is poisoned tea", consistency=fresh)
            )
        return await scraped(port)


@pytest.fixture
def families(told: str) -> dict[str, Metric]:
    """The metrics by name, without the times at which series began."""
    found = {each.name: each for each in text_string_to_metric_families(told)}
    return {name: each for name, each in found.items() if not name.endswith("_created")}


def test_one_address_shows_the_whole_system(told: str) -> None:
    """W6 S10 Every service's health, calls and figures, and nothing of what is remembered."""
    for server in ("graph", "search", "governance", "dissonance"):
        assert f'concord_serving{{server="{server}"}} 1.0' in told
    lines = set(told.splitlines())
    assert {
        "concord_search_index_lag_changes 0.0",
        "concord_search_index_differing_memories 0.0",
        "concord_search_parked_changes 0.0",
        f'{OPEN}{{age="under_1h"}} 0.0',
        "concord_governance_rolled_back_spaces 0.0",
        'concord_dissonance_model_spend{unit="calls"} 0.0',
    } <= lines
    assert 'concord_rpc_handled_total{code="OK",method="Search",service="concord.search' in told
    assert 'concord_gateway_handled_total{code="OK",path="/concord.search' in told
    assert "oison" not in told


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


def test_every_query_of_the_dashboard_names_what_there_is(
    families: dict[str, Metric],
) -> None:
    """Must hold: metrics and labels that exist; and every metric is shown."""
    there = {
        f"{name}{suffix}": name for name, each in families.items() for suffix in SUFFIXES[each.type]
    }
    labels = {label for _, each in page().items() for label in each} | {"le"}
    shown = set()
    for query in QUERIES:
        names = set(re.findall(r"concord_\w+", query))
        assert names <= there.keys(), query
        asked = re.findall(r"by \(([^)]*)\)", query) + re.findall(r"\{(\w+)[!=]", query)
        assert {each for group in asked for each in group.split(", ")} <= labels, query
        shown |= {there[name] for name in names}

    assert shown == families.keys()


def test_the_page_names_every_metric_with_its_labels(families: dict[str, Metric]) -> None:
    """Must hold: no metric is undocumented, none is documented that there is not."""
    names = {
        f"{name}_total" if each.type == "counter" else name: each for name, each in families.items()
    }

    documented = page()

    assert documented.keys() == names.keys()
    for name, each in names.items():
        seen = {label for sample in each.samples for label in sample.labels} - {"le"}
        assert not seen or seen == set(documented[name]), name


@pytest.mark.parametrize("panel", DASHBOARD["panels"], ids=lambda panel: panel["title"])
def test_a_panel_asks_the_chosen_prometheus(panel: dict[str, Any]) -> None:
    """Must hold: the dashboard works wherever it is imported."""
    for each in (panel, *panel["targets"]):
        assert each["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def page() -> dict[str, list[str]]:
    """The labels of each metric, as the page's table has them."""
    text = (DEPLOY / "OBSERVABILITY.md").read_text("utf-8")
    rows = re.findall(r"^\| `(concord_\w+)` \| ([^|]*) \|", text, re.M)
    return {name: [] if labels == "–" else labels.split(", ") for name, labels in rows}
