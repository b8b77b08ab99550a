"""Which tests are one store's alone, and why. Every other test of graph runs over both stores."""

from __future__ import annotations

import neo4j_at_hand

_HERE = "services/graph/tests/"
ONLY_SQLITE = {
    "test_erased_bytes.py": "looks for bytes in the file and its log; Neo4j keeps them until its "
    "operator compacts the store (spec M4)",
    "test_statement_plans.py": "SQLite's plans; Neo4j's are in store_contract/test_neo4j_plans.py",
    "test_store_failures.py": "damages, locks and replaces the file: Neo4j has none of ours",
    "test_store_triggers.py": "attacks the file with SQL, past graph; Neo4j Community has no "
    "triggers, so there only graph's own statements hold, as store_contract/test_second_line.py "
    "shows, and who else has the password can write what they like",
    "test_crash_safety.py": "kills the process that holds the store; with Neo4j that is another "
    "one, as store_contract/test_server_killed.py shows",
    "succession/test_settled_anew.py": "reads the table of the file",
}
ONLY_NEO4J = {
    "store_contract/test_second_line.py": "the flush statement's guard; SQLite has triggers",
    "store_contract/test_server_killed.py": "SQLite has no server",
    "store_contract/test_neo4j_model.py": "what a person sees in Neo4j Browser, and how it is read",
    "store_contract/test_neo4j_plans.py": "Neo4j's plans; SQLite's are in test_statement_plans.py",
    "store_contract/test_neo4j_feed.py": "locks, and several processes; SQLite has one writer",
    "store_contract/test_neo4j_start.py": "a server that cannot be used; SQLite has a file",
}


def why_not(node_id: str) -> str:
    """Return why a test does not run over the chosen store; empty when it does."""
    others = ONLY_SQLITE if neo4j_at_hand.is_chosen() else ONLY_NEO4J
    return next((why for name, why in others.items() if node_id.startswith(_HERE + name)), "")
