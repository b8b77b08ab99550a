"""Creates, revises and withdraws proposals, and proposes to undo one (V1, V3, V8)."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

import rfc8785
from concord_attestation.identifiers import new_id
from concord_attestation.instants import format_time

from concord_governance.domain import actions, framing
from concord_governance.domain.dissonance import DISSONANCE, MOST_PENDING, NUANCE, demand_trigger
from concord_governance.domain.documents import as_json, demand_size
from concord_governance.domain.entries import Action, Entry
from concord_governance.domain.errors import (
    GraphRefused,
    JudgeUnavailable,
    RevisionStale,
    SafeguardViolation,
    TooManyPending,
    UndoConflict,
    UndoImpossible,
)
from concord_governance.domain.proposals import (
    HOUR,
    OPEN,
    FramingCheck,
    Json,
    Kind,
    Level,
    Proposal,
    Revision,
    Status,
    Trigger,
)
from concord_governance.domain.safeguards import Settings, policy
from concord_governance.ports.graph import Graph, NormalForm, Preview
from concord_governance.ports.ledger import LedgerReads, LedgerWrites
from concord_governance.usecases import decision_guards as guards
from concord_governance.usecases.imports import was_imported
from concord_governance.usecases.ledger_commands import (
    Caller,
    LedgerCommands,
    Request,
    ended_as,
    existing,
    proposal_entry,
)

PENDING_PER_PRINCIPAL = 100
"""The most waiting proposals of one principal in a space, unless configured otherwise."""
_OPEN = sorted(OPEN)
Judge = Callable[[str], Awaitable[tuple[str, ...]]]
"""A second check of a note that passed the lexicon (V3): returns the words that are not neutral, as
they stand in the note. Raises JudgeUnavailable if there is no usable answer in a bounded time."""
_NOTHING = Preview(())
_UNDO_CONFLICT = "ERROR_REASON_UNDO_CONFLICT"
_SAFEGUARD = "ERROR_REASON_SAFEGUARD_VIOLATION"


@dataclass(frozen=True, slots=True)
class ProposalDraft:
    """The proposed action, and a note in the proposer's own words."""

    action: Mapping[str, Json]
    action_digest: str
    note: str = ""
    language: str = "en"
    undo_of: str = ""
    trigger: Trigger = Trigger.MANUAL
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The results of the checks of a draft, before its revision is written."""

    preview: Preview = _NOTHING
    framing_check: FramingCheck = FramingCheck.TEMPLATE
    status: Status = Status.PENDING


class Proposals:
    """Turns drafts into immutable revisions. Without a judge only the lexicon checks notes."""

    def __init__(
        self,
        commands: LedgerCommands,
        graph: Graph,
        settings: Settings,
        normal_form: NormalForm,
        judge: Judge | None,
        *,
        most_pending: int,
    ) -> None:
        self._judge = judge
        self._most_pending = most_pending
        self._commands = commands
        self._graph = graph
        self._normal_form = normal_form
        self._settings = settings
        self._policy = policy(settings)
        self.policy_digest = sha256(rfc8785.dumps(self._policy)).hexdigest()

    async def create(self, request: Request, draft: ProposalDraft) -> Proposal:
        """Propose an action.

        Raises:
            TooManyPending: the principal has the most waiting proposals already.
        """
        caller = request.caller
        prepared = await self._prepare(request, draft)

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            most = MOST_PENDING if caller.is_service(DISSONANCE) else self._most_pending
            if await tx.proposal_count(_OPEN, caller.principal) >= most:
                raise TooManyPending(most)
            number = await tx.next_number()
            revision = self._revision(
                caller,
                draft,
                prepared,
                proposal_id=new_id(now),
                number=number,
                revision=1,
                now=now,
            )
            proposal = Proposal(revision, prepared.status, create_time=now)
            await tx.put(None, proposal)
            await tx.append([_revision_entry(proposal, Action.SMF_PROPOSE, caller, self._policy)])
            return proposal

        return await self._commands.run(request, work)

    async def revise(self, request: Request, replaces: int, draft: ProposalDraft) -> Proposal:
        """Replace a pending proposal's note or action; its consents become void.

        Of an undo only the note can be replaced. A proposal that waited for the agent's review
        waits for consents afterwards.
        """
        caller = request.caller
        before = await self._commands.earlier_proposal(request)
        if before is not None:
            return before
        async with self._commands.recording_refusals(request):
            stored = await self._commands.stored(request.space, request.proposal_id)
            draft = _next_revision_draft(stored, draft)
        prepared = await self._prepare(request, draft)

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            stored = await existing(tx, request.proposal_id)
            guards.demand_open_and_own(stored, caller.principal)
            if stored.newest.revision != replaces:
                raise RevisionStale("another revision is the newest")
            revision = self._revision(
                caller,
                draft,
                prepared,
                proposal_id=request.proposal_id,
                number=stored.newest.number,
                revision=replaces + 1,
                now=now,
            )
            after = replace(stored, newest=revision, consents=(), status=Status.PENDING)
            await tx.put(stored, after)
            await tx.append([_revision_entry(after, Action.SMF_REVISE, caller, self._policy)])
            return after

        return await self._commands.run(request, work)

    async def withdraw(self, request: Request) -> Proposal:
        """End an open proposal of the caller's own."""
        caller = request.caller

        async def work(tx: LedgerWrites, now: int) -> Proposal:
            stored = await existing(tx, request.proposal_id)
            guards.demand_open_and_own(stored, caller.principal)
            after = ended_as(stored, Status.WITHDRAWN, now, (caller.principal,))
            await tx.put(stored, after)
            entry = proposal_entry(after, Action.SMF_WITHDRAW, caller.actor, caller.principal)
            await tx.append([entry])
            return after

        return await self._commands.run(request, work)

    async def undo(self, request: Request) -> Proposal:
        """Propose to restore the items as they were before an executed proposal.

        Raises:
            UndoConflict: items were changed since; it names them.
        """
        before = await self._commands.earlier_proposal(request)
        if before is not None:
            return before
        async with self._commands.recording_refusals(request):
            original = await self._commands.ledger.read(
                request.space, lambda tx: _proposal_to_undo(tx, request.proposal_id)
            )
            draft = self._undo_draft(original)
        try:
            return await self.create(replace(request, proposal_id=""), draft)
        except GraphRefused as refusal:
            if refusal.reason != _UNDO_CONFLICT:
                raise
            conflict = UndoConflict(refusal.metadata.get("item_ids", "").split(","))
            return await self._commands.refuse(request, conflict)

    def _undo_draft(self, original: Proposal) -> ProposalDraft:
        guards.demand_executed(original)
        assert original.decision is not None  # noqa: S101 - executed
        if not original.newest.canonical:
            raise UndoImpossible("what it was about was erased")
        guards.demand_undo_window(original, self._commands.clock())
        items: list[Json] = [
            {
                "id": effect.item_id,
                "revision": str(effect.before),
                "expected_revision": str(effect.after),
                "cascaded": effect.cascaded,
            }
            for effect in original.decision.effects
        ]
        revert: dict[str, Json] = {"request_id": secrets.token_urlsafe(24), "items": items}
        action, digest = self._normal_form({"revert_items": revert})
        return ProposalDraft(action, digest, undo_of=original.id)

    async def _prepare(self, request: Request, draft: ProposalDraft) -> _Prepared:
        """Check the action and the note, and ask graph for the affected items; once per request."""
        await self._commands.check(request, lambda: self._demand_proposable(request.caller, draft))
        if await self._commands.earlier_proposal(request) is not None:
            return _Prepared()
        checked = await self._check_framing(request, draft)
        preview = await self._preview(request, draft)
        affected = tuple(sorted(preview.affected, key=lambda item: item.id))
        await self._commands.check(request, lambda: demand_size(affected))
        status = await self._first_status(request.space, draft)
        return _Prepared(replace(preview, affected=affected), checked, status)

    async def _first_status(self, space: str, draft: ProposalDraft) -> Status:
        """Return a draft's first status: a nuance that dissonance found needs the agent's review.

        Requirement D5.
        """
        by_request = draft.trigger == Trigger.MANUAL
        if by_request or actions.kind_of(draft.action) != Kind.RECLASSIFY:
            return Status.PENDING
        conflict = await self._graph.conflict(space, actions.conflict_of(draft.action))
        nuance = conflict is not None and conflict.conflict_class == NUANCE
        return Status.PENDING_REVIEW if nuance else Status.PENDING

    async def _preview(self, request: Request, draft: ProposalDraft) -> Preview:
        """Ask graph for the affected items; refuse an action on reserved items, named by id."""
        try:
            return await self._graph.preview(request.space, draft.action)
        except GraphRefused as refusal:
            if refusal.reason == _SAFEGUARD:
                error = SafeguardViolation(actions.PRINCIPALS)
                await self._commands.refuse(request, error)
            raise

    async def _check_framing(self, request: Request, draft: ProposalDraft) -> FramingCheck:
        """Have the judge check a note that the lexicon let pass; return who checked the note.

        A judge that does not answer refuses nothing: the signed bytes say that the lexicon alone
        has checked the note.
        """
        if not draft.note:
            return FramingCheck.TEMPLATE
        if self._judge is None:
            return FramingCheck.LEXICON
        try:
            words = await self._judge(draft.note)
        except JudgeUnavailable:
            return FramingCheck.MODEL_SILENT
        await self._commands.check(request, lambda: framing.demand_no_phrases(words))
        return FramingCheck.MODEL

    def _demand_proposable(self, caller: Caller, draft: ProposalDraft) -> None:
        if actions.kind_of(draft.action) == Kind.UNDO and not draft.undo_of:
            raise UndoImpossible("an undo names the proposal that it undoes: UndoModification")
        actions.demand_allowed(draft.action)
        demand_trigger(
            draft.trigger,
            draft.action,
            draft.session_id,
            by_dissonance=caller.is_service(DISSONANCE),
        )
        framing.demand_neutral(draft.note)

    def _revision(
        self,
        caller: Caller,
        draft: ProposalDraft,
        prepared: _Prepared,
        *,
        proposal_id: str,
        number: int,
        revision: int,
        now: int,
    ) -> Revision:
        kind, affected = actions.kind_of(draft.action), prepared.preview.affected
        irreversible = prepared.preview.irreversible or kind in actions.IRREVERSIBLE
        both = any(item.needs_consent for item in affected) or kind == Kind.CHANGE_KEY
        words = framing.from_template(
            draft.language,
            kind,
            tuple(item for item in affected if not item.pinned),
            trigger=draft.trigger,
            cascaded=prepared.preview.cascaded_count,
            irreversible=irreversible,
            days=self._settings.undo_retention_days,
            hours=self._settings.approval_timeout_hours,
        )
        blank = Revision(
            space=caller.space,
            proposal_id=proposal_id,
            number=number,
            revision=revision,
            proposer=caller.principal,
            trigger=draft.trigger,
            session_id=draft.session_id,
            origin=caller.origin if _WORDED & draft.action.keys() else "",
            kind=kind,
            level=Level.BILATERAL if both else Level.AGENT,
            action=draft.action,
            action_digest=draft.action_digest,
            affected=affected,
            framing=words,
            framing_check=prepared.framing_check,
            note=draft.note,
            policy_digest=self.policy_digest,
            create_time=now,
            expire_time=now + self._settings.approval_timeout_hours * HOUR,
            undo_of=draft.undo_of,
            cascaded_count=prepared.preview.cascaded_count,
            irreversible=irreversible,
        )
        canonical = rfc8785.dumps(as_json(blank))
        return replace(blank, canonical=canonical, digest=sha256(canonical).hexdigest())


_WORDED = frozenset({"add_memory", "update_memory"})
"""The actions that write a memory's words: those are the proposer's (0064, 0112)."""


def _next_revision_draft(proposal: Proposal, draft: ProposalDraft) -> ProposalDraft:
    """Return a draft for the next revision of a proposal, with its trigger and session.

    Raises:
        UndoImpossible: the draft has another action than the undo that it revises.
    """
    newest = proposal.newest
    if newest.undo_of and draft.action_digest != newest.action_digest:
        raise UndoImpossible("an undo stays one: withdraw it, and propose the other change")
    return replace(
        draft, undo_of=newest.undo_of, trigger=newest.trigger, session_id=newest.session_id
    )


def _revision_entry(
    proposal: Proposal, action: Action, caller: Caller, policy: Mapping[str, Json]
) -> Entry:
    newest = proposal.newest
    reviewed = proposal.status == Status.PENDING_REVIEW
    return proposal_entry(
        proposal,
        action,
        caller.actor,
        caller.principal,
        number=newest.number,
        kind=newest.kind.name,
        level=newest.level.name,
        trigger=newest.trigger.name,
        framing_check=newest.framing_check.name,
        action_digest=newest.action_digest,
        etags=newest.etags,
        cascaded_count=newest.cascaded_count,
        policy=dict(policy),
        policy_digest=newest.policy_digest,
        expire_time=format_time(newest.expire_time),
        undo_of=newest.undo_of,
        **({"status": proposal.status.name} if reviewed else {}),
    )


async def _proposal_to_undo(tx: LedgerReads, proposal_id: str) -> Proposal:
    """Return a proposal of this space.

    Raises:
        UndoImpossible: it is unknown, and may have been decided before the space was imported.
    """
    if await tx.proposal(proposal_id) is None and await was_imported(tx):
        raise UndoImpossible(
            "this space was imported, and what was decided before is not undone here:"
            " propose the change that takes it back"
        )
    return await existing(tx, proposal_id)
