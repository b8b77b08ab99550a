"""Settling proposals by an access key, and the guards that keep that to what nobody can sign."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import grpc
import pytest
from concord.governance.v1 import proposal_pb2
from concord.type.v1 import type_pb2
from concord_governance.usecases import decision_guards
from governed_world import DAY, STATUS, Party, edge_action, request_id

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
APPROVE, REJECT = proposal_pb2.SETTLEMENT_APPROVE, proposal_pb2.SETTLEMENT_REJECT


async def settle(
    party: Party,
    proposal: proposal_pb2.Proposal,
    settlement: proposal_pb2.Settlement.ValueType = APPROVE,
    *,
    stub: Any = None,
    **fields: Any,
) -> proposal_pb2.Proposal:
    """Settle a proposal at the revision that was read; `stub` speaks for another key."""
    said: dict[str, Any] = {"request_id": request_id(), "revision": proposal.revision} | fields
    request = proposal_pb2.SettleProposalRequest(
        proposal_id=proposal.id, settlement=settlement, **said
    )
    reply = await (stub or party.proposals).SettleProposal(request)
    return reply.proposal


async def plain(party: Party) -> proposal_pb2.Proposal:
    """Propose what is descriptive."""
    return await party.propose(edge_action(target="tea", edge_type=DESCRIPTIVE))


async def _settles_after_the_genesis(scene: Any) -> bool:
    async with scene.enrolled() as (_, party):
        return await _settles(party, await plain(party))


async def _settles_what_needs_both(scene: Any) -> bool:
    async with scene.world() as live:
        party = live.party()
        return await _settles(party, await party.propose(edge_action()))


async def _settles_what_was_not_read(scene: Any) -> bool:
    async with scene.world() as live:
        party = live.party()
        proposal = await plain(party)
        await party.revise(proposal, edge_action(target="gin", edge_type=DESCRIPTIVE))
        return await _settles(party, proposal)


async def _settles_an_undo_late(scene: Any) -> bool:
    async with scene.world(settings={"undo_retention_days": 1}) as live:
        party = live.party()
        undo = await party.undo(await settle(party, await plain(party)))
        scene.clock.pass_(DAY)
        return await _settles(party, undo)


async def _settles(party: Party, proposal: proposal_pb2.Proposal) -> bool:
    """Try to settle a proposal; return whether it is."""
    with suppress(grpc.aio.AioRpcError):
        await settle(party, proposal)
    return (await party.get(proposal)).status != STATUS.PROPOSAL_STATUS_PENDING


async def _asks_nothing(*_: Any, **__: Any) -> None:
    return None


Guard = tuple[Callable[[Any], Awaitable[bool]], Callable[[pytest.MonkeyPatch], None]]
SETTLEMENT_GUARDS: dict[str, Guard] = {
    "no settling after the genesis": (
        _settles_after_the_genesis,
        lambda patch: patch.setattr(decision_guards, "demand_no_genesis", _asks_nothing),
    ),
    "no settling of what is constitutive": (
        _settles_what_needs_both,
        lambda patch: patch.setattr(decision_guards, "demand_descriptive", lambda _: None),
    ),
    "no settling of what was not read": (
        _settles_what_was_not_read,
        lambda patch: patch.setattr(decision_guards, "demand_revision", lambda *_: None),
    ),
    "no settling of a late undo": (
        _settles_an_undo_late,
        lambda patch: patch.setattr(decision_guards, "demand_undoable", _asks_nothing),
    ),
}
"""By name: a probe that returns whether harm was done, and the guard's removal."""
