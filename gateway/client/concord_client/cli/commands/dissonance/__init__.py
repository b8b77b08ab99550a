"""Commands on conflicts."""
