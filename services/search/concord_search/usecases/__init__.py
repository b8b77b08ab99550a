"""Search's use cases, one a module."""
