"""Why a Neo4j of one's own does not start."""


class CannotStart(Exception):
    """It cannot start; the text says what to do."""
