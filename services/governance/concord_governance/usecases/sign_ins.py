"""Sign-ins: a key's one-time code, and the session at a gateway's page that it becomes (W5, W7)."""

from __future__ import annotations

from concord_governance.domain.access import (
    MOST_SIGN_INS,
    SYSTEM_SPACE,
    ApiKey,
    KeyStatus,
    SignIn,
    digest_of,
    new_secret,
)
from concord_governance.domain.errors import KeyRefused, SignInInvalid
from concord_governance.ports.ledger import LedgerReads, LedgerWrites
from concord_governance.usecases.ledger_commands import Caller, LedgerCommands

CODE_SECONDS = 60
"""For how long a code opens a session."""
SESSION_SECONDS = 12 * 3_600
"""For how long a session lives at most."""
_SECOND = 1_000_000


class SignIns:
    """Codes and sessions of keys; the ledger has the digests of their secrets alone."""

    def __init__(self, commands: LedgerCommands) -> None:
        self._clock = commands.clock
        self._ledger = commands.ledger

    async def create(self, caller: Caller) -> tuple[str, int]:
        """Return a new code of the caller's key, and when it ends (µs).

        Ended codes and sessions of all keys are removed, and the key's oldest above the limit.

        Raises:
            KeyRefused: the credential is no key, such as a session.
            SignInInvalid: the key is not valid any more.
        """
        if not caller.key_id:
            raise KeyRefused("a sign-in is for an API key itself, not for a session")
        code = new_secret()

        async def work(tx: LedgerWrites) -> int:
            now = self._clock()
            key = await _active_key(tx, caller.key_id, now)
            if (key.space, key.principal) != (caller.space, caller.principal):
                raise SignInInvalid
            made = SignIn(digest_of(code), key.id, False, now, now + CODE_SECONDS * _SECOND)
            await tx.delete_expired_sign_ins(now)
            await tx.delete_oldest_sign_ins(key.id, MOST_SIGN_INS - 1)
            await tx.put_sign_in(made)
            return made.expire_time

        return code, await self._ledger.write(SYSTEM_SPACE, work)

    async def redeem(self, code: str, session_digest: str) -> int:
        """Replace a code by a session; return when the session ends (µs).

        Raises:
            SignInInvalid: the code is unknown, used or late, or its key is not valid any more.
        """
        digest = digest_of(code)

        async def look(tx: LedgerReads) -> tuple[ApiKey, int]:
            now = self._clock()
            found = await tx.sign_in(digest)
            if found is None or found.is_session or found.expire_time <= now:
                raise SignInInvalid
            return await _active_key(tx, found.key_id, now), now

        async def work(tx: LedgerWrites) -> int:
            key, now = await look(tx)
            ends = now + SESSION_SECONDS * _SECOND
            if key.expire_time is not None:
                ends = min(ends, key.expire_time)
            await tx.delete_sign_in(digest)
            await tx.put_sign_in(SignIn(session_digest, key.id, True, now, ends))
            return ends

        await self._ledger.read(SYSTEM_SPACE, look)  # strangers who guess codes take no lock
        return await self._ledger.write(SYSTEM_SPACE, work)

    async def end(self, session_digest: str) -> None:
        """End a session, if there is one."""
        await self._ledger.write(SYSTEM_SPACE, lambda tx: tx.delete_sign_in(session_digest))


async def _active_key(tx: LedgerReads, key_id: str, now: int) -> ApiKey:
    key = await tx.key_of_id(key_id)
    if key is None or key.status(now) is not KeyStatus.ACTIVE:
        raise SignInInvalid
    return key
