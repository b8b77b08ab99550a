"""The port of a second check of a note's words."""

from __future__ import annotations

from typing import Protocol


class FramingJudge(Protocol):
    """A second check of a note that passed the lexicon (V3)."""

    async def violations(self, note: str) -> tuple[str, ...]:
        """Return the words that are not neutral, as they stand in the note; none when neutral.

        Raises:
            JudgeUnavailable: there is no usable answer within a bounded time.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...
