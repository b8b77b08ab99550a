"""Creates, lists and deletes spaces (W7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from concord_attestation.consent import ConsentError
from concord_attestation.deletion import verify_deletion
from concord_chassis.observe.log import Logger
from concord_chassis.server.background import Background

from concord_governance.domain.access import (
    MOST_SPACES,
    SYSTEM_SPACE,
    Space,
    demand_free_space_name,
    demand_operator,
    digest_of,
    is_space_name,
    new_secret,
)
from concord_governance.domain.entries import Action
from concord_governance.domain.errors import (
    FieldInvalid,
    GovernanceError,
    SpaceDeleted,
    SpaceExists,
    SpaceNotFound,
    TooManySpaces,
)
from concord_governance.domain.proposals import Json
from concord_governance.ports.graph import Graph
from concord_governance.ports.ledger import LedgerWrites
from concord_governance.usecases.ledger_commands import (
    Caller,
    LedgerCommands,
    Request,
    command_entry,
)
from concord_governance.usecases.notice import Notice

ERASE = "erase deleted spaces"
"""The name of the task that does it."""
ERASE_AGAIN_SECONDS = 1.0
"""Seconds from a failed erasure of a deleted space to the next attempt."""
ERASED_SECONDS = 5.0
"""Seconds that the reply to a deletion waits for the erasure, which goes on in the background."""


class Spaces:
    """Operators' commands on spaces, and the background task that erases deleted spaces."""

    def __init__(
        self, commands: LedgerCommands, graph: Graph, background: Background, log: Logger
    ) -> None:
        self._commands = commands
        self._background = background
        self._ledger = commands.ledger
        self._graph = graph
        self._log = log
        self._due = asyncio.Event()
        self._due.set()
        self._erased = Notice()

    async def create(self, request: Request, name: str) -> tuple[Space, str]:
        """Create a space; return it with its enrolment secret, empty once it has its genesis.

        A repeated request draws a new secret: the first reply may have been lost, and graph may not
        have registered the first secret.
        """

        async def work(tx: LedgerWrites, now: int) -> str:
            if not is_space_name(name) or await tx.lock_space(name) is not None:
                raise SpaceExists("this name is or was in use")
            if await tx.space_count() >= MOST_SPACES:
                raise TooManySpaces(MOST_SPACES)
            await tx.put_space(Space(name, now, request.caller.principal))
            await tx.append([command_entry(request.caller, Action.SPACE_CREATE, {"space": name})])
            return name

        async with self._commands.recording_refusals(request, space=name):
            demand_operator(request.space, request.caller.permissions)
            demand_free_space_name(name)
            await self._commands.once(request, SYSTEM_SPACE, work)
        space = await self._space(name)
        if space.delete_time is not None:
            raise SpaceDeleted("this space was deleted")
        secret = new_secret()
        enrolled = await self._graph.register_space(name, digest_of(secret))
        return space, "" if enrolled else secret

    async def delete(self, request: Request, name: str, typed_name: str, statement: bytes) -> Space:
        """Delete a space for ever: revoke its keys, and begin to erase it; return the space.

        `statement`: both slots' signed statement, which a space with a genesis needs.

        Raises:
            DeletionInvalid: the space has a genesis, and `statement` is not signed by both slots.
            FieldInvalid: the space has no genesis, and there is a `statement`: another's, likely.
        """

        async def work(tx: LedgerWrites, now: int) -> str:
            space = await tx.lock_space(name)
            if space is None or name == SYSTEM_SPACE:
                raise SpaceNotFound("there is no such space")
            if space.delete_time is not None:
                raise SpaceDeleted("this space was deleted")
            evidence = await mark_deleted(tx, space, now, statement)
            await tx.append([command_entry(request.caller, Action.SPACE_DELETE, evidence)])
            return name

        async with self._commands.recording_refusals(request, space=name):
            demand_operator(request.space, request.caller.permissions)
            if typed_name != name:
                raise FieldInvalid("typed_name", "is not the name of the space")
            if not await self._commands.is_claimed(request):
                keys = await self._graph.principal_keys(name)
                if keys is not None:
                    verify_deletion(statement, keys.genesis, self._commands.clock())
                elif statement:
                    raise FieldInvalid("statement", "must be absent: the space has no genesis")
                await self._commands.once(request, SYSTEM_SPACE, work)
        self._due.set()
        return await self._until_erased(name)

    async def by_name(
        self, caller: Caller, after: str, limit: int, *, deleted: bool
    ) -> Sequence[Space]:
        """Return up to `limit` spaces in the order of their names, from after the name `after`."""
        demand_operator(caller.space, caller.permissions)
        return await self._ledger.read(
            SYSTEM_SPACE, lambda tx: tx.space_list(after, limit, deleted=deleted)
        )

    async def run(self) -> None:
        """Erase deleted spaces until cancelled, also those that were not erased before a stop."""
        while True:
            await self._due.wait()
            self._due.clear()
            for name in await self._to_erase():
                if await self._background.tried(ERASE, name, partial(self._erase, name)):
                    self._due.set()
            if self._due.is_set():
                await asyncio.sleep(ERASE_AGAIN_SECONDS)

    async def _to_erase(self) -> Sequence[str]:
        try:
            return await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.spaces_to_erase())
        except GovernanceError:
            self._due.set()
            return ()

    async def _erase(self, name: str) -> None:
        """Erase a deleted space; if that is not possible now, let it be tried again."""
        try:
            await self._erase_all(name)
        except (GovernanceError, ConsentError) as error:
            kind = type(error).__name__
            self._log.warning("a deleted space is not erased", space=name, error=kind)
            self._due.set()

    async def _erase_all(self, name: str) -> None:
        space = await self._space(name)
        while not await self._graph.erase_space(name, space.statement):
            pass
        await self._ledger.write(name, lambda tx: tx.forget_all_words())
        while not await self._ledger.scrub():  # noqa: ASYNC110 - files are tried anew
            await asyncio.sleep(ERASE_AGAIN_SECONDS)
        erased = replace(space, erased=True)
        await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.put_space(erased))
        self._erased.give()

    async def _until_erased(self, name: str) -> Space:
        """Wait up to `ERASED_SECONDS` until a deleted space is erased; return the space."""
        clock = asyncio.get_running_loop().time
        until = clock() + ERASED_SECONDS
        while True:
            erased = self._erased.next()  # before the look: what comes after it is not missed
            space = await self._space(name)
            if space.erased or (left := until - clock()) <= 0:
                return space
            await asyncio.wait([erased], timeout=left)

    async def _space(self, name: str) -> Space:
        found = await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.space_named(name))
        if found is None:
            raise SpaceNotFound("there is no such space")
        return found


async def mark_deleted(
    tx: LedgerWrites, space: Space, time: int, statement: bytes
) -> dict[str, Json]:
    """Delete a space and revoke its keys; return the evidence for the entry of the log."""
    count = await tx.revoke_keys(space.name, time)
    await tx.put_space(replace(space, delete_time=time, statement=statement))
    evidence: dict[str, Json] = {"space": space.name, "revoked_keys": count}
    if statement:
        evidence["statement"] = json.loads(statement)
    return evidence
