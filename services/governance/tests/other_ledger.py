"""Which tests are one ledger's alone, and why. Every other test runs over both.

Where Neo4j is not SQLite's equal, and the port allows it:
- A second writer waits for the space's lock up to a transaction's time (60 s), not five seconds;
  then both say LedgerBusy.
- `scrub` has nothing to do: no query shows what was removed, but its bytes stay in the server's
  files until its operator compacts the store (spec M4).
- Community has no triggers: only the ledger's own statements and constraints keep the log
  append-only. Who else has the password can write what they like, and `concord audit verify` finds
  it, as it does in a file.
- Receipts of over seven days go when their own space keeps one, in SQLite when any space does.
- It never says LedgerCorrupt: damage of the server's files is the server's to tell.
"""

from __future__ import annotations

import ledger_world

_HERE = "services/governance/tests/"
ONLY_SQLITE = {
    "test_ledger_file.py": "attacks and locks the file; Neo4j has none of ours",
    "test_ledger_schemas.py": "opens a file; the first release has one schema in Neo4j",
}
ONLY_NEO4J = {
    "test_ledger_neo4j.py": "a server that is shared, unusable or written past us; SQLite has a "
    "file, and triggers in it",
}


def why_not(node_id: str) -> str:
    """Return why a test does not run over the chosen store; empty when it does."""
    others = ONLY_SQLITE if ledger_world.is_neo4j() else ONLY_NEO4J
    return next((why for name, why in others.items() if node_id.startswith(_HERE + name)), "")
