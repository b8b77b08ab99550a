"""Spaces and API keys: made, listed, revoked, and asked about by gateways (W7)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from concord_attestation.consent import ConsentError
from concord_attestation.deletion import verify_deletion
from concord_attestation.instants import format_time
from concord_chassis.log import Logger

from concord_governance.domain.access import (
    ORIGINS,
    OVERLAP_DAYS,
    SYSTEM_SPACE,
    ApiKey,
    KeyStatus,
    KnownKey,
    Origin,
    Space,
    demand_fit,
    demand_operator,
    demand_say,
    is_reserved_principal,
    is_space_name,
)
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import (
    FieldInvalid,
    GovernanceError,
    KeyNotFound,
    PermissionMissing,
    RequestReused,
    ReservedName,
    SpaceDeleted,
    SpaceExists,
    SpaceNotFound,
)
from concord_governance.domain.proposals import Json
from concord_governance.ports.graph import Graph
from concord_governance.ports.ledger import LedgerReads, LedgerWrites, RequestReceipt
from concord_governance.usecases.ledger_commands import COMMANDS, Caller, LedgerCommands, Request

KEY_PREFIX = "ck_"
SECRET_BYTES = 32
NOTE_USES_SECONDS = 60.0
"""How often the newest uses of keys are written down, all in one write."""
ERASE_AGAIN_SECONDS = 1.0
"""How long after a failure the erasing of a deleted space is tried again."""
ERASED_SECONDS = 5.0
"""How long the answer to a deletion waits for the erasing, which goes on in any case."""
_DAY = 86_400_000_000
_ID_BYTES = 6


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """What a key is asked to be; empty parts as in the contract. Times and spans in µs."""

    space: str
    principal: str
    kind: Actor | None
    scopes: tuple[str, ...]
    origin: Origin | None
    expire_time: int | None
    replaces: str
    overlap: int


class Access:
    """The commands of operators and administrators, and the answers to gateways."""

    def __init__(self, commands: LedgerCommands, graph: Graph, log: Logger) -> None:
        self._commands = commands
        self._ledger = commands.ledger
        self._graph = graph
        self._log = log
        self._uses: dict[str, int] = {}
        self._wanted = asyncio.Event()
        self._wanted.set()
        self._erased = asyncio.Condition()

    def now(self) -> int:
        """Return the time by which keys are judged, in µs."""
        return self._commands.clock()

    async def not_permitted(self, caller: Caller, method: str) -> None:
        """Write down that a key without the permission tried a command, in the key's space.

        Raises:
            TooManyRefusals: the caller had too many refused steps on record in this hour.
        """
        if method not in COMMANDS or not caller.space:
            return
        with contextlib.suppress(PermissionMissing):
            async with self._commands.on_record(caller, method):
                raise PermissionMissing(f"this key may not call {method}")

    async def create_space(self, caller: Caller, request: Request, name: str) -> tuple[Space, str]:
        """Make a space; return it with its enrolment secret, empty once it has its genesis.

        The same request again draws a new secret: the answer to the first may have been lost,
        and graph may not have heard of it.
        """

        async def work(tx: LedgerWrites, now: int) -> str:
            if not is_space_name(name) or await tx.hold_space(name) is not None:
                raise SpaceExists("this name is or was in use")
            await tx.put_space(Space(name, now, caller.principal))
            await tx.append([_entry(caller, Action.SPACE_CREATE, {"space": name})])
            return name

        async with self._commands.on_record(caller, request.method):
            demand_operator(caller.space, caller.permissions)
            await self._once(caller, request, SYSTEM_SPACE, work)
        space = await self._space(name)
        if space.delete_time is not None:
            raise SpaceDeleted("this space was deleted")
        secret = secrets.token_urlsafe(SECRET_BYTES)
        enrolled = await self._graph.register_space(name, digest_of(secret))
        return space, "" if enrolled else secret

    async def delete_space(
        self, caller: Caller, request: Request, name: str, typed: str, statement: bytes
    ) -> Space:
        """Delete a space for ever: revoke its keys, and begin to erase what it holds.

        Raises:
            DeletionInvalid: it has a genesis, and both slots have not signed for this.
        """

        async def work(tx: LedgerWrites, now: int) -> str:
            space = await tx.hold_space(name)
            if space is None or name == SYSTEM_SPACE:
                raise SpaceNotFound("there is no such space")
            if space.delete_time is not None:
                raise SpaceDeleted("this space was deleted")
            count = await tx.revoke_keys(name, now)
            await tx.put_space(replace(space, delete_time=now, statement=statement))
            evidence: dict[str, Json] = {"space": name, "revoked_keys": count}
            if statement:
                evidence["statement"] = json.loads(statement)
            await tx.append([_entry(caller, Action.SPACE_DELETE, evidence)])
            return name

        async with self._commands.on_record(caller, request.method):
            demand_operator(caller.space, caller.permissions)
            if typed != name:
                raise FieldInvalid("typed_name", "is not the name of the space")
            if not await self._commands.is_claimed(caller, request):
                standing = await self._graph.principal_keys(name)
                if standing is None:
                    statement = b""
                else:
                    verify_deletion(statement, standing.genesis, self._commands.clock())
                await self._once(caller, request, SYSTEM_SPACE, work)
        self._wanted.set()
        return await self._until_erased(name)

    async def spaces(
        self, caller: Caller, after: str, limit: int, *, deleted: bool
    ) -> Sequence[Space]:
        """Return spaces by name, beyond the one called `after`."""
        demand_operator(caller.space, caller.permissions)
        return await self._ledger.read(
            SYSTEM_SPACE, lambda tx: tx.space_list(after, limit, deleted=deleted)
        )

    async def create_key(
        self, caller: Caller, request: Request, draft: KeyDraft
    ) -> tuple[ApiKey, str]:
        """Make a key; return its record and the key itself, empty for a request that came before.

        A key that replaces another is as that one, which ends when the overlap is over.
        """
        space = draft.space or caller.space
        secret = new_key()

        async def work(tx: LedgerWrites, now: int) -> str:
            found = await tx.hold_space(space)
            if space != SYSTEM_SPACE and found is None:
                raise SpaceNotFound("there is no such space")
            made = await self._drawn(tx, space, draft, now)
            made = replace(made, digest=digest_of(secret), created_by=caller.principal)
            demand_fit(made.scopes, space, deleted=bool(found and found.delete_time))
            await tx.put_key(made)
            evidence = _evidence(made)
            if draft.replaces:
                ends = await _ending(tx, draft, now)
                evidence |= {"replaces": draft.replaces, "replaced_until": format_time(ends)}
            await tx.append([_entry(caller, Action.KEY_CREATE, evidence)])
            return made.id

        async with self._commands.on_record(caller, request.method):
            demand_say(space, caller.space, caller.permissions)
            if is_reserved_principal(draft.principal):
                raise ReservedName("is one of Concord's own")
            key_id, is_new = await self._once(caller, request, space, work)
        key = await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.key_of_id(key_id))
        if key is None:
            raise KeyNotFound("there is no such key")
        return self._with_use(key), secret if is_new else ""

    async def keys(
        self,
        caller: Caller,
        space: str,
        before: tuple[int, str],
        limit: int,
        *,
        ended: bool,
    ) -> Sequence[ApiKey]:
        """Return keys of a space, newest first; `before` as in the ledger's port."""
        asked = space or caller.space
        demand_say(asked, caller.space, caller.permissions)
        active_at = None if ended else self._commands.clock()
        found = await self._ledger.read(
            SYSTEM_SPACE, lambda tx: tx.key_list(asked, before, limit, active_at)
        )
        return [self._with_use(key) for key in found]

    async def revoke_key(self, caller: Caller, request: Request, key_id: str) -> ApiKey:
        """Revoke a key; one that is revoked stays as it is."""

        async def look(tx: LedgerReads) -> ApiKey:
            key = await tx.key_of_id(key_id)
            if key is None or not _has_say(key.space, caller.space, caller.permissions):
                raise KeyNotFound("there is no such key")
            return key

        async def work(tx: LedgerWrites, now: int) -> str:
            await tx.hold_space(key.space)
            found = await look(tx)
            if found.revoke_time is None:
                await tx.put_key(replace(found, revoke_time=now))
                await tx.append([_entry(caller, Action.KEY_REVOKE, _evidence(found))])
            return key_id

        async with self._commands.on_record(caller, request.method):
            await self._commands.is_claimed(caller, request)
            key = await self._ledger.read(SYSTEM_SPACE, look)
            await self._once(caller, request, key.space, work)
        return self._with_use(await self._ledger.read(SYSTEM_SPACE, look))

    async def caller(self, digest: str) -> tuple[ApiKey, KeyStatus] | None:
        """Return the key of a digest and how it stands; None when there is none. Counts as use."""
        key = await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.key_of_digest(digest))
        if key is None:
            return None
        now = self._commands.clock()
        status = key.status(now)
        if status is KeyStatus.ACTIVE:
            self._uses[key.id] = now
        return key, status

    async def take_over(self, known: Mapping[str, KnownKey]) -> int:
        """Add the keys, by digest, that were never known, and their spaces; return how many.

        What is known stays as it is: a file neither brings a revoked key back nor widens one.
        """
        added = 0
        for space in sorted({key.space for key in known.values()}):
            keys = {digest: key for digest, key in known.items() if key.space == space}
            if await self._ledger.read(SYSTEM_SPACE, lambda tx, of=keys: _all_known(tx, of)):  # type: ignore[misc] # the default binds the loop's value
                continue
            added += await self._ledger.write(
                space,
                lambda tx, of=keys, name=space: _take_over(tx, name, of),  # type: ignore[misc]
            )
        return added

    async def erase_deleted(self) -> None:
        """Erase for ever what deleted spaces hold, also what a stop came before."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            for name in await self._to_erase():
                try:
                    await self._erase(name)
                except (GovernanceError, ConsentError) as error:
                    kind = type(error).__name__
                    self._log.warning("a deleted space is not erased", space=name, error=kind)
                    self._wanted.set()
            if self._wanted.is_set():
                await asyncio.sleep(ERASE_AGAIN_SECONDS)

    async def _to_erase(self) -> Sequence[str]:
        try:
            return await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.spaces_to_erase())
        except GovernanceError:
            self._wanted.set()
            return ()

    async def _erase(self, name: str) -> None:
        space = await self._space(name)
        while not await self._graph.erase_space(name, space.statement):
            pass
        await self._ledger.write(name, lambda tx: tx.forget_all_words())
        while not await self._ledger.scrub():  # noqa: ASYNC110 - files are tried anew
            await asyncio.sleep(ERASE_AGAIN_SECONDS)
        gone = replace(space, erased=True)
        await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.put_space(gone))
        async with self._erased:
            self._erased.notify_all()

    async def _until_erased(self, name: str) -> Space:
        """Wait, for seconds at most, until nothing of a deleted space is left; return it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ERASED_SECONDS), self._erased:
                while not (await self._space(name)).erased:
                    await self._erased.wait()
        return await self._space(name)

    async def run(self) -> None:
        """Write down for ever when keys were used: once a minute, in one write."""
        while True:
            await asyncio.sleep(NOTE_USES_SECONDS)
            try:
                await self.note_uses()
            except GovernanceError as error:
                self._log.warning("uses of keys not noted", error=type(error).__name__)

    async def note_uses(self) -> None:
        """Write down when keys were used since the last time."""
        uses, self._uses = self._uses, {}
        if not uses:
            return
        try:
            await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.note_uses(uses))
        except GovernanceError:
            self._uses = uses | self._uses
            raise

    async def _once(
        self,
        caller: Caller,
        request: Request,
        space: str,
        work: Callable[[LedgerWrites, int], Awaitable[str]],
    ) -> tuple[str, bool]:
        """Run work once for this caller and request id, in the ledger of `space`.

        Return what it named, and whether it ran now.
        """
        principal = (
            caller.principal if caller.space == space else f"{caller.space} {caller.principal}"
        )

        async def transaction(tx: LedgerWrites) -> tuple[str, bool]:
            known = await tx.receipt(principal, request.method, request.request_id)
            if known is not None:
                if known.digest != request.digest:
                    raise RequestReused(request.request_id)
                return known.proposal_ids[0], False
            named = await work(tx, await tx.now())
            receipt = RequestReceipt(request.digest, (named,))
            await tx.keep_receipt(principal, request.method, request.request_id, receipt)
            return named, True

        return await self._ledger.write(space, transaction)

    async def _space(self, name: str) -> Space:
        found = await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.space_named(name))
        if found is None:
            raise SpaceNotFound("there is no such space")
        return found

    async def _drawn(self, tx: LedgerWrites, space: str, draft: KeyDraft, now: int) -> ApiKey:
        """Return the record of a new key as it was asked for."""
        if draft.expire_time is not None and draft.expire_time <= now:
            raise FieldInvalid("expire_time", "is not later than now")
        key_id = await _new_id(tx)
        if draft.replaces:
            old = await _replaced(tx, space, draft, now)
            return replace(
                old,
                id=key_id,
                create_time=now,
                expire_time=draft.expire_time,
                last_use_time=None,
            )
        if draft.overlap:
            raise FieldInvalid("overlap", "is of a key that replaces another")
        for name, stated in (
            ("principal", draft.principal),
            ("kind", draft.kind),
            ("scopes", draft.scopes),
        ):
            if not stated:
                raise FieldInvalid(name, "is missing")
        kind = draft.kind or Actor.SYSTEM
        return ApiKey(
            id=key_id,
            digest="",
            space=space,
            principal=draft.principal,
            kind=kind,
            scopes=draft.scopes,
            origin=draft.origin or ORIGINS[kind],
            create_time=now,
            expire_time=draft.expire_time,
        )

    def _with_use(self, key: ApiKey) -> ApiKey:
        """Return a key with its newest use, which may not be written down yet."""
        used = max(key.last_use_time or 0, self._uses.get(key.id, 0))
        return replace(key, last_use_time=used or None)


def new_key() -> str:
    """Return a new key: "ck_" and 43 base64url characters of 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """Return the hex SHA-256 of a key or secret: all that is kept of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _has_say(asked: str, own: str, permissions: frozenset[str]) -> bool:
    try:
        demand_say(asked, own, permissions)
    except GovernanceError:
        return False
    return True


async def _replaced(tx: LedgerReads, space: str, draft: KeyDraft, now: int) -> ApiKey:
    """Return the key whose place a new one takes."""
    if draft.principal or draft.kind or draft.scopes or draft.origin:
        raise FieldInvalid("replaces", "takes principal, kind, scopes and origin from the old key")
    if not 0 <= draft.overlap <= OVERLAP_DAYS * _DAY:
        raise FieldInvalid("overlap", f"is 0 to {OVERLAP_DAYS} days")
    old = await tx.key_of_id(draft.replaces)
    if old is None or old.space != space or old.status(now) is not KeyStatus.ACTIVE:
        raise KeyNotFound("there is no such active key")
    return old


async def _ending(tx: LedgerWrites, draft: KeyDraft, now: int) -> int:
    """Let the replaced key end when the overlap is over, or when it would have; return when."""
    old = await tx.key_of_id(draft.replaces)
    if old is None:
        raise KeyNotFound("there is no such active key")
    ends = now + draft.overlap
    ends = ends if old.expire_time is None else min(ends, old.expire_time)
    await tx.put_key(replace(old, expire_time=ends))
    return ends


async def _new_id(tx: LedgerReads) -> str:
    while await tx.key_of_id(drawn := secrets.token_hex(_ID_BYTES)) is not None:
        pass
    return drawn


async def _all_known(tx: LedgerReads, keys: Mapping[str, KnownKey]) -> bool:
    return all([await tx.key_of_digest(digest) is not None for digest in keys])


async def _take_over(tx: LedgerWrites, space: str, keys: Mapping[str, KnownKey]) -> int:
    now = await tx.now()
    found = await tx.hold_space(space)
    if found is not None and found.delete_time is not None:
        return 0
    if found is None and space != SYSTEM_SPACE:
        await tx.put_space(Space(space, now))
    entries = []
    for digest, known in keys.items():
        if await tx.key_of_digest(digest) is None:
            origin = ORIGINS[known.kind]
            made = ApiKey(
                id=await _new_id(tx),
                digest=digest,
                space=space,
                principal=known.principal,
                kind=known.kind,
                scopes=known.scopes,
                origin=origin,
                create_time=now,
            )
            await tx.put_key(made)
            evidence = {**_evidence(made), "from": "keys file"}
            entries.append(Entry(Action.KEY_CREATE, Actor.SYSTEM, properties=evidence))
    await tx.append(entries)
    return len(entries)


def _evidence(key: ApiKey) -> dict[str, Json]:
    """Return what the log says of a key."""
    evidence: dict[str, Json] = {
        "key": key.id,
        "principal": key.principal,
        "kind": key.kind.name,
        "scopes": list(key.scopes),
        "origin": key.origin.name,
    }
    if key.expire_time is not None:
        evidence["expire_time"] = format_time(key.expire_time)
    return evidence


def _entry(caller: Caller, action: Action, evidence: Mapping[str, Json]) -> Entry:
    """Return the entry of a command; of an operator's in another space it says so."""
    by = {"operator": True} if caller.space == SYSTEM_SPACE else {}
    return Entry(action, caller.actor, caller.principal, properties={**evidence, **by})
