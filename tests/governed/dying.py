"""A system that dies after one of its commits: nothing is written from then on (V6, A1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from concord_governance.domain.errors import LedgerUnavailable
from concord_graph.adapters.sqlite.store import SqliteStore
from concord_graph.domain.errors import StoreUnavailable
from governed_world import World


class Death:
    """Counts the commits of graph's store and of the ledger, and comes after so many.

    What stands on the disk then is what a SIGKILL at that moment leaves: a commit is whole or not
    there, and between two of them nothing is written. Who waits for the one that was last, or
    writes after it, never hears of it.
    """

    def __init__(self, commits: int) -> None:
        self._left = commits
        self.came = commits == 0

    def counted(self, write: Any, error: Callable[[str], Exception]) -> Any:
        """Return a store's write with death in it."""

        async def written(*args: Any, **kwargs: Any) -> Any:
            if self.came:
                raise error("dead")
            done = await write(*args, **kwargs)
            self._left -= 1
            self.came = self.came or self._left <= 0
            if self.came:
                raise error("dead")
            return done

        return written


def die(live: World, patch: pytest.MonkeyPatch, commits: int) -> Death:
    """Let a running system die after so many commits; `patch` is undone when it has ended."""
    death = Death(commits)
    ledger = type(live.app._ledger)
    for store, error in ((SqliteStore, StoreUnavailable), (ledger, LedgerUnavailable)):
        patch.setattr(store, "write", death.counted(store.write, error))
    return death
