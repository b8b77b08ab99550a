"""The corpora that come with the client, in the JSON Lines import format."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def peps() -> Traversable:
    """Return the index of Python Enhancement Proposals: 736 facts, with their replacements.

    Numbers, titles, states and dates only; the index is in the public domain (CC0).
    """
    return files(__name__) / "peps.jsonl"
