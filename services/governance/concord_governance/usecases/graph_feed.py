"""Follows graph's feed, and appends its audit events to the log, once and in order (A1)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from functools import partial

from concord_attestation.instants import format_time
from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background, Work

from concord_governance.domain.access import MOST_SPACES, SYSTEM_SPACE
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import (
    GovernanceError,
    GraphRefused,
    GraphRolledBack,
    GraphUnavailable,
)
from concord_governance.domain.proposals import Json
from concord_governance.ports.graph import FeedMessage, Graph, GraphEvent, Head
from concord_governance.ports.ledger import Cursor, Ledger, LedgerWrites
from concord_governance.usecases.imports import REFUSED, Imports
from concord_governance.usecases.notice import Notice
from concord_governance.usecases.revocations import apply_revocation

DELETED = 3
ERASED = 8
SELECTION_ERASED = 13
FOLLOW = "follow graph"
"""The name of the task that does it."""
_ENROL = "EnrolPrincipals"
_RETRY_SECONDS = 0.5
_REACH_SECONDS = 5.0
_COMPARE_SECONDS = 10.0
"""Seconds between two comparisons of graph's heads with the ledger's cursors."""


class GraphFollower:
    """Appends graph's events to the log, with the cursor of the feed in the same transaction."""

    def __init__(self, ledger: Ledger, graph: Graph, background: Background, log: Logger) -> None:
        self._ledger = ledger
        self._graph = graph
        self._background = background
        self._log = log
        self.is_following = False
        self.rolled_back: frozenset[str] = frozenset()
        """Spaces of which graph lacks the ledger's last change: it is older, or another copy."""
        self._cursors: dict[str, Cursor] = {}
        self._cursor_moved = Notice()
        self._imports = Imports()

    def demand_not_rolled_back(self, space: str) -> None:
        """Refuse a write in a space whose graph is older than the ledger.

        Raises:
            GraphRolledBack: the log could not record graph's changes in this space.
        """
        if self.is_rolled_back(space):
            raise GraphRolledBack(
                "graph is older than the audit log of this space: restore the newer copy of it"
            )

    def is_rolled_back(self, space: str) -> bool:
        """Return whether a space's graph is older than the ledger."""
        return space in self.rolled_back

    def mark_rolled_back(self, space: str) -> None:
        """Add a space to `rolled_back`, and log that once."""
        if space not in self.rolled_back:
            self.rolled_back |= {space}
            self._log.error(
                "graph is older than the audit log",
                space=space,
                log=self._cursors.get(space, Cursor()).seq,
                action="stop Concord and restore the newer copy of graph's store",
            )

    async def wait_for(self, space: str, epoch: str, seq: int) -> bool:
        """Wait up to `_REACH_SECONDS` for a change of graph in the ledger; return whether it came.

        Another replica may append the change, so the ledger is also asked at intervals.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + _REACH_SECONDS
        while True:
            moved = self._cursor_moved.next()  # before the look: what comes after it is not missed
            cursor = await self._ledger.read(space, lambda tx: tx.feed_cursor())
            if cursor.epoch == epoch and cursor.seq >= seq:
                return True
            if (left := until - clock()) <= 0:
                return False
            await asyncio.wait([moved], timeout=min(left, _RETRY_SECONDS))

    async def run(self) -> None:
        """Follow graph until cancelled.

        If graph falls silent or the ledger cannot be written, begin again at the ledger's cursors.
        """
        while True:
            try:
                while True:
                    await self._follow()
            except GovernanceError as error:
                self._log.warning("graph not followed", reason=str(error))
            finally:
                self.is_following = False
            await asyncio.sleep(_RETRY_SECONDS)

    async def _follow(self) -> None:
        """Follow until a rolled back space is whole again, or one that failed may try again.

        A space of which a message could not be applied, by a bug of ours, is left out until then.
        """
        self._imports.clear()
        self._cursors = {
            space: await self._ledger.read(space, lambda tx: tx.feed_cursor())
            for space in await self._ledger.spaces()
        }
        if await has_too_many_spaces(self._ledger):
            self._log.warning(
                "too many spaces",
                followed=len(self._cursors),
                most=MOST_SPACES,
                action="make no more; all is followed, but slower",
            )
        await self._find_rolled_back(self._cursors)
        for space in self._cursors.keys() - self.rolled_back:
            # erasures that the last stop left unconfirmed
            await self._tried(space, partial(self._confirm, space))
        clock, failing = asyncio.get_running_loop().time, set[str]()
        compared, again_at = clock(), float("inf")
        async with contextlib.aclosing(self._graph.watch(self._cursors)) as watched:
            async for message in watched:
                self.is_following = True
                space = message.space
                followed = space and space not in self.rolled_back | failing
                apply = partial(self.apply, message)
                if followed and (rest := await self._tried(space, apply)):
                    failing.add(space)
                    again_at = min(again_at, clock() + rest)
                if clock() >= again_at:
                    return
                if clock() - compared >= _COMPARE_SECONDS:
                    before, compared = self.rolled_back, clock()
                    await self._find_rolled_back(before)
                    if before - self.rolled_back:
                        return
        raise GraphUnavailable("the feed ended")

    async def _tried(self, space: str, work: Work) -> float:
        return await self._background.tried(FOLLOW, space, work, passing=(GovernanceError,))

    async def _find_rolled_back(self, by_digest: Collection[str]) -> None:
        """Set `rolled_back`, by comparing the ledger's last change of each space with graph.

        For the spaces in `by_digest` the change's digest is compared, for the others only its
        number: that costs graph no read, and each message of the feed names the digest before it.
        """
        compared = {
            space: cursor if space in by_digest else cursor._replace(change_digest="")
            for space, cursor in self._cursors.items()
        }
        heads = await self._graph.heads(compared)
        found = {space for space, cursor in compared.items() if _is_behind(heads, space, cursor)}
        self.rolled_back &= found
        for space in sorted(found):
            self.mark_rolled_back(space)

    async def apply(self, message: FeedMessage) -> None:
        """Append one message's events, unless the log has them.

        An import's changes are appended, and the cursor moved, with the import's last message. A
        message that does not follow the log's last change comes from another copy of graph: it is
        dropped, and the space counts as rolled back.
        """
        self._imports.take(message)
        if message.importing:
            return
        erased = [*self._imports.erased(message.space), *message.erased]
        cursor_after = Cursor(message.epoch, message.seq, message.change_digest)

        async def work(tx: LedgerWrites) -> bool:
            cursor = await tx.feed_cursor()
            start = cursor.seq if cursor.epoch == message.epoch else 0
            if message.seq <= start:
                return True
            if not _follows(message, cursor):
                return False
            fresh = await self._entries(tx, message, start)
            if fresh:
                await tx.append(fresh)
            for item_id, is_memory in erased:
                await tx.forget_words(item_id, confirm=is_memory)
            await tx.move_cursor(cursor_after)
            return True

        if not await self._ledger.write(message.space, work):
            self.mark_rolled_back(message.space)
            return
        self._cursors[message.space] = cursor_after
        self._imports.done(message.space)
        self._cursor_moved.give()
        if erased:
            await self._confirm(message.space)

    async def _entries(self, tx: LedgerWrites, message: FeedMessage, start: int) -> list[Entry]:
        """Return the entries of events after change `start`.

        Imported events were recorded by another system: only their import has entries.
        """
        fresh: list[Entry] = []
        for event in message.events:
            if event.restore_grant and event.seq > start:
                fresh += self._imports.entries(message.space, event)
            elif event.seq > start and not event.imported:
                fresh.append(
                    await apply_revocation(tx, event) if event.revocation else entry_of(event)
                )
        return fresh

    async def _confirm(self, space: str) -> None:
        """Confirm erasures to graph once the ledger's files have no byte of the words left.

        While an open read keeps the files from being rewritten, this tries again.
        """
        erased = await self._ledger.read(space, lambda tx: tx.unconfirmed())
        while erased and not await self._ledger.scrub():  # noqa: ASYNC110 - files are tried anew
            await asyncio.sleep(_RETRY_SECONDS)
        for memory_id in erased:
            with contextlib.suppress(GraphRefused):  # graph awaits no confirmation
                await self._graph.confirm_erased(space, memory_id)
            await self._ledger.write(space, lambda tx, m=memory_id: tx.confirmed(m))  # type: ignore[misc] # the default binds the loop's value


async def has_too_many_spaces(ledger: Ledger) -> bool:
    """Return whether there are so many spaces that no more are made."""
    return await ledger.read(SYSTEM_SPACE, lambda tx: tx.space_count()) >= MOST_SPACES


def _is_behind(heads: Mapping[str, Head], space: str, cursor: Cursor) -> bool:
    """Return whether graph lacks a space's last change in the ledger."""
    if not cursor.seq:
        return False
    head = heads.get(space)
    if head is None or head.epoch != cursor.epoch:
        return bool(cursor.change_digest)
    return head.lacks_cursor


def _follows(message: FeedMessage, cursor: Cursor) -> bool:
    """Return whether a message continues at the ledger's cursor.

    It may overlap: another replica may have appended the beginning of it.
    """
    overlaps = message.epoch == cursor.epoch and message.first <= cursor.seq
    continues = message.previous_change_digest == cursor.change_digest
    return not cursor.change_digest or overlaps or continues


def entry_of(event: GraphEvent) -> Entry:
    """Return the log's entry for an allowed or refused write to a constitutive item, or for an
    erasure by selection."""
    blocked = event.change_type == REFUSED
    removed = event.change_type in (DELETED, ERASED)
    deletes = removed or event.method.startswith(("Delete", "Forget", "Erase"))
    if blocked:
        action = Action.DELETE_ATTEMPT if deletes else Action.WRITE_ATTEMPT
    elif event.change_type == SELECTION_ERASED:
        action = Action.SELECTION_ERASED
    elif event.method == _ENROL:
        action = Action.GENESIS
    else:
        action = Action.DELETE_SUCCESS if deletes else Action.WRITE_SUCCESS
    evidence: dict[str, Json] = {
        "graph_seq": event.seq,
        "record_time": format_time(event.record_time),
        "revision": event.revision,
        "method": event.method,
        "request_id": event.request_id,
        "digest": event.digest,
        "before_digest": event.before_digest,
    }
    if event.constitutive:
        evidence["ends"] = dict(event.ends)
    return Entry(
        action=action,
        actor=_actor(event.actor, blocked=blocked),
        principal=event.principal,
        item_id=event.item_id,
        item_kind=event.item_kind,
        blocked=blocked,
        reason=event.reason,
        properties=evidence,
    )


def _actor(kind: str, *, blocked: bool) -> Actor:
    """Return an event's actor.

    An event from before the feed named actors gets AGENT if it was refused, else SYSTEM.
    """
    if kind in Actor.__members__:
        return Actor[kind]
    return Actor.AGENT if blocked else Actor.SYSTEM
