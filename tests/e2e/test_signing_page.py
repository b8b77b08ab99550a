"""SIGNING.md is enough to sign by, and every byte that it shows is right (V5, V6, G15)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2
from concord_attestation.consent import EXPIRY_DETAILS, Terms
from concord_attestation.deletion import verify_deletion
from concord_attestation.digest import action_digest, etags_digest
from concord_attestation.envelope import ENVELOPE_DETAILS
from concord_attestation.instants import parse_time
from concord_attestation.key_changes import verify_key_change
from concord_attestation.parties import verify_genesis
from concord_attestation.payloads import (
    AnswerPayload,
    ConsentPayload,
    DeletionPayload,
    GenesisPayload,
    GrantPayload,
    KeyChangePayload,
    RestorePayload,
)
from concord_attestation.restore import verify_restore
from concord_attestation.verify import verify_answer, verify_consent, verify_grant
from concord_client.trust import digests
from concord_governance.domain import documents
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.json_format import ParseDict
from governed_world import (
    GENESIS_ENTRIES,
    SECRET,
    STATUS,
    Party,
    World,
    edge_action,
    eventually,
    reason_of,
    refused,
    request_id,
)
from page_signer import canonical, digest, media_type, public, signed, text
from writing import action_of, salt

PAGE = Path(__file__).parents[2] / "protos/concord/governance/v1/SIGNING.md"
AGENT, HUMAN, GOVERNANCE, NEXT, THERE = (
    Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in range(1, 6)
)
NOW, LATER = "2027-01-15T08:00:00.000000Z", "2027-01-17T08:00:00.000000Z"
KEYS_SHOWN = {
    name: {"public_key": text(public(key)), "keyid": digest(public(key))}
    for name, key in (
        *(("agent", AGENT), ("human", HUMAN), ("governance", GOVERNANCE)),
        *(("next", NEXT), ("there", THERE)),
    )
}
ACTION = {
    "upsert_edge": {
        "request_id": "7Yx1mB0kT3qWJc5dZ8rVfA",
        "edge": {
            "source": {"name": "assistant"},
            "relation": "VALUES",
            "target": {"name": "Ehrlichkeit"},
            "edge_type": "EDGE_TYPE_CONSTITUTIVE",
        },
    }
}
ETAGS = {"note-ä": "0f6e9c8d7b5a493827160f5e", "new:edge": ""}
_ABOUT = {"space": "home", "proposal_id": "01980000-0000-7000-8000-000000000000", "revision": 1}
_DIGESTS = {
    "proposal_digest": digest(b"a revision"),
    "action_digest": digest(canonical(ACTION)),
    "policy_digest": digest(b"a policy"),
}
_PARTIES = {
    "AGENT": {"principal": "assistant", "public_key": text(public(AGENT))},
    "HUMAN": {"principal": "ada", "public_key": text(public(HUMAN))},
}


def _nonce(number: int) -> str:
    return text(bytes([number]) * 32)


def _consent(slot: str, nonce: int) -> dict[str, Any]:
    return {
        **_ABOUT,
        **_DIGESTS,
        "version": 3,
        "slot": slot,
        "principal": _PARTIES[slot]["principal"],
        "etags_digest": digest(canonical(ETAGS)),
        "nonce": _nonce(nonce),
        "expire_time": LATER,
    }


def _answer(nonce: int, reason: str) -> dict[str, Any]:
    told = {"slot": "HUMAN", "principal": "ada", "reason": reason, "nonce": _nonce(nonce)}
    return {"version": 1, **_ABOUT, **told}


_GENESIS = {
    "version": 1,
    "space": "home",
    "slots": _PARTIES,
    "governance_key": text(public(GOVERNANCE)),
    "create_time": NOW,
}
_GRANT = {
    **_ABOUT,
    **_DIGESTS,
    "version": 3,
    "decision_id": "01980000-0000-7000-8000-000000000001",
    "etags": ETAGS,
    "consents": {
        slot: json.loads(signed("consent", _consent(slot, nonce), key))
        for slot, nonce, key in (("AGENT", 0xA1, AGENT), ("HUMAN", 0xA2, HUMAN))
    },
    "nonce": _nonce(0xA6),
    "expire_time": LATER,
}


def _key_change(change: str, key: Ed25519PrivateKey, **told: str) -> dict[str, Any]:
    about = {"space": "home", "slot": "HUMAN", "principal": "ada", "change": change}
    rest = {"public_key": text(public(key)), "replaced_key": "", "label": ""}
    return {"version": 2, **about, **rest, **told}


_STATEMENTS: dict[str, tuple[str, dict[str, Any], list[Ed25519PrivateKey]]] = {
    "genesis": ("Signed by the agent and the human.", _GENESIS, [AGENT, HUMAN]),
    "consent": ("The human's, with the nonce `a2`.", _consent("HUMAN", 0xA2), [HUMAN]),
    "rejection": ("The human's, with the nonce `a3`.", _answer(0xA3, "not so"), [HUMAN]),
    "revocation": ("Of the consent above, so with its nonce.", _answer(0xA2, ""), [HUMAN]),
    "key": (
        "The human's further key, on a second device, signed by itself.",
        _key_change("ADD", NEXT, label="laptop"),
        [NEXT],
    ),
    "retired-key": (
        "The same key no longer counts, by the first one, which stays.",
        _key_change("RETIRE", NEXT),
        [HUMAN],
    ),
    "grant": (
        "Governance's, with the nonce `a6`, of the consent above and the agent's, which has the"
        " nonce `a1`.",
        _GRANT,
        [GOVERNANCE],
    ),
    "restore": (
        "Into the place of the key `05`, with the nonce `a7`, by both slots.",
        {
            "version": 3,
            "space": "home",
            "genesis_digest": digest(canonical(_GENESIS)),
            "export_digest": digest(b"an export"),
            "constitutive_digest": digest(b"[]"),
            "keys": {"AGENT": text(public(AGENT)), "HUMAN": text(public(HUMAN))},
            "governance_key": text(public(THERE)),
            "nonce": _nonce(0xA7),
            "expire_time": LATER,
        },
        [AGENT, HUMAN],
    ),
    "space-deletion": (
        "By both slots.",
        {
            "version": 1,
            "space": "home",
            "genesis_digest": digest(canonical(_GENESIS)),
            "expire_time": LATER,
        },
        [AGENT, HUMAN],
    ),
}


def _encoding(name: str, statement: dict[str, Any]) -> bytes:
    kind, payload = media_type(TYPES.get(name, name)).encode(), canonical(statement)
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


TYPES = {"retired-key": "key"}
"""The statement of an example, where that has a name of its own."""
EXAMPLES = {
    name: (
        note,
        statement,
        (signed(TYPES.get(name, name), statement, *keys), _encoding(name, statement)),
    )
    for name, (note, statement, keys) in _STATEMENTS.items()
}


def shown() -> dict[str, bytes]:
    """Return the page's worked examples by their names."""
    found = re.findall(r"```(?:json|text) (\S.*)\n([\s\S]*?)\n```", PAGE.read_text("utf-8"))
    return {name: example.encode() for name, example in found}


def table_under(heading: str) -> list[list[str]]:
    """Return the rows of the first table under a heading, without its head."""
    rest = PAGE.read_text("utf-8").split(heading, 1)[1]
    rows = re.findall(r"^\|(.*)\|$", rest[: rest.find("\n\n", rest.index("|---"))], re.M)
    return [[cell.strip() for cell in row.split(" | ")] for row in rows[2:]]


def fields(cell: str) -> list[str]:
    """Return the names that a cell of a table quotes."""
    return re.findall(r"`([^`]+)`", cell)


def test_the_worked_examples_are_right() -> None:
    """V6 Every byte of every example is what a signer makes that knows nothing but the page."""
    expected = {
        "keys": canonical(KEYS_SHOWN),
        "action": canonical(ACTION),
        "action_digest": digest(canonical(ACTION)).encode(),
        "etags": canonical(ETAGS),
        "etags_digest": digest(canonical(ETAGS)).encode(),
    }
    for name, (_, statement, (envelope, encoding)) in EXAMPLES.items():
        expected[f"{name} statement"] = canonical(statement)
        expected[f"{name} encoding"] = encoding
        expected[f"{name} envelope"] = envelope

    assert shown() == expected


def test_the_worked_examples_are_accepted() -> None:
    """V5 V6 G15 What the page shows is what graph, governance and the offline verifier take."""
    envelopes = {name: shown()[f"{name} envelope"] for name in EXAMPLES}
    now = parse_time(NOW)
    genesis = verify_genesis(envelopes["genesis"], "home")
    terms = Terms(etags=ETAGS, **_ABOUT, **_DIGESTS)  # type: ignore[arg-type] # texts and a number

    assert verify_consent(envelopes["consent"], genesis=genesis, terms=terms, now_us=now)
    for name in ("rejection", "revocation"):
        found = verify_answer(envelopes[name], media_type(name), genesis=genesis, **_ABOUT)  # type: ignore[arg-type] # as above
        assert found.slot == "HUMAN"
    further = verify_key_change(envelopes["key"], genesis).holder
    assert further.public_keys == {public(HUMAN), public(NEXT)}
    retired = verify_key_change(envelopes["retired-key"], replace(genesis, human=further))
    assert retired.holder.public_keys == {public(HUMAN)}
    verify_grant(
        envelopes["grant"],
        genesis=genesis,
        space="home",
        action_digest=_DIGESTS["action_digest"],
        now_us=now,
    )
    verify_restore(
        envelopes["restore"],
        genesis=genesis,
        space="home",
        export_digest=digest(b"an export"),
        now_us=now,
    )
    verify_deletion(envelopes["space-deletion"], genesis, now)
    action = ParseDict(ACTION, governed_pb2.GovernedAction())
    assert action_digest(action) == digests.action_digest(action) == _DIGESTS["action_digest"]
    assert etags_digest(ETAGS) == digest(canonical(ETAGS))


@pytest.mark.parametrize(
    ("heading", "shape"),
    [
        ("### genesis, version 1", GenesisPayload),
        ("### consent, version 3", ConsentPayload),
        ("### rejection, version 1", AnswerPayload),
        ("### revocation, version 1", AnswerPayload),
        ("### key, version 2", KeyChangePayload),
        ("### grant, version 3", GrantPayload),
        ("### restore, version 3", RestorePayload),
        ("### space-deletion, version 1", DeletionPayload),
    ],
)
def test_the_fields_are_those_that_are_read(heading: str, shape: Any) -> None:
    """V6 No field of a statement is missing on the page, and none stands there that is not."""
    rows = table_under(heading)

    assert sorted(fields(row[0])[0] for row in rows) == sorted(shape.model_fields)
    assert rows[0] == ["`version`", "number", heading.rsplit(maxsplit=1)[-1]]


async def test_the_page_names_the_fields_of_a_revision(party: Party) -> None:
    """V6 What a proposal's digest is made over stands on the page, field for field."""
    proposal = await party.propose(edge_action())
    told = {name for row in table_under("**Revision, version 2.**") for name in fields(row[0])}
    parts = documents.from_json(json.loads(proposal.canonical), b"", "")
    rare: dict[str, Any] = {
        "irreversible": True,
        "note": "as Ada asked",
        "session_id": "s",
        "origin": "AGENT",
    }
    all_there = replace(parts, **rare)

    assert documents.as_json(all_there).keys() == told
    assert json.loads(proposal.canonical).keys() == told - rare.keys()


def test_the_page_names_a_refusals_details() -> None:
    """V6 What a refusal may say stands on the page."""
    details = [name for row in table_under("## 5. Refusals") for name in fields(row[2])]

    assert [name for name in details if name not in {"field", "keyid"}] == [
        *ENVELOPE_DETAILS,
        *EXPIRY_DETAILS,
    ]


class Stranger:
    """A principal whose program was written from the page."""

    def __init__(self, slot: str, name: str, number: int) -> None:
        self.slot, self.name = slot, name
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        self._nonces = number

    def nonce(self) -> str:
        """Return a nonce that was not used before."""
        self._nonces += 16
        return text(bytes([self._nonces]) * 32)

    def about(self, proposal: proposal_pb2.Proposal) -> dict[str, Any]:
        """Return what every answer to a proposal says of it."""
        document = json.loads(proposal.canonical)
        told = {name: document[name] for name in ("space", "proposal_id", "revision")}
        return {**told, "slot": self.slot, "principal": self.name}

    def consent(self, proposal: proposal_pb2.Proposal) -> dict[str, Any]:
        """Return the statement of a consent."""
        document = json.loads(proposal.canonical)
        return {
            "version": 3,
            **self.about(proposal),
            "proposal_digest": digest(proposal.canonical),
            "action_digest": document["action_digest"],
            "etags_digest": digest(
                canonical({item["id"]: item["etag"] for item in document["affected"]})
            ),
            "policy_digest": document["policy_digest"],
            "nonce": self.nonce(),
            "expire_time": document["expire_time"],
        }


async def test_a_signer_written_from_the_page_is_accepted(live: World) -> None:
    """V5 V6 V7 A genesis, consents, a rejection, a revocation and another key by a stranger's
    program are what the servers take; its mistakes are told to the field."""
    party = live.party()
    agent, human = Stranger("AGENT", "agent", 1), Stranger("HUMAN", "ada", 2)
    known = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    slots = {
        each.slot: {"principal": each.name, "public_key": text(public(each.key))}
        for each in (agent, human)
    }
    genesis = {
        "version": 1,
        "space": "one",
        "slots": slots,
        "governance_key": text(known.governance_key),
        "create_time": NOW,
    }
    envelope = signed("genesis", genesis, agent.key, human.key)
    await party.governed.EnrolPrincipals(
        governed_pb2.EnrolPrincipalsRequest(
            request_id=request_id(), enrolment_secret=SECRET, genesis=envelope
        )
    )
    await eventually(party.actions, lambda told: told.count("GENESIS") == GENESIS_ENTRIES)

    async def decided(action: governed_pb2.GovernedAction) -> proposal_pb2.Proposal:
        proposal = await party.propose(action)
        for each in (agent, human):
            consent = signed("consent", each.consent(proposal), each.key)
            proposal = await party.approve(proposal, each.slot, consent)
        return proposal

    assert (await decided(edge_action())).status == STATUS.PROPOSAL_STATUS_EXECUTED

    rejected = await party.propose(edge_action(target="tea"))
    reason = {"version": 1, **human.about(rejected), "reason": "not so", "nonce": human.nonce()}
    ended = await party.proposals.RejectProposal(
        proposal_pb2.RejectProposalRequest(
            request_id=request_id(),
            proposal_id=rejected.id,
            rejection=signed("rejection", reason, human.key),
        )
    )
    assert ended.proposal.status == STATUS.PROPOSAL_STATUS_REJECTED

    waiting = await party.propose(edge_action(target="coffee"))
    consent = agent.consent(waiting)
    await party.approve(waiting, agent.slot, signed("consent", consent, agent.key))
    back = {"version": 1, **agent.about(waiting), "reason": "", "nonce": consent["nonce"]}
    taken = await party.proposals.RevokeConsent(
        proposal_pb2.RevokeConsentRequest(
            request_id=request_id(),
            proposal_id=waiting.id,
            revocation=signed("revocation", back, agent.key),
        )
    )
    assert [each.revoked for each in taken.proposal.consents] == [True]

    first = human.key
    for name, key, signer, label in (
        *(("ADD", NEXT, NEXT, "laptop"), ("RETIRE", first, NEXT, "")),
    ):
        proof = _key_change(name, key, space="one", label=label)
        change = governed_pb2.ChangeKeyRequest(
            request_id=salt(), proof=signed("key", proof, signer)
        )
        changed = await decided(action_of(change))
        assert changed.status == STATUS.PROPOSAL_STATUS_EXECUTED
        human.key = NEXT
    assert (await decided(edge_action(target="water"))).status == STATUS.PROPOSAL_STATUS_EXECUTED

    for bend, told in MISTAKES.items():
        statement = {**agent.consent(waiting), **json.loads(bend)}
        failure = await refused(
            party.approve(waiting, agent.slot, signed("consent", statement, agent.key))
        )
        assert failure.metadata == {"slot": "AGENT", **told}
    loose = json.loads(signed("consent", agent.consent(waiting), agent.key))
    loose["payload"] = loose["payload"].replace("=", "") + "===="
    failure = await refused(party.approve(waiting, agent.slot, canonical(loose)))
    assert reason_of(failure) == ("CONSENT_INVALID", "envelope")
    assert failure.metadata["detail"] == "base64"
    await party.verified()


MISTAKES = {
    '{"version": 2}': {"check": "envelope", "detail": "version", "field": "version"},
    '{"revision": "1"}': {"check": "envelope", "detail": "fields", "field": "revision"},
    '{"hint": "x"}': {"check": "envelope", "detail": "fields"},
    '{"expire_time": "2027-01-17T08:00:00Z"}': {"check": "expiry", "detail": "format"},
    '{"expire_time": "2027-01-15T08:00:00.000000Z"}': {"check": "expiry", "detail": "passed"},
    '{"nonce": "c2hvcnQ"}': {"check": "nonce"},
}
"""Fields that a stranger gets wrong in a consent, to what it is told."""
