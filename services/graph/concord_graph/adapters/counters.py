"""A space's name, epoch and counters in a transaction: the same for every store."""

from __future__ import annotations

from concord_graph.ports import Clock


class Counters:
    """The part of a view that says of what it is."""

    _space_name: str
    _epoch: str
    _seq: int
    _last_time: int

    @property
    def space(self) -> str:
        return self._space_name

    @property
    def epoch(self) -> str:
        return self._epoch

    @property
    def last_time(self) -> int:
        return self._last_time

    async def head_seq(self) -> int:
        return self._seq


class Steps(Counters):
    """The part of a transaction that numbers its changes, and dates them step by step."""

    _clock: Clock
    _begun = False

    def step(self) -> None:
        self._begun = False

    def tick(self) -> tuple[int, int]:
        self._seq += 1
        return self._seq, self._time()

    def _time(self) -> int:
        """Return the step's record time, which is later than that of every step before."""
        if not self._begun:
            self._begun = True
            self._last_time = max(self._clock(), self._last_time + 1)
        return self._last_time

    def wind(self, seq: int, time: int) -> None:
        self._seq, self._last_time, self._begun = seq, time, False
