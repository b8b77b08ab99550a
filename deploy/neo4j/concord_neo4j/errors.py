"""The error of a local Neo4j server that does not start."""


class CannotStart(Exception):
    """The server cannot start; the text says what to do."""
