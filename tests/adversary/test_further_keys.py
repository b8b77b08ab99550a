"""A slot with several keys is one party, and a retired key of it signs nothing (V5, V6)."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord_attestation.consent import KeyInvalid
from concord_attestation.keys import key_id
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.state import ReplayState
from governed_steps import asked_with
from governed_world import AGENT, HUMAN, STATUS, Party, edge_action, reason_of, refused
from imported_world import moved
from restored_stores import change_to, changing
from writing import to_change_keys

PENDING, EXECUTED = STATUS.PROPOSAL_STATUS_PENDING, STATUS.PROPOSAL_STATUS_EXECUTED
REFUSED = ("CONSENT_INVALID", "signature")


def fresh() -> signing.Signer:
    """Return the person with a key of another device."""
    return signing.Signer("ada", signing.generate_key())


async def changed(
    party: Party, change: str, signer: signing.Signer, gone: signing.Signer | None = None
) -> proposal_pb2.Proposal:
    """Change the human's keys, with both consents."""
    proposal = await party.propose(to_change_keys(change, signer, gone, space=party.space))
    done = await party.decide(proposal)
    assert done.status == EXECUTED
    return done


async def shown(party: Party) -> list[tuple[bytes, str, list[str]]]:
    """Return the human's keys, labels and successors as governance shows them."""
    known = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    _, human = known.slots
    assert human.public_key == human.keys[0].public_key
    return [(key.public_key, key.label, list(key.successor_digests)) for key in human.keys]


async def test_each_key_signs_and_both_are_one_party(party: Party) -> None:
    """V2 V5 A1 Two consents of one slot decide nothing; with the agent's, either of its keys does,
    and the log holds."""
    first, second = party.human, fresh()
    await changed(party, "ADD", second)
    assert await shown(party) == [
        (first.public_key, "", []),
        (second.public_key, "laptop", []),
    ]
    proposal = await party.propose(edge_action())
    await party.approve(proposal, HUMAN)
    by_second = party.consent(proposal, HUMAN, signer=second)
    waiting = await party.approve(proposal, HUMAN, by_second)
    assert waiting.status == PENDING
    assert len(waiting.consents) == 1
    as_agent = party.consent(
        proposal, AGENT, signer=signing.Signer(party.agent.principal, second.key)
    )
    assert reason_of(await refused(party.approve(proposal, AGENT, as_agent))) == REFUSED
    assert (await party.approve(proposal, AGENT)).status == EXECUTED
    assert (await party.verified()).executed == 2

    other = await party.propose(edge_action(target="tea"))
    revoked = party.consent(other, HUMAN, signer=second)
    await party.approve(other, HUMAN, revoked)
    await party.governed.RevokeConsent(asked_with(party.revocation(other, HUMAN, revoked)))
    party.human = second
    await party.reject(other, HUMAN)
    await party.verified()


async def test_a_retired_key_signs_nothing_from_then_on(party: Party) -> None:
    """V5 V6 V1 What it signed before is no consent any more; the other key goes on, and takes no
    retired one back."""
    first, second = party.human, fresh()
    await changed(party, "ADD", second)
    waiting = await party.propose(edge_action())
    await party.approve(waiting, HUMAN)
    party.human = second
    await changed(party, "RETIRE", second, first)
    assert await shown(party) == [(second.public_key, "laptop", [])]

    assert (await party.approve(waiting, AGENT)).status == PENDING
    given = party.consent(waiting, HUMAN, signer=first)
    assert reason_of(await refused(party.approve(waiting, HUMAN, given))) == REFUSED
    back = party.revocation(waiting, HUMAN, given, signer=first)
    assert reason_of(await refused(party.governed.RevokeConsent(asked_with(back)))) == REFUSED
    party.human = first
    assert reason_of(await refused(party.reject(waiting, HUMAN))) == REFUSED
    party.human = second
    assert (await party.approve(waiting, HUMAN)).status == EXECUTED
    again = to_change_keys("ADD", first, space=party.space)
    reason = reason_of(await refused(party.propose(again)))
    assert reason == ("KEY_INVALID", "retired_key")
    await party.verified()


async def test_the_last_key_stays(party: Party) -> None:
    """V5 No change leaves a slot without a key, nor does one that is not the slot's take it off."""
    first, second = party.human, fresh()
    for signer, gone, check in ((second, first, "last_key"), (second, second, "unknown_key")):
        change = to_change_keys("RETIRE", signer, gone, space=party.space)
        assert reason_of(await refused(party.propose(change))) == ("KEY_INVALID", check)
    await changed(party, "ADD", second)
    itself = to_change_keys("RETIRE", first, first, space=party.space)
    assert reason_of(await refused(party.propose(itself))) == ("KEY_INVALID", "signature")


async def test_of_two_changes_at_once_one_counts(party: Party) -> None:
    """V5 V6 Each was agreed to with the keys of then in sight: the second is not executed."""
    first, second = party.human, fresh()
    await changed(party, "ADD", second)
    one = await party.propose(to_change_keys("RETIRE", second, first, space=party.space))
    other = await party.propose(to_change_keys("RETIRE", first, second, space=party.space))
    await party.approve(other, AGENT)
    party.human = second
    assert (await party.decide(one)).status == EXECUTED
    assert (await party.approve(other, HUMAN)).status == STATUS.PROPOSAL_STATUS_FAILED
    assert await shown(party) == [(second.public_key, "laptop", [])]
    await party.verified()


async def test_a_key_of_several_is_replaced(party: Party) -> None:
    """V5 The others stay; version 1 of the statement, which names none, is refused."""
    first, second, third = party.human, fresh(), fresh()
    await changed(party, "ADD", second)
    failure = await refused(change_to(party, HUMAN, third))
    assert reason_of(failure) == ("KEY_INVALID", "unknown_key")
    await changed(party, "REPLACE", third, first)
    assert [key for key, *_ in await shown(party)] == [third.public_key, second.public_key]
    for signer, target in ((second, "tea"), (third, "rain")):
        party.human = signer
        assert (await party.decide(await party.propose(edge_action(target=target)))).status == (
            EXECUTED
        )
    await party.verified()


async def test_a_slot_has_a_limit_of_keys(party: Party) -> None:
    """V5 Eight, and the ninth is refused by name."""
    for _ in range(7):
        await changed(party, "ADD", fresh())
    failure = await refused(party.propose(to_change_keys("ADD", fresh(), space=party.space)))
    assert reason_of(failure) == ("KEY_INVALID", "key_count")


async def test_a_retired_key_is_closed_and_not_its_slot(tmp_path: Path) -> None:
    """V5 V6 W7 After the restore of a backup in which it still counted, the other key signs on, and
    takes the retired one off the list."""
    first, second = signing.Signer("ada", signing.generate_key()), fresh()

    async def before(party: Party) -> None:
        await changed(party, "ADD", second)

    async def after(party: Party) -> None:
        party.human = second
        await changed(party, "RETIRE", second, first)

    scene, result = await changing(tmp_path, before, after, human=first)
    assert result.closed_slots == ()
    async with scene.world() as live:
        party = scene.party(live)
        party.human = first
        digest = key_id(second.public_key)
        assert await shown(party) == [
            (first.public_key, "", [digest]),
            (second.public_key, "laptop", []),
        ]
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
        for answered in (party.approve(proposal, HUMAN), party.reject(proposal, HUMAN)):
            assert reason_of(await refused(answered)) == ("CONSENT_INVALID", "retired_key")

        async def move() -> None:
            async with moved(tmp_path, party, scene.clock):
                pass

        assert reason_of(await refused(move())) == ("RESTORE_INVALID", "keys")
        off = await party.propose(to_change_keys("RETIRE", second, first, space=party.space))
        await party.approve(off, AGENT)
        failure = await refused(party.approve(off, HUMAN))
        assert reason_of(failure) == ("CONSENT_INVALID", "retired_key")
        party.human = second
        assert (await party.approve(off, HUMAN)).status == EXECUTED
        assert (await party.approve(proposal, HUMAN)).status == EXECUTED
        assert await shown(party) == [(second.public_key, "laptop", [])]
        await party.verified()


async def test_a_slot_whose_only_key_was_retired_is_closed(tmp_path: Path) -> None:
    """V5 V6 W7 A backup of before the second key came: the retired key consents to nothing but the
    second one in its place."""
    first, second = signing.Signer("ada", signing.generate_key()), fresh()

    async def before(_: Party) -> None:
        pass

    async def after(party: Party) -> None:
        await changed(party, "ADD", second)
        party.human = second
        await changed(party, "RETIRE", second, first)

    scene, result = await changing(tmp_path, before, after, human=first)
    assert result.closed_slots == (("one", HUMAN),)
    async with scene.world() as live:
        party = scene.party(live)
        party.human = first
        for signer in (fresh(), second):
            change = to_change_keys("ADD", signer, space=party.space)
            reason = reason_of(await refused(party.propose(change)))
            assert reason == ("KEY_INVALID", "retired_key")
        await changed(party, "REPLACE", second, first)
        party.human = second
        assert (await party.decide(await party.propose(edge_action()))).status == EXECUTED
        await party.verified()


async def test_a_space_with_several_keys_moves(party: Party, tmp_path: Path) -> None:
    """G15 V5 A2 All of its keys come with it and sign there, and the log of there holds."""
    first, second = party.human, fresh()
    await changed(party, "ADD", second)
    async with moved(tmp_path, party, party.clock) as (_, guest, _keys):
        assert [key for key, *_ in await shown(guest)] == [first.public_key, second.public_key]
        guest.human = second
        assert (await guest.decide(await guest.propose(edge_action()))).status == EXECUTED
        await changed(guest, "RETIRE", second, first)
        await guest.verified()


async def test_an_auditor_takes_no_retired_key_back(party: Party) -> None:
    """A2 V5 A graph that forgot which keys were retired does not pass the replay."""
    first, second = party.human, fresh()
    pinned = Pinned()
    state = ReplayState(read_log(await party.export_log(), pinned), pinned)
    for change, signer, gone in (("ADD", second, None), ("RETIRE", second, first)):
        state.change_key(logged(to_change_keys(change, signer, gone, space=party.space).proof))
    with pytest.raises(KeyInvalid, match="retired_key"):
        state.change_key(logged(to_change_keys("ADD", first, space=party.space).proof))


def logged(proof: bytes) -> dict[str, dict[str, str]]:
    """Return the action that changes a key as the log has it."""
    return {"change_key": {"proof": b64encode(proof).decode()}}
