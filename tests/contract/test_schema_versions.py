"""The schemas in Neo4j carry a number that goes up with them (G16).

A database of a lower one is brought up to date when it is opened, one of the same is left as it is.
"""

from hashlib import sha256
from types import ModuleType

import pytest
from concord_governance.adapters.neo4j import schema as ledger
from concord_graph.adapters.neo4j import schema as graph

SCHEMAS = {"graph": graph, "ledger": ledger}
NEWEST = {
    "graph": (6, "5419e8d3a33a9721c4e3ffc7724907eb763d2a08a901dd4fef0699fa30932bb9"),
    "ledger": (3, "f599a117327b87052c7654f82b09cfb8f31ae604e118756b10998e5885debd98"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_differs_has_another_number(name: str) -> None:
    """G16 Or databases that stand would never get what was added: raise VERSION, then note it."""
    schema: ModuleType = SCHEMAS[name]
    digest = sha256("\n".join(schema.statements()).encode()).hexdigest()

    assert (schema.VERSION, digest) == NEWEST[name]
