"""One write on the ledger: once per request id, in one transaction, with its refusals on record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import NoReturn

from concord_attestation.consent import ConsentError
from concord_attestation.refusal_limit import REASON as LIMIT_REACHED
from concord_attestation.refusal_limit import RefusalLimit

from concord_governance.domain.access import SYSTEM_SPACE
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.errors import (
    AccessRefused,
    BulkForbidden,
    FramingViolation,
    GenesisMissing,
    NotProposer,
    PermissionMissing,
    ProposalNotFound,
    ProposalState,
    ProposalTooLarge,
    RequestReused,
    RetentionExpired,
    RevisionStale,
    SafeguardViolation,
    SlotNotRequired,
    TooManyRefusals,
    UndoConflict,
    UndoImpossible,
)
from concord_governance.domain.proposals import Json, Proposal, Status
from concord_governance.ports.graph import Feed
from concord_governance.ports.ledger import Clock, Ledger, LedgerReads, LedgerWrites, RequestReceipt


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, authenticated: from the credential, never from a request's body."""

    space: str
    principal: str
    actor: Actor
    permissions: frozenset[str] = frozenset()
    issuer: str = ""
    """Who signed the credential."""
    origin: str = ""
    """That of memories that are written with it; empty of services' own."""

    def is_service(self, name: str) -> bool:
        """Return whether one of Concord's own services asks, with a token that it signed itself."""
        return (self.issuer, self.principal, self.actor) == (name, name, Actor.SYSTEM)


@dataclass(frozen=True, slots=True)
class Request:
    """A write as it came. `digest`: hex SHA-256 of all of it."""

    method: str
    request_id: str
    digest: str


Work = Callable[[LedgerWrites, int], Awaitable[Proposal]]
"""(transaction, now in µs) -> the proposal that the reply shows."""

_OF_STEPS = (
    *(ProposalNotFound, ProposalState, RevisionStale, NotProposer, SlotNotRequired, BulkForbidden),
    *(UndoImpossible, UndoConflict, RetentionExpired, GenesisMissing, ProposalTooLarge),
)
_ON_RECORD = (FramingViolation, SafeguardViolation, ConsentError, AccessRefused, *_OF_STEPS)
"""Refusals of a step of governance (A1). What only asks to come again is none of them: a lost race,
a busy store, a request id that came with other content."""

COMMANDS = {
    "CreateKey": Action.KEY_CREATE,
    "RevokeKey": Action.KEY_REVOKE,
    "CreateSpace": Action.SPACE_CREATE,
    "DeleteSpace": Action.SPACE_DELETE,
}
"""The commands on spaces and keys, and what their entries are called."""
_WITH_ENVELOPES = frozenset({"ApproveProposal", "RejectProposal", "RevokeConsent", "BulkApprove"})
"""The RPCs that bring a signed envelope: a refusal of one refuses its envelope."""

Refused = FramingViolation | SafeguardViolation | ConsentError | UndoConflict


class LedgerCommands:
    """Every write on the ledger passes here: it is idempotent, and its refusal is recorded."""

    def __init__(
        self, ledger: Ledger, clock: Clock, feed: Feed, reason_of: Callable[[Exception], str]
    ) -> None:
        """`reason_of`: the name of the ErrorReason that stands for a refusal."""
        self.ledger = ledger
        self.clock = clock
        self._feed = feed
        self._reason_of = reason_of
        self._limit = RefusalLimit()

    def demand_whole(self, space: str) -> None:
        """Refuse what would be done in a space whose graph is older than the ledger.

        Raises GraphRolledBack.
        """
        self._feed.demand_whole(space)

    def is_rolled_back(self, space: str) -> bool:
        """Return whether a space's graph is older than the ledger."""
        return self._feed.is_rolled_back(space)

    async def run(
        self, caller: Caller, request: Request, work: Work, *, proposal_id: str = ""
    ) -> Proposal:
        """Run work once for this principal and request id; repeat its reply otherwise.

        Raises GraphRolledBack while the log could not record its effect.
        """
        self.demand_whole(caller.space)
        await self.expire(caller.space)

        async def transaction(tx: LedgerWrites) -> Proposal:
            before = await _answered(tx, caller, request)
            if before is not None:
                return before
            done = await work(tx, await tx.now())
            receipt = RequestReceipt(request.digest, (done.id,))
            await tx.keep_receipt(caller.principal, request.method, request.request_id, receipt)
            return await existing(tx, done.id)

        async with self.on_record(caller, request.method, proposal_id):
            return await self.ledger.write(caller.space, transaction)

    async def check(
        self, caller: Caller, request: Request, rule: Callable[[], None], proposal_id: str = ""
    ) -> None:
        """Apply a rule that needs no ledger, with its refusal on record."""
        async with self.on_record(caller, request.method, proposal_id):
            rule()

    async def once(
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
            known = await _receipt(tx, principal, request)
            if known is not None:
                return known.proposal_ids[0], False
            named = await work(tx, await tx.now())
            receipt = RequestReceipt(request.digest, (named,))
            await tx.keep_receipt(principal, request.method, request.request_id, receipt)
            return named, True

        return await self.ledger.write(space, transaction)

    async def not_permitted(self, caller: Caller, method: str) -> None:
        """Write down that a key without the permission tried a command, in the key's space.

        Raises:
            TooManyRefusals: the caller had too many refused steps on record in this hour.
        """
        if method not in COMMANDS or not caller.space:
            return
        with suppress(PermissionMissing):
            async with self.on_record(caller, method):
                raise PermissionMissing(f"this key may not call {method}")

    @asynccontextmanager
    async def on_record(
        self, caller: Caller, method: str, proposal_id: str = ""
    ) -> AsyncIterator[None]:
        """Write down what is refused within, once: what `run` and `check` do is recorded there.

        Raises:
            TooManyRefusals: the caller had too many refused steps on record in this hour.
        """
        wait = self._limit.wait(caller.space, caller.principal, self.clock())
        if wait:
            raise TooManyRefusals(wait)
        try:
            yield
        except _ON_RECORD as error:
            await self._record(caller, error, method, proposal_id)
            raise

    async def refuse(
        self, caller: Caller, request: Request, error: Refused, proposal_id: str = ""
    ) -> NoReturn:
        """Refuse, on record, what somebody else found to be so."""
        await self._record(caller, error, request.method, proposal_id)
        raise error

    async def answered(self, caller: Caller, request: Request) -> Proposal | None:
        """Return what this request came to before, so that what it needs need not be asked again.

        Raises:
            RequestReused: its id came with other content.
        """
        return await self.ledger.read(caller.space, lambda tx: _answered(tx, caller, request))

    async def is_claimed(self, caller: Caller, request: Request) -> bool:
        """Return whether this request came before and went on.

        Raises:
            RequestReused: its id came with other content.
        """

        async def look(tx: LedgerReads) -> bool:
            return await _receipt(tx, caller.principal, request) is not None

        return await self.ledger.read(caller.space, look)

    async def claim(self, caller: Caller, request: Request) -> None:
        """Keep a request's id for its content, for work that is several writes."""

        async def transaction(tx: LedgerWrites) -> None:
            if await _receipt(tx, caller.principal, request) is None:
                receipt = RequestReceipt(request.digest, ())
                await tx.keep_receipt(caller.principal, request.method, request.request_id, receipt)

        await self.ledger.write(caller.space, transaction)

    async def expire(self, space: str) -> None:
        """Write down for which proposals silence has become rejection (V4)."""
        now = self.clock()
        if not await self.ledger.read(space, lambda tx: tx.due(now)):
            return

        async def transaction(tx: LedgerWrites) -> None:
            at = await tx.now()
            for proposal in await tx.due(at):
                ended = ended_as(proposal, Status.EXPIRED, at, "clock")
                await tx.put(proposal, ended)
                await tx.append([entry_on(proposal, Action.SMF_EXPIRE, Actor.SYSTEM)])

        await self.ledger.write(space, transaction)

    async def _record(
        self, caller: Caller, error: Exception, method: str, proposal_id: str
    ) -> None:
        match error:
            case _ if method in COMMANDS:
                action = COMMANDS[method]
            case FramingViolation():
                action = Action.FRAMING_VIOLATION
            case ConsentError():
                action = Action.CONSENT_REFUSED
            case _ if method in _WITH_ENVELOPES and not isinstance(error, SafeguardViolation):
                action = Action.CONSENT_REFUSED
            case _:
                action = Action.SAFEGUARD_VIOLATION
        now = self.clock()
        on_record, is_last = self._limit.entries(caller.space, caller.principal, now)
        if not on_record:  # others of this principal came to the limit while this one was tried
            raise TooManyRefusals(self._limit.wait(caller.space, caller.principal, now))
        entry = Entry(
            action=action,
            actor=caller.actor,
            principal=caller.principal,
            proposal_id=proposal_id,
            blocked=True,
            reason=self._reason_of(error),
            properties={"detail": str(error)[:1000]},
        )
        limit = Entry(
            Action.SAFEGUARD_VIOLATION,
            caller.actor,
            caller.principal,
            blocked=True,
            reason=LIMIT_REACHED,
        )
        entries = [entry, limit] if is_last else [entry]
        await self.ledger.write(caller.space, lambda tx: tx.append(entries))


async def _receipt(tx: LedgerReads, principal: str, request: Request) -> RequestReceipt | None:
    """Return what this request did before.

    Raises:
        RequestReused: its id came with other content.
    """
    known = await tx.receipt(principal, request.method, request.request_id)
    if known is not None and known.digest != request.digest:
        raise RequestReused(request.request_id)
    return known


async def _answered(tx: LedgerReads, caller: Caller, request: Request) -> Proposal | None:
    known = await _receipt(tx, caller.principal, request)
    return None if known is None else await existing(tx, known.proposal_ids[0])


async def existing(tx: LedgerReads, proposal_id: str) -> Proposal:
    """Return a proposal; ProposalNotFound when there is none in this space."""
    proposal = await tx.proposal(proposal_id)
    if proposal is None:
        raise ProposalNotFound(proposal_id)
    return proposal


def ended_as(
    proposal: Proposal, status: Status, now: int, by: str, resolution: str = ""
) -> Proposal:
    """Return a proposal that has come to an end."""
    return replace(proposal, status=status, resolve_time=now, resolved_by=by, resolution=resolution)


def entry_on(
    proposal: Proposal, action: Action, actor: Actor, principal: str = "", **properties: object
) -> Entry:
    """Return an entry about a proposal's newest revision."""
    written = (item for item in proposal.newest.affected if item.etag and not item.pinned)
    item = next(written, None)
    return Entry(
        action=action,
        actor=actor,
        principal=principal,
        item_id=item.id if item else "",
        item_kind=item.kind if item else 0,
        proposal_id=proposal.id,
        revision=proposal.newest.revision,
        properties={"digest": proposal.newest.digest, **properties},  # type: ignore[dict-item] # JSON by every caller
    )


def command_entry(caller: Caller, action: Action, evidence: Mapping[str, Json]) -> Entry:
    """Return the entry of a command; of an operator's in another space it says so."""
    by = {"operator": True} if caller.space == SYSTEM_SPACE else {}
    return Entry(action, caller.actor, caller.principal, properties={**evidence, **by})
