"""The schemas in Neo4j carry a number that goes up with them (G16).

A database of another one is refused when it is opened, one of the same is left as it is.
"""

from hashlib import sha256
from types import ModuleType

import pytest
from concord_governance.adapters.neo4j import schema as ledger
from concord_graph.adapters.neo4j import schema as graph

SCHEMAS = {"graph": graph, "ledger": ledger}
NEWEST = {
    "graph": (19, "9db469b83496f5b6a00241ad505900b70d05c2bb6157f9f45bb0e18ef656fd70"),
    "ledger": (6, "f847ab954c03a32d69eb6958ce37867da6ab1d17f4bee98ddcd356dc334f163f"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_differs_has_another_number(name: str) -> None:
    """G16 Or databases that stand would lack what was added: raise VERSION, then note it."""
    schema: ModuleType = SCHEMAS[name]
    digest = sha256("\n".join(schema.statements()).encode()).hexdigest()

    assert (schema.VERSION, digest) == NEWEST[name]
