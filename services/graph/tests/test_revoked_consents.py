"""A consent that is taken back at graph: one row of the outbox with the burnt nonce (V6, A1)."""

from pathlib import Path

from concord.graph.v1 import feed_pb2, governed_pb2
from concord.type.v1 import type_pb2
from concord_attestation.bounds import MAX_REVOCATION_BYTES
from concord_client.trust import signing
from graph_world import Calls, Clock, Parties, World, reason, refused, world
from transfers import export_of, restored

REVOKED, REFUSED = feed_pb2.CHANGE_TYPE_REVOKED, feed_pb2.CHANGE_TYPE_REFUSED


def revocation(parties: Parties, slot: str = signing.AGENT) -> bytes:
    """Sign the revocation of a consent that a slot may have given."""
    signer = parties.agent if slot == signing.AGENT else parties.human
    consent = signing.sign_consent(
        slot=slot,
        signer=signer,
        space=parties.space,
        proposal_id="p",
        revision=1,
        proposal_digest="0" * 64,
        action_digest="0" * 64,
        etags={},
        policy_digest="0" * 64,
        expire_time=parties.expiry(),
    )
    return signing.sign_revocation(
        slot=slot,
        signer=signer,
        space=parties.space,
        proposal_id="p",
        revision=1,
        consent=consent,
    )


async def revoke(calls: Calls, envelope: bytes, request_id: str = "") -> None:
    """Ask graph itself."""
    asked = governed_pb2.RevokeConsentRequest(
        request_id=request_id or calls.request_id(), revocation=envelope
    )
    await calls.governed.RevokeConsent(asked)


async def test_a_burnt_nonce_is_told_once_with_its_paper(
    live: World, home: Calls, parties: Parties
) -> None:
    """V6 A1 The row comes with the burn, once: a replay adds none, and what burns nothing is
    told as refused."""
    before = len(await home.changes())
    envelope = revocation(parties)

    await revoke(home, envelope, "once")
    await revoke(home, envelope, "once")
    again = await refused(revoke(home, envelope))
    stranger = await reason(revoke(home, revocation(live.parties())))

    told = (await home.changes())[before:]
    assert (again.reason, again.metadata["check"]) == ("ERROR_REASON_CONSENT_INVALID", "nonce")
    assert stranger == "ERROR_REASON_CONSENT_INVALID"
    assert [change.type for change in told] == [REVOKED, REFUSED, REFUSED]
    assert [change.revocation for change in told] == [envelope, b"", b""]
    assert (told[0].item_id, told[0].item_kind) == ("", type_pb2.ITEM_KIND_GHOST)
    assert told[0].attestation.method == "RevokeConsent"
    assert told[0].attestation.request_id == "once"
    assert not told[0].attestation.constitutive


async def test_a_revocation_is_small(home: Calls, parties: Parties) -> None:
    """V6 The feed carries five hundred in a message: none is larger than its bound."""
    padded = revocation(parties)
    padded += b" " * (MAX_REVOCATION_BYTES - len(padded))

    await revoke(home, padded)
    assert await reason(revoke(home, padded + b" ")) == "ERROR_REASON_FIELD_INVALID"


async def test_revocations_move_with_their_space(tmp_path: Path) -> None:
    """G15 V6 An export has them, and what is imported from it: all lines come back, the nonces are
    burnt there, and what is told of them is told as recorded elsewhere."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        home, parties = here.calls(), here.parties()
        await parties.enrol(home)
        envelopes = [revocation(parties, slot) for slot in (signing.AGENT, signing.HUMAN)]
        for envelope in envelopes:
            await revoke(home, envelope)
        lines = await export_of(home)
    async with world(tmp_path / "b.db", clock=clock) as there:
        away = there.calls()
        await restored(away, lines, parties)

        assert (await export_of(away))[1:] == lines[1:]
        told = [change for change in await away.changes() if change.revocation]
        assert [change.revocation for change in told] == envelopes
        assert all(change.imported for change in told)
        assert await reason(revoke(away, envelopes[0])) == "ERROR_REASON_CONSENT_INVALID"
