"""The time."""

from collections.abc import Callable

from concord_search.domain.instants import Micros

Clock = Callable[[], Micros]
"""Tells the time now."""
