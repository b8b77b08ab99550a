"""Refusals of a batch: it is refused as a whole, and every wrong item is named."""

from __future__ import annotations

from collections.abc import Sequence


class ItemRefused(Exception):
    """One item of a batch was refused. `index`: its place, from 0; `cause`: the error."""

    def __init__(self, index: int, cause: Exception) -> None:
        super().__init__(f"item {index}: {cause}")
        self.index = index
        self.cause = cause


class BatchRefused(Exception):
    """A batch was refused as a whole: nothing was written."""

    def __init__(self, refusals: Sequence[ItemRefused]) -> None:
        super().__init__(f"{len(refusals)} items were refused")
        self.refusals = tuple(refusals)
