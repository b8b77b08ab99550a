"""Opens proposals for suggestions that come from no conflict, each once."""

import asyncio
import hashlib
from collections import defaultdict

from concord_chassis.observe.log import Logger

from concord_dissonance.domain.errors import ServiceRefused
from concord_dissonance.domain.suggestions import Promote, Suggestion, key_of, occasion_of
from concord_dissonance.ports.governance import Governance, Proposal

MOST_WAITING = 5
"""The most suggestions that wait in a space; conflicts keep the rest of dissonance's 20 places."""


class Suggestions:
    """The use case. Governance knows the suggestions of before, whatever became of them."""

    def __init__(self, governance: Governance, log: Logger) -> None:
        self._governance, self._log = governance, log
        self._busy: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def open(self, space: str, suggestion: Suggestion) -> Proposal | None:
        """The proposal of a suggestion, new or waiting.

        None if it is refused, if all places are taken, or if a promotion was decided before.

        Raises `ServiceUnavailable`.
        """
        key = key_of(suggestion)
        async with self._busy[space]:
            waiting = [each for each in await self._governance.pending(space) if each.suggestion]
            same = next((each for each in waiting if each.suggestion == key), None)
            if same is not None:
                return same
            if isinstance(suggestion, Promote):
                # A promotion recurs every session; for others the request id prevents a second.
                before = await self._governance.about(space, suggestion.item_id)
                if any(each.suggestion == key for each in before):
                    return None
            if len(waiting) >= MOST_WAITING:
                self._log.info("not suggested", space=space, why="enough wait")
                return None
            try:
                request_id = hashlib.sha256(occasion_of(suggestion).encode()).hexdigest()
                return await self._governance.suggest(space, request_id, suggestion)
            except ServiceRefused as refused:
                self._log.info("not suggested", space=space, why=refused.reason)
                return None
