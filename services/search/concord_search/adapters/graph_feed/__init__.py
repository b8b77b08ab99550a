"""Graph, over its contract."""
