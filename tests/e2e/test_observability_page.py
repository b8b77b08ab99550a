"""What operators are given, the dashboard and the page, names metrics that a system has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from concord_embedded import running
from concord_testing.scraping import free_port, scraped
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "concord.json").read_text("utf-8"))
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@pytest_asyncio.fixture(loop_scope="function")
async def families(tmp_path: Path) -> dict[str, Metric]:
    """The metrics of a running system by name, without the times at which series began."""
    environ = {"METRICS_ADDRESS": f"127.0.0.1:{(port := free_port())}"}
    async with running(tmp_path / "data", environ=environ, grace=1.0):
        text = await scraped(port)
    found = {each.name: each for each in text_string_to_metric_families(text)}
    return {name: each for name, each in found.items() if not name.endswith("_created")}


async def test_every_query_of_the_dashboard_names_what_there_is(
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


async def test_the_page_names_every_metric_with_its_labels(families: dict[str, Metric]) -> None:
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
