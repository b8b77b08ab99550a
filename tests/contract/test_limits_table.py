"""The table of limits, `services/LIMITS.md`, says what the code does."""

import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import concord_dissonance.config
import concord_gateway.config
import concord_governance.config
import concord_graph.config
import concord_search.config
import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

TABLE = Path(__file__).parents[2] / "services" / "LIMITS.md"
MODELS: dict[str, tuple[type[BaseModel], ...]] = {
    "GATEWAY_": (concord_gateway.config.Config,),
    "GRAPH_": (concord_graph.config.GraphConfig, concord_graph.config.SqliteConfig),
    "GOVERNANCE_": (
        concord_governance.config.GovernanceConfig,
        concord_governance.config.SqliteConfig,
    ),
    "SEARCH_": (concord_search.config.SearchConfig,),
    "DISSONANCE_": (concord_dissonance.config.DissonanceConfig,),
}
SETTINGS: dict[str, FieldInfo] = {
    f"{prefix}{name.upper()}": field
    for prefix, models in MODELS.items()
    for model in models
    for name, field in model.model_fields.items()
    if field.annotation in {int, float}
}


class Row(NamedTuple):
    """A line of the table."""

    name: str
    default: str
    bounds: str


def rows() -> list[Row]:
    """The lines of the table."""
    found = re.findall(
        r"^\| [^|]+ \| `([^`|]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", TABLE.read_text(), re.M
    )
    return [Row(*each) for each in found]


def written(number: float) -> str:
    """A number as the table writes it."""
    return f"{number:,.15g}"


def bounds(field: FieldInfo) -> str:
    """The bounds of a setting as the table writes them."""
    found = {
        name: getattr(each, name)
        for each in field.metadata
        for name in ("ge", "gt", "le")
        if hasattr(each, name)
    }
    least = written(found["ge"]) if "ge" in found else f"above {written(found['gt'])}"
    return f"{least} to {written(found['le'])}"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_each_limit_is_what_the_table_says(row: Row) -> None:
    """W7 Its default, and the bounds that are checked at the start."""
    if row.name in SETTINGS:
        field = SETTINGS[row.name]
        assert (row.default, row.bounds) == (written(field.default), bounds(field))
    else:
        module, _, name = row.name.rpartition(".")
        assert row.default == written(getattr(import_module(module), name))
        assert row.bounds == "fixed"


def test_every_number_that_can_be_set_has_bounds_and_stands_in_the_table_once() -> None:
    """W7 All limits stand in one table."""
    names = [row.name for row in rows()]

    assert len(names) == len(set(names))
    assert SETTINGS.keys() <= set(names)
    assert all(bounds(field) for field in SETTINGS.values())
