"""The audit log: complete, append-only, and checked by whoever reads it (A1, A2, A3)."""

import json
import os
import random
from collections import Counter

import pytest
from concord.governance.v1 import audit_pb2, principal_pb2
from concord.type.v1 import type_pb2
from concord_attestation.checkpoint import read_checkpoint
from concord_attestation.tree import leaf_hash, verify_consistency, verify_inclusion
from concord_client.trust.audit.log import LogInvalid, Pinned, read_log
from concord_client.trust.audit.replay import Replay
from governed_world import AGENT, HUMAN, Party, World, edge_action, eventually, refused

_PRINCIPALS = principal_pb2.GetPrincipalsRequest()

LONG_LOG = 350
"""Proposals, whose steps are more than 1,000 entries."""
MUTATIONS = int(os.environ.get("CONCORD_MUTATIONS_CHAOS", "10000"))
MUTATION_SEED = int(os.environ.get("CONCORD_MUTATION_SEED", random.randrange(1 << 30)))


async def checkpoint(party: Party) -> str:
    """Return the newest checkpoint."""
    return (await party.audit.GetCheckpoint(audit_pb2.GetCheckpointRequest())).checkpoint


async def until(party: Party, action: str) -> list[str]:
    """Wait until the log tells of an action; return all that it tells."""
    return await eventually(party.actions, lambda told: action in told)


async def test_the_log_verifies_offline_and_its_rules_replay(party: Party) -> None:
    """A2 An export needs nothing but keys: hashes, signatures, sequence, rules."""
    digest = (await party.principals.GetPrincipals(_PRINCIPALS)).genesis_digest
    done = await party.decide(await party.propose(edge_action()))
    note = await checkpoint(party)
    await party.decide(await party.undo(done))
    await until(party, "DELETE_SUCCESS")

    found = await party.verified(checkpoint=note, genesis_digest=digest)

    assert (found.proposals, found.executed, found.undone) == (2, 2, 1)


async def test_proofs_hold_under_the_checkpoints(party: Party) -> None:
    """A2 Inclusion of every entry, and that a later log extends an earlier one."""
    await party.decide(await party.propose(edge_action()))
    await until(party, "WRITE_SUCCESS")
    keys = await party.principals.GetPrincipals(_PRINCIPALS)
    old = read_checkpoint(await checkpoint(party), keys.log_origin, keys.log_key)
    await party.reject(await party.propose(edge_action(target="tea")), HUMAN)
    new = read_checkpoint(await checkpoint(party), keys.log_origin, keys.log_key)

    for index in range(old.size):
        proof = await party.audit.GetInclusionProof(
            audit_pb2.GetInclusionProofRequest(index=index, tree_size=old.size)
        )
        verify_inclusion(leaf_hash(proof.leaf), index, old.size, list(proof.hashes), old.root)
    consistency = await party.audit.GetConsistencyProof(
        audit_pb2.GetConsistencyProofRequest(old_size=old.size, new_size=new.size)
    )
    verify_consistency(old.size, old.root, new.size, new.root, list(consistency.hashes))
    beyond = audit_pb2.GetInclusionProofRequest(index=0, tree_size=new.size + 50)
    failure = await refused(party.audit.GetInclusionProof(beyond))
    assert failure.reason == "ERROR_REASON_PROOF_IMPOSSIBLE"


async def test_listing_filters_and_pages(party: Party) -> None:
    """A3 By item, action, actor and time; newest first; paged without gap or repeat."""
    done = await party.decide(await party.propose(edge_action()))
    await until(party, "WRITE_SUCCESS")
    item = next(each.item_id for each in await party.entries() if each.item_id)
    everything = [each.index for each in await party.entries(page_size=200)]
    assert everything == sorted(everything, reverse=True)

    about = await party.entries(item_id=item)
    assert {each.item_id or each.proposal_id for each in about} == {item, done.id}
    by_human = await party.entries(actor=type_pb2.PRINCIPAL_KIND_HUMAN)
    assert [each.principal for each in by_human] == ["ada"]
    assert await party.entries(until=done.create_time) == []
    paged, token = [], ""
    while True:
        reply = await party.audit.ListAuditEntries(
            audit_pb2.ListAuditEntriesRequest(page_size=3, page_token=token)
        )
        paged += [each.index for each in reply.entries]
        token = reply.next_page_token
        if not token:
            break
    assert paged == everything


MOST_OPEN = 100
"""Below the number of proposals that one principal may have pending."""


async def a_log(party: Party, proposals: int) -> list[bytes]:
    """Return an exported log with some of everything in it."""
    for number in range(proposals):
        proposal = await party.propose(edge_action(target=f"value {number}"))
        match number % 4:
            case 0:
                await party.decide(proposal)
            case 1:
                await party.reject(proposal, HUMAN)
            case 2:
                await party.approve(proposal, AGENT)
            case _:
                await refused(party.approve(proposal, HUMAN, b"{}"))
        if number % 4 > 1 and number > MOST_OPEN:
            await party.reject(proposal, AGENT)
    await until(party, "WRITE_SUCCESS")
    return await party.export_log()


def mutated(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """Return the log with one thing done to it."""
    touched = list(lines)
    place = chance.randrange(1, len(touched))
    match chance.choice(["flip", "drop", "swap", "cut", "repeat", "append", "header"]):
        case "flip":
            line = bytearray(touched[place])
            line[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
            touched[place] = bytes(line)
        case "drop":
            del touched[place]
        case "swap":
            other = place - 1 if place > 1 else len(touched) - 1
            touched[place], touched[other] = touched[other], touched[place]
        case "cut":
            del touched[place:]
        case "repeat":
            touched.insert(place, touched[place])
        case "append":
            leaf = json.loads(touched[-1])
            leaf["index"] += 1
            touched.append(json.dumps(leaf, sort_keys=True, separators=(",", ":")).encode() + b"\n")
        case "header":
            line = bytearray(touched[0])
            line[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
            touched[0] = bytes(line)
    return touched


def verify(lines: list[bytes], pinned: Pinned) -> None:
    """Check a log and replay it."""
    Replay(read_log(lines, pinned), pinned).run()


async def test_every_mutation_of_a_log_is_refused(party: Party) -> None:
    """A2 Flip, drop, reorder, truncate, repeat, append: given the checkpoint, all are refused."""
    lines = await a_log(party, 8)
    keys = await party.principals.GetPrincipals(_PRINCIPALS)
    note = json.loads(lines[0])["checkpoint"]
    pinned = Pinned(keys.log_key, keys.genesis_digest, note)
    verify(lines, pinned)
    chance = random.Random(5)

    for _ in range(300):
        touched = mutated(lines, chance)
        if touched != lines:
            with pytest.raises(LogInvalid):
                verify(touched, pinned)


@pytest.mark.chaos
@pytest.mark.timeout(0)
async def test_ten_thousand_mutations_of_a_long_log_are_refused(party: Party) -> None:
    """A2 Must hold: of a log of 1,000 entries, given the checkpoint, all 10,000 are refused."""
    lines = await a_log(party, LONG_LOG)
    keys = await party.principals.GetPrincipals(_PRINCIPALS)
    note = json.loads(lines[0])["checkpoint"]
    pinned = Pinned(keys.log_key, keys.genesis_digest, note)
    verify(lines, pinned)
    chance, refused_ = random.Random(MUTATION_SEED), Counter[str]()

    while refused_.total() < MUTATIONS:
        touched = mutated(lines, chance)
        if touched != lines:
            with pytest.raises(LogInvalid) as caught:
                verify(touched, pinned)
            refused_[caught.value.check] += 1

    assert len(lines) > 1_000
    print(f"{len(lines) - 1} entries, seed {MUTATION_SEED}, refused: {dict(refused_)}")


async def test_a_log_rewritten_by_its_own_key_is_found_by_a_kept_checkpoint(
    live: World, party: Party
) -> None:
    """A2 Who owns the log's key can sign another history, but not one that extends what a client
    kept."""
    lines = await a_log(party, 3)
    kept = json.loads(lines[0])["checkpoint"]
    other = live.party("two")
    await other.enrol()
    await a_log(other, 3)
    rewritten = await other.export_log()

    with pytest.raises(LogInvalid):
        verify(rewritten, Pinned(checkpoint=kept))
