"""Runs writes on the ledger: once per request id, in one transaction, with refusals recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
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
    GenesisExists,
    GenesisMissing,
    GovernanceError,
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
from concord_governance.domain.proposals import Failure, Json, Proposal, Status
from concord_governance.ports.graph import Feed
from concord_governance.ports.ledger import Clock, Ledger, LedgerReads, LedgerWrites, RequestReceipt


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller: from the credential, never from a request's body."""

    space: str
    principal: str
    actor: Actor
    permissions: frozenset[str] = frozenset()
    issuer: str = ""
    """The signer of the credential."""
    origin: str = ""
    """The origin of memories that are written with the credential; empty for services."""
    key_id: str = ""
    """The public id of the API key that the credential is; empty: it is none, such as a session."""

    def is_service(self, name: str) -> bool:
        """Return whether the caller is this service of Concord, with a token it signed itself."""
        return (self.issuer, self.principal, self.actor) == (name, name, Actor.SYSTEM)


@dataclass(frozen=True, slots=True)
class Request:
    """A write request. `digest`: hex SHA-256 of the whole message."""

    caller: Caller
    method: str
    request_id: str = ""
    digest: str = ""
    proposal_id: str = ""
    """The proposal that it names; empty: none."""

    @property
    def space(self) -> str:
        """The caller's space."""
        return self.caller.space


Work = Callable[[LedgerWrites, int], Awaitable[Proposal]]
"""(transaction, now in µs) -> the proposal that the reply shows."""

_STEP_REFUSALS = (
    *(ProposalNotFound, ProposalState, RevisionStale, NotProposer, SlotNotRequired, BulkForbidden),
    *(UndoImpossible, UndoConflict, RetentionExpired, GenesisMissing, GenesisExists),
    ProposalTooLarge,
)
_RECORDED_REFUSALS = (
    FramingViolation,
    SafeguardViolation,
    ConsentError,
    AccessRefused,
    *_STEP_REFUSALS,
)
"""Refusals that become entries of the log (A1). Not among them: refusals after which the same
request may succeed (a lost race, a busy store), and a request id that came with other content."""

COMMANDS = {
    "CreateKey": Action.KEY_CREATE,
    "RevokeKey": Action.KEY_REVOKE,
    "CreateSpace": Action.SPACE_CREATE,
    "DeleteSpace": Action.SPACE_DELETE,
}
"""The commands on spaces and keys, with the actions of their entries."""
_WITH_ENVELOPES = frozenset({"ApproveProposal", "RejectProposal", "RevokeConsent", "BulkApprove"})
"""The RPCs with a signed envelope: refusals of these are recorded as CONSENT_REFUSED."""
_STEPS = _WITH_ENVELOPES | {
    *("CreateProposal", "ReviseProposal", "WithdrawProposal", "UndoModification"),
    "SettleProposal",
}
"""The RPCs that are steps of governance."""

Refused = FramingViolation | SafeguardViolation | ConsentError | UndoConflict


class LedgerCommands:
    """Runs every write on the ledger: writes are idempotent, and refusals are recorded."""

    def __init__(self, ledger: Ledger, clock: Clock, feed: Feed) -> None:
        self.ledger = ledger
        self.clock = clock
        self.feed = feed
        self._limit = RefusalLimit()

    async def run(self, request: Request, work: Work) -> Proposal:
        """Run `work` once per principal and request id; a repetition gets the first one's proposal.

        Raises GraphRolledBack while graph is older than the ledger.
        """
        self.feed.demand_not_rolled_back(request.space)
        await self.expire(request.space)

        async def transaction(tx: LedgerWrites) -> Proposal:
            before = await _earlier_proposal(tx, request)
            if before is not None:
                return before
            done = await work(tx, await tx.now())
            await _keep_receipt(tx, request.caller.principal, request, done.id)
            return await existing(tx, done.id)

        async with self.recording_refusals(request):
            return await self.ledger.write(request.space, transaction)

    async def check(self, request: Request, rule: Callable[[], None]) -> None:
        """Apply a rule that needs no ledger, and record its refusal."""
        async with self.recording_refusals(request):
            rule()

    async def once(
        self, request: Request, space: str, work: Callable[[LedgerWrites, int], Awaitable[str]]
    ) -> tuple[str, bool]:
        """Run `work` once per caller and request id, in the ledger of `space`.

        Return the text that `work` returned, such as an id, and whether it ran in this call.
        """
        caller = request.caller
        principal = (
            caller.principal if caller.space == space else f"{caller.space} {caller.principal}"
        )

        async def transaction(tx: LedgerWrites) -> tuple[str, bool]:
            known = await _receipt(tx, principal, request)
            if known is not None:
                return known.proposal_ids[0], False
            named = await work(tx, await tx.now())
            await _keep_receipt(tx, principal, request, named)
            return named, True

        return await self.ledger.write(space, transaction)

    async def not_permitted(self, request: Request, **about: str) -> None:
        """Record that a key without the permission tried a command or a step of governance, in the
        log of the key's space.

        `about`: as in `recording_refusals`.

        Raises:
            TooManyRefusals: the caller's refused steps have reached the limit of this hour.
        """
        if request.method not in COMMANDS.keys() | _STEPS or not request.space:
            return
        with suppress(PermissionMissing):
            async with self.recording_refusals(request, **about):
                raise PermissionMissing(f"this key may not call {request.method}")

    @asynccontextmanager
    async def recording_refusals(self, request: Request, **about: str) -> AsyncIterator[None]:
        """Record a refusal that is raised in this block.

        `run` and `check` record theirs: a block around them would record it twice.

        `about`: properties of the entry that name the object of the command, such as its key.

        Raises:
            TooManyRefusals: the caller's refused steps have reached the limit of this hour.
        """
        caller = request.caller
        wait = self._limit.wait(caller.space, caller.principal, self.clock())
        if wait:
            raise TooManyRefusals(wait)
        try:
            yield
        except _RECORDED_REFUSALS as error:
            await self._record(request, error, about)
            raise

    async def refuse(self, request: Request, error: Refused) -> NoReturn:
        """Record a refusal that a use case has found, and raise it."""
        await self._record(request, error)
        raise error

    async def stored(self, space: str, proposal_id: str) -> Proposal:
        """Return a proposal. Raises ProposalNotFound."""
        return await self.ledger.read(space, lambda tx: existing(tx, proposal_id))

    async def earlier_proposal(self, request: Request) -> Proposal | None:
        """Return the proposal of a repeated request, None for a new one.

        Raises:
            RequestReused: its id came with other content.
        """
        return await self.ledger.read(request.space, lambda tx: _earlier_proposal(tx, request))

    async def is_claimed(self, request: Request) -> bool:
        """Return whether this request's id was bound to its content before, as by `claim`.

        Raises:
            RequestReused: its id came with other content.
        """

        async def look(tx: LedgerReads) -> bool:
            return await _receipt(tx, request.caller.principal, request) is not None

        return await self.ledger.read(request.space, look)

    async def claim(self, request: Request) -> None:
        """Bind a request's id to its content, before a work that takes several writes."""

        async def transaction(tx: LedgerWrites) -> None:
            if await _receipt(tx, request.caller.principal, request) is None:
                await _keep_receipt(tx, request.caller.principal, request)

        await self.ledger.write(request.space, transaction)

    async def expire(self, space: str) -> None:
        """End the open proposals that have expired, and record that: silence is rejection (V4)."""
        now = self.clock()
        if not await self.ledger.read(space, lambda tx: tx.due(now)):
            return

        async def transaction(tx: LedgerWrites) -> None:
            at = await tx.now()
            for proposal in await tx.due(at):
                ended = ended_as(proposal, Status.EXPIRED, at)
                await tx.put(proposal, ended)
                await tx.append([proposal_entry(proposal, Action.SMF_EXPIRE, Actor.SYSTEM)])

        await self.ledger.write(space, transaction)

    async def _record(
        self,
        request: Request,
        error: GovernanceError | ConsentError,
        about: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        caller, method = request.caller, request.method
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
        has_room, is_last = self._limit.entries(caller.space, caller.principal, now)
        if not has_room:  # other calls of this principal reached the limit meanwhile
            raise TooManyRefusals(self._limit.wait(caller.space, caller.principal, now))
        entry = Entry(
            action=action,
            actor=caller.actor,
            principal=caller.principal,
            proposal_id=request.proposal_id,
            blocked=True,
            reason=error.reason,
            properties={**about, "detail": str(error)[:1000]},
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
    """Return the receipt of a repeated request, None for a new one.

    Raises:
        RequestReused: its id came with other content.
    """
    known = await tx.receipt(principal, request.method, request.request_id)
    if known is not None and known.digest != request.digest:
        raise RequestReused(request.request_id)
    return known


async def _keep_receipt(tx: LedgerWrites, principal: str, request: Request, *ids: str) -> None:
    receipt = RequestReceipt(request.digest, ids)
    await tx.keep_receipt(principal, request.method, request.request_id, receipt)


async def _earlier_proposal(tx: LedgerReads, request: Request) -> Proposal | None:
    known = await _receipt(tx, request.caller.principal, request)
    return None if known is None else await existing(tx, known.proposal_ids[0])


async def existing(tx: LedgerReads, proposal_id: str) -> Proposal:
    """Return a proposal of this space. Raises ProposalNotFound."""
    proposal = await tx.proposal(proposal_id)
    if proposal is None:
        raise ProposalNotFound(proposal_id)
    return proposal


def ended_as(
    proposal: Proposal,
    status: Status,
    now: int,
    by: tuple[str, ...] = (),
    *,
    resolution: str = "",
    failure: Failure | None = None,
) -> Proposal:
    """Return a proposal with its final status, when (µs) and by whom it was ended, and why."""
    return replace(
        proposal,
        status=status,
        resolve_time=now,
        resolved_by=by,
        resolution=resolution,
        failure=failure,
    )


def proposal_entry(
    proposal: Proposal, action: Action, actor: Actor, principal: str = "", **properties: object
) -> Entry:
    """Return an entry about a proposal's newest revision, naming the first item that it writes."""
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
    """Return the log's entry of a command on spaces or keys; an operator's is marked as such."""
    by = {"operator": True} if caller.space == SYSTEM_SPACE else {}
    return Entry(action, caller.actor, caller.principal, properties={**evidence, **by})
