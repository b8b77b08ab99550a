"""A second look at the words of a note."""

from __future__ import annotations

from typing import Protocol


class FramingJudge(Protocol):
    """A second look at a note that the lexicon let pass (V3)."""

    async def violations(self, note: str) -> tuple[str, ...]:
        """Return the words that are not neutral, as they stand in the note; none when neutral.

        Raises:
            JudgeUnavailable: there is no usable answer within a bounded time.
        """
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...
