"""The shared ledger: a label set of its own in a Neo4j database."""
