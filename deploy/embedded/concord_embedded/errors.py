"""Why the embedded system cannot start."""


class StartError(Exception):
    """It cannot start; the text says why and what to do."""
