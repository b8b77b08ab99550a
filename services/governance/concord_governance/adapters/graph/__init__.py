"""The graph service, over its contract."""
