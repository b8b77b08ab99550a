"""Lists of what is large come in pages that fit into a reply (V1, A3)."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import rfc8785
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord_chassis.call.sizes import MAX_REPLY_BYTES, PAGE_BYTES
from concord_governance.domain.documents import as_json
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.ports.ledger import LedgerWrites
from governed_world import Party, World, edge_action

LARGE, COUNT = 60_000, 24


async def test_large_proposals_come_in_pages_that_fit(live: World, party: Party) -> None:
    """V1 Proposals that come to more than one reply may have are all listed, each once,
    and none is refused for its size, not even one that is over a page's bound by itself."""
    made = await party.propose(edge_action())
    await live.app._ledger.write("one", lambda tx: _copies(tx, made.id))
    numbers, sizes, token = [], [], ""
    while True:
        request = proposal_pb2.ListProposalsRequest(page_size=200, page_token=token)
        reply = await party.proposals.ListProposals(request)
        numbers += [each.number for each in reply.proposals]
        sizes.append(reply.ByteSize())
        token = reply.next_page_token
        if not token:
            break

    assert numbers == list(range(COUNT, 0, -1))
    assert sum(sizes) > MAX_REPLY_BYTES
    assert 2 < len(sizes) < COUNT
    assert max(sizes) < MAX_REPLY_BYTES


async def test_large_entries_come_in_pages_that_fit(live: World, party: Party) -> None:
    """A3 So do entries of the log, each of which may be a megabyte."""
    entry = Entry(Action.SMF_PROPOSE, Actor.AGENT, "agent", properties={"x": "y" * 5 * LARGE})
    before = len(await party.entries(page_size=200))
    await live.app._ledger.write("one", lambda tx: tx.append([entry] * 2 * COUNT))
    places, token = [], ""
    while True:
        request = audit_pb2.ListAuditEntriesRequest(page_size=200, page_token=token)
        reply = await party.audit.ListAuditEntries(request)
        places += [each.index for each in reply.entries]
        assert reply.ByteSize() <= PAGE_BYTES + 1_000
        token = reply.next_page_token
        if not token:
            break

    assert places == list(range(before + 2 * COUNT - 1, -1, -1))


async def _copies(tx: LedgerWrites, proposal_id: str) -> None:
    """Write proposals like another one, but large: one of them over a page's bound by itself."""
    found = await tx.proposal(proposal_id)
    assert found is not None
    for number in range(2, COUNT + 1):
        statement = "w" * (LARGE if number != COUNT // 2 else PAGE_BYTES)
        affected = tuple(replace(item, statement=statement) for item in found.newest.affected)
        revision = replace(
            found.newest, proposal_id=f"copy {number}", number=number, affected=affected
        )
        canonical = rfc8785.dumps(as_json(revision))
        digest = sha256(canonical).hexdigest()
        newest = replace(revision, canonical=canonical, digest=digest)
        assert await tx.next_number() == number
        await tx.put(None, replace(found, newest=newest, version=0))
