"""A real Neo4j server on loopback without Docker: from one Maven dependency, in its own folder."""
