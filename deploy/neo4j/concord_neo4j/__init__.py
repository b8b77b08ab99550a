"""A real Neo4j on loopback without Docker: from one Maven dependency, in a throw-away home."""
