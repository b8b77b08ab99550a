"""Ports for parsers and clocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concord_graph.domain.links import WrittenLink

LinkParser = Callable[[str], Sequence[WrittenLink]]
ConceptExtractor = Callable[[str], Sequence[str]]
Clock = Callable[[], int]
