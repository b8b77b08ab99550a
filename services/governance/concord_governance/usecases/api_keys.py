"""API keys: creates, lists, revokes them, and resolves them for gateways (W7)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from concord_attestation.instants import format_time
from concord_chassis.observe.log import Logger

from concord_governance.domain.access import (
    ORIGINS,
    OVERLAP_DAYS,
    SYSTEM_SPACE,
    ApiKey,
    KeyStatus,
    ListedKey,
    Origin,
    Space,
    demand_allowed_scopes,
    demand_free_principal,
    demand_may_manage_keys,
    digest_of,
    may_manage_keys,
    new_secret,
)
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import (
    FieldInvalid,
    GovernanceError,
    KeyNotFound,
    SpaceNotFound,
)
from concord_governance.domain.proposals import DAY, Json
from concord_governance.ports.ledger import LedgerReads, LedgerWrites
from concord_governance.usecases.ledger_commands import (
    Caller,
    LedgerCommands,
    Request,
    command_entry,
)

KEY_PREFIX = "ck_"
NOTE_USES_SECONDS = 60.0
"""Seconds between two writes of the keys' last uses, all in one write."""
_ID_BYTES = 6


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """The requested fields of a key; the contract says what empty ones mean. Times in µs."""

    space: str
    principal: str
    kind: Actor | None
    scopes: tuple[str, ...]
    origin: Origin | None
    expire_time: int | None
    replaces: str
    overlap: int


class ApiKeys:
    """Commands of operators and administrators on keys, and the resolving of keys for gateways."""

    def __init__(self, commands: LedgerCommands, log: Logger) -> None:
        self._commands = commands
        self._ledger = commands.ledger
        self._log = log
        self._uses: dict[str, int] = {}

    async def create(self, request: Request, draft: KeyDraft) -> tuple[ApiKey, str]:
        """Create a key; return its record and the key itself, empty for a repeated request.

        A key that replaces another one gets its fields; the replaced key ends after the overlap.
        """
        caller = request.caller
        space = draft.space or caller.space
        secret = new_key()

        async def work(tx: LedgerWrites, now: int) -> str:
            found = await tx.lock_space(space)
            if space != SYSTEM_SPACE and found is None:
                raise SpaceNotFound("there is no such space")
            if draft.expire_time is not None and draft.expire_time <= now:
                raise FieldInvalid("expire_time", "is not later than now")
            old = await _key_to_replace(tx, space, draft, now) if draft.replaces else None
            made = _new_record(await _new_id(tx), space, draft, old, now)
            made = replace(made, digest=digest_of(secret), created_by=caller.principal)
            demand_allowed_scopes(made.scopes, space, deleted=bool(found and found.delete_time))
            await tx.put_key(made)
            evidence = evidence_of(made)
            if old is not None:  # it ends after the overlap, or at its own earlier end
                ends = now + draft.overlap
                ends = ends if old.expire_time is None else min(ends, old.expire_time)
                await tx.put_key(replace(old, expire_time=ends))
                evidence |= {"replaces": draft.replaces, "replaced_until": format_time(ends)}
            await tx.append([command_entry(caller, Action.KEY_CREATE, evidence)])
            return made.id

        about = {"space": space, "principal": draft.principal, "replaces": draft.replaces}
        about = {name: value for name, value in about.items() if value}
        async with self._commands.recording_refusals(request, **about):
            demand_may_manage_keys(space, caller.space, caller.permissions)
            demand_free_principal(draft.principal)
            key_id, is_new = await self._commands.once(request, space, work)
        key = await self._ledger.read(SYSTEM_SPACE, lambda tx: tx.key_of_id(key_id))
        if key is None:
            raise KeyNotFound("there is no such key")
        return self._with_use(key), secret if is_new else ""

    async def newest_first(
        self,
        caller: Caller,
        space: str,
        before: tuple[int, str],
        limit: int,
        *,
        ended: bool,
    ) -> Sequence[ApiKey]:
        """Return a page of a space's keys, newest first; `before` as in the ledger's port."""
        of = space or caller.space
        demand_may_manage_keys(of, caller.space, caller.permissions)
        active_at = None if ended else self._commands.clock()
        found = await self._ledger.read(
            SYSTEM_SPACE, lambda tx: tx.key_list(of, before, limit, active_at)
        )
        return [self._with_use(key) for key in found]

    async def revoke(self, request: Request, key_id: str) -> ApiKey:
        """Revoke a key; a revoked key stays as it is."""
        caller = request.caller

        async def look(tx: LedgerReads) -> ApiKey:
            key = await tx.key_of_id(key_id)
            if key is None or not may_manage_keys(key.space, caller.space, caller.permissions):
                raise KeyNotFound("there is no such key")
            return key

        async def work(tx: LedgerWrites, now: int) -> str:
            await tx.lock_space(key.space)
            found = await look(tx)
            if found.revoke_time is None:
                await tx.put_key(replace(found, revoke_time=now))
                await tx.append([command_entry(caller, Action.KEY_REVOKE, evidence_of(found))])
            return key_id

        async with self._commands.recording_refusals(request, key=key_id):
            await self._commands.is_claimed(request)
            key = await self._ledger.read(SYSTEM_SPACE, look)
            await self._commands.once(request, key.space, work)
        return self._with_use(await self._ledger.read(SYSTEM_SPACE, look))

    async def resolve(self, digest: str) -> tuple[ApiKey, KeyStatus] | None:
        """Return the key with this digest, or of the session with it, and its status; None if the
        digest is unknown. A session's key expires with it. Counts as a use."""
        key = await self._ledger.read(SYSTEM_SPACE, lambda tx: _holder(tx, digest))
        if key is None:
            return None
        now = self._commands.clock()
        status = key.status(now)
        if status is KeyStatus.ACTIVE:
            self._uses[key.id] = now
        return key, status

    async def add_listed(self, listed: Mapping[str, ListedKey]) -> int:
        """Add a keys file's keys, by digest, and their spaces; return how many keys were added.

        A key in the ledger stays as it is: a file neither restores a revoked key nor extends one.
        """
        added = 0
        for space in sorted({key.space for key in listed.values()}):
            keys = {digest: key for digest, key in listed.items() if key.space == space}
            if await self._ledger.read(SYSTEM_SPACE, lambda tx, of=keys: _all_recorded(tx, of)):  # type: ignore[misc] # the default binds the loop's value
                continue
            added += await self._ledger.write(
                space,
                lambda tx, of=keys, name=space: _add_listed(tx, name, of),  # type: ignore[misc]
            )
        return added

    async def run(self) -> None:
        """Store the keys' last uses once a minute, until cancelled."""
        while True:
            await asyncio.sleep(NOTE_USES_SECONDS)
            try:
                await self.note_uses()
            except GovernanceError as error:
                self._log.warning("uses of keys not noted", error=type(error).__name__)

    async def note_uses(self) -> None:
        """Store the keys' last uses since the last write."""
        uses, self._uses = self._uses, {}
        if not uses:
            return
        try:
            await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.note_uses(uses))
        except GovernanceError:
            self._uses = uses | self._uses
            raise

    def _with_use(self, key: ApiKey) -> ApiKey:
        """Return a key with its last use, which may not be stored yet."""
        used = max(key.last_use_time or 0, self._uses.get(key.id, 0))
        return replace(key, last_use_time=used or None)


def new_key() -> str:
    """Return a new key: "ck_" and a secret."""
    return KEY_PREFIX + new_secret()


def _new_record(key_id: str, space: str, draft: KeyDraft, old: ApiKey | None, now: int) -> ApiKey:
    """Return the record of a new key, made from its draft, or from the key that it replaces."""
    if old is not None:
        return replace(
            old,
            id=key_id,
            create_time=now,
            expire_time=draft.expire_time or old.expire_time,
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


async def _key_to_replace(tx: LedgerReads, space: str, draft: KeyDraft, now: int) -> ApiKey:
    """Return the key that a new one replaces."""
    if draft.principal or draft.kind or draft.scopes or draft.origin:
        raise FieldInvalid("replaces", "takes principal, kind, scopes and origin from the old key")
    if not 0 <= draft.overlap <= OVERLAP_DAYS * DAY:
        raise FieldInvalid("overlap", f"is 0 to {OVERLAP_DAYS} days")
    old = await tx.key_of_id(draft.replaces)
    if old is None or old.space != space or old.status(now) is not KeyStatus.ACTIVE:
        raise KeyNotFound("there is no such active key")
    return old


async def _holder(tx: LedgerReads, digest: str) -> ApiKey | None:
    """Return the key of a digest, or that of the session of the digest with its end."""
    if (key := await tx.key_of_digest(digest)) is not None:
        return key
    session = await tx.sign_in(digest)
    if session is None or not session.is_session:
        return None
    key = await tx.key_of_id(session.key_id)
    if key is None:
        return None
    ends = session.expire_time if key.expire_time is None else key.expire_time
    return replace(key, expire_time=min(ends, session.expire_time))


async def _new_id(tx: LedgerReads) -> str:
    while await tx.key_of_id(key_id := secrets.token_hex(_ID_BYTES)) is not None:
        pass
    return key_id


async def _all_recorded(tx: LedgerReads, keys: Mapping[str, ListedKey]) -> bool:
    return all([await tx.key_of_digest(digest) is not None for digest in keys])


async def _add_listed(tx: LedgerWrites, space: str, keys: Mapping[str, ListedKey]) -> int:
    now = await tx.now()
    found = await tx.lock_space(space)
    if found is not None and found.delete_time is not None:
        return 0
    if found is None and space != SYSTEM_SPACE:
        await tx.put_space(Space(space, now))
    entries = []
    for digest, listed in keys.items():
        if await tx.key_of_digest(digest) is None:
            origin = ORIGINS[listed.kind]
            made = ApiKey(
                id=await _new_id(tx),
                digest=digest,
                space=space,
                principal=listed.principal,
                kind=listed.kind,
                scopes=listed.scopes,
                origin=origin,
                create_time=now,
            )
            await tx.put_key(made)
            evidence = {**evidence_of(made), "from": "keys file"}
            entries.append(Entry(Action.KEY_CREATE, Actor.SYSTEM, properties=evidence))
    await tx.append(entries)
    return len(entries)


def evidence_of(key: ApiKey) -> dict[str, Json]:
    """Return a key's fields for an entry of the log."""
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
