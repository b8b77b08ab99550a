"""Each check of a grant and its consents, proven by a forgery that this check alone refuses.

Every forgery is valid but for one point and signed anew, so that with the check in question
switched off it would be accepted (and its case would fail).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from concord_attestation.bounds import MAX_ETAGS_BYTES, MAX_GRANT_BYTES, MAX_ITEMS
from concord_attestation.consent import (
    CONSENT_CHECKS,
    CONSENT_TYPE,
    GENESIS_TYPE,
    GRANT_CHECKS,
    GRANT_TYPE,
    Consent,
    ConsentInvalid,
    GenesisInvalid,
    GenesisRecord,
    Grant,
    GrantInvalid,
    PrincipalKey,
    SlotKeys,
)
from concord_attestation.digest import etags_digest
from concord_attestation.parties import verify_genesis
from concord_attestation.verify import verify_grant
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from signed_envelopes import (
    AGENT,
    ANYBODYS_SIGNATURE,
    GENESIS,
    GOVERNANCE,
    HUMAN,
    IDENTITY_POINT,
    LATER,
    NOW,
    STRANGER,
    Payload,
    raw,
    respelled,
    sealed,
    url,
)

ACTION = sha256(b"action").hexdigest()
POLICY = sha256(b"policy").hexdigest()
PROPOSAL = sha256(b"proposal").hexdigest()
ETAGS = {"edge-1": "e7", "edge-2": ""}


def decided(nonce: int, **changes: object) -> Payload:
    """Return the fields that a grant and its consents share; `nonce` is one byte's value."""
    payload: Payload = {
        "version": 3,
        "space": "home",
        "proposal_id": "p-1",
        "revision": 2,
        "proposal_digest": PROPOSAL,
        "action_digest": ACTION,
        "policy_digest": POLICY,
        "nonce": url(bytes([nonce]) * 16),
        "expire_time": LATER,
    }
    return payload | changes


def consented(nonce: int, slot: str, principal: str) -> Payload:
    """Return a consent's fields; the etags of `ETAGS` by their digest."""
    told = {"slot": slot, "principal": principal, "etags_digest": etags_digest(ETAGS)}
    return decided(nonce, **told)


def agent_consent(key: Ed25519PrivateKey = AGENT, **changes: object) -> Payload:
    """Return the agent's consent with some fields changed."""
    payload = consented(1, "AGENT", "agent-1") | changes
    return sealed(CONSENT_TYPE, payload, key)


def human_consent(key: Ed25519PrivateKey = HUMAN, **changes: object) -> Payload:
    """Return the human's consent with some fields changed."""
    payload = consented(2, "HUMAN", "anna") | changes
    return sealed(CONSENT_TYPE, payload, key)


def grant_of(
    agent: Payload | None = None,
    human: Payload | None = None,
    key: Ed25519PrivateKey = GOVERNANCE,
    **changes: object,
) -> Payload:
    """Return a grant with these consents and some fields changed."""
    consents = {"AGENT": agent or agent_consent(), "HUMAN": human or human_consent()}
    payload = decided(3, decision_id="d-1", etags=ETAGS, consents=consents) | changes
    return sealed(GRANT_TYPE, payload, key)


def check_grant(
    grant: Payload | bytes,
    genesis: GenesisRecord = GENESIS,
    *,
    space: str = "home",
    action_digest: str = ACTION,
    now_us: int = NOW,
) -> Grant:
    """Verify as graph does, with some arguments replaced."""
    encoded = grant if isinstance(grant, bytes) else json.dumps(grant).encode()
    return verify_grant(
        encoded, genesis=genesis, space=space, action_digest=action_digest, now_us=now_us
    )


def test_a_grant_with_both_consents_holds() -> None:
    """V6 Graph accepts a grant that carries both slots' own consents over the same decision."""
    grant = check_grant(grant_of())
    expires = NOW + 3_600_000_000
    expected = Grant(
        space="home",
        decision_id="d-1",
        proposal_id="p-1",
        revision=2,
        proposal_digest=PROPOSAL,
        action_digest=ACTION,
        etags=ETAGS,
        policy_digest=POLICY,
        nonce=url(b"\x03" * 16),
        expire_time=expires,
        consents=(
            Consent("AGENT", "agent-1", url(b"\x01" * 16), expires, raw(AGENT)),
            Consent("HUMAN", "anna", url(b"\x02" * 16), expires, raw(HUMAN)),
        ),
    )

    assert expected == grant
    assert grant.nonces == (
        grant.nonce,
        "AGENT:" + url(b"\x01" * 16),
        "HUMAN:" + url(b"\x02" * 16),
    )


@dataclass(frozen=True)
class Refused:
    """A forged grant and the refusal that it must meet; `slot` is None for the grant itself."""

    name: str
    check: str
    grant: Callable[[], Payload | bytes]
    slot: str | None = None
    genesis: GenesisRecord = GENESIS
    space: str = "home"
    action_digest: str = ACTION
    now_us: int = NOW


def changed(envelope: Payload, **changes: object) -> Payload:
    """Change the envelope around a signed payload."""
    return envelope | changes


def unpadded(envelope: Payload) -> Payload:
    """Spell the same signature with other unused bits at its end."""
    first = envelope["signatures"][0]
    sig = first["sig"]
    other = sig[:-3] + chr(ord(sig[-3]) + 1) + "=="
    return envelope | {"signatures": [first | {"sig": other}]}


def on_both(**changes: Any) -> Payload:
    """Change the grant and both consents alike."""
    return grant_of(agent_consent(**changes), human_consent(**changes), **changes)


def grant_over(count: int) -> Payload:
    """Return a grant over so many items with the longest ids."""
    etags = {f"{place:0128}": "e" * 24 for place in range(count)}
    digest = etags_digest(etags)
    return grant_of(
        agent_consent(etags_digest=digest), human_consent(etags_digest=digest), etags=etags
    )


def test_a_grant_at_the_bound_of_items_holds() -> None:
    """V6 What both signed for fits the grant, up to the bound of envelopes (one more is among the
    forgeries)."""
    grant = grant_over(MAX_ITEMS)
    said = check_grant(grant)

    assert len(said.etags) == MAX_ITEMS
    assert len(rfc8785.dumps(dict(said.etags))) <= MAX_ETAGS_BYTES
    assert len(json.dumps(grant)) <= MAX_GRANT_BYTES - 16_384


OTHER = sha256(b"other").hexdigest()
GRANT_FORGERIES = [
    Refused("no JSON", "envelope", lambda: b"{"),
    Refused("nothing", "envelope", lambda: b""),
    Refused("not UTF-8", "envelope", lambda: b"\xff"),
    Refused("deep nesting", "envelope", lambda: b"[" * 60_000),
    Refused(
        "too large", "envelope", lambda: json.dumps(grant_of()).encode() + b" " * MAX_GRANT_BYTES
    ),
    Refused("too many items", "envelope", lambda: grant_over(MAX_ITEMS + 1)),
    Refused("another type", "envelope", lambda: changed(grant_of(), payloadType=CONSENT_TYPE)),
    Refused("unknown field around", "envelope", lambda: changed(grant_of(), extra=1)),
    Refused(
        "a key twice around",
        "envelope",
        lambda: b'{"payload":"",' + json.dumps(grant_of()).encode()[1:],
    ),
    Refused("a second signature", "envelope", lambda: sealed_twice(GOVERNANCE, STRANGER)),
    Refused("the signature twice", "envelope", lambda: sealed_twice(GOVERNANCE, GOVERNANCE)),
    Refused("no signature", "envelope", lambda: changed(grant_of(), signatures=[])),
    Refused("respelled base64", "envelope", lambda: unpadded(grant_of())),
    Refused("unknown field", "envelope", lambda: grant_of(extra="x")),
    Refused("a former version", "envelope", lambda: on_both(version=2)),
    Refused("another version", "envelope", lambda: grant_of(version=4)),
    Refused("a truth for a version", "envelope", lambda: grant_of(version=True)),
    Refused("a revision that is no number", "envelope", lambda: on_both(revision="2")),
    Refused("no revision", "envelope", lambda: on_both(revision=0)),
    Refused("an etag that is no text", "envelope", lambda: grant_of(etags={"a": 1})),
    Refused("a proposal digest that is none", "envelope", lambda: on_both(proposal_digest="a")),
    Refused("a policy digest that is none", "envelope", lambda: on_both(policy_digest="abc")),
    Refused("a third consent", "envelope", lambda: grant_of(consents=three_consents())),
    Refused(
        "blanks in the payload", "envelope", lambda: respelled(grant_of(), ",", ", ", GOVERNANCE)
    ),
    Refused(
        "a key twice in the payload",
        "envelope",
        lambda: respelled(grant_of(), '{"action', '{"version":1,"action', GOVERNANCE),
    ),
    Refused("signed by a stranger", "governance_signature", lambda: grant_of(key=STRANGER)),
    Refused(
        "a stranger under governance's name",
        "governance_signature",
        lambda: renamed(grant_of(key=STRANGER), GOVERNANCE),
    ),
    Refused("signed by a principal", "governance_signature", lambda: grant_of(key=HUMAN)),
    Refused("another space's", "space", lambda: on_both(space="work")),
    Refused("another space's keys", "space", grant_of, genesis=replace(GENESIS, space="work")),
    Refused("asked in another space", "space", grant_of, space="work"),
    Refused("another action", "action_digest", grant_of, action_digest=OTHER),
    Refused(
        "a digest that is none",
        "action_digest",
        lambda: on_both(action_digest="x"),
        action_digest="x",
    ),
    Refused("expired", "expiry", lambda: grant_of(expire_time="2027-01-15T08:00:00.000000Z")),
    Refused("a time in another form", "expiry", lambda: grant_of(expire_time="2027-01-15T09:00Z")),
    Refused(
        "a day that does not exist",
        "expiry",
        lambda: grant_of(expire_time="2027-02-30T09:00:00.000000Z"),
    ),
    Refused("a short nonce", "nonce", lambda: grant_of(nonce=url(b"\x03" * 15))),
    Refused("a nonce respelled", "nonce", lambda: grant_of(nonce=url(b"\x03" * 16)[:-1] + "x")),
    Refused("a consent's nonce", "nonce", lambda: grant_of(nonce=url(b"\x02" * 16))),
]


def sealed_twice(first: Ed25519PrivateKey, second: Ed25519PrivateKey) -> Payload:
    """Return a good grant with two signatures."""
    consents = {"AGENT": agent_consent(), "HUMAN": human_consent()}
    payload = decided(3, decision_id="d-1", etags=ETAGS, consents=consents)
    return sealed(GRANT_TYPE, payload, first, second)


def three_consents() -> Payload:
    """Return consents of both slots and of one that does not exist."""
    return {"AGENT": agent_consent(), "HUMAN": human_consent(), "OTHER": human_consent()}


def renamed(envelope: Payload, key: Ed25519PrivateKey) -> Payload:
    """Claim that the one signature is of this key."""
    first = envelope["signatures"][0]
    return envelope | {"signatures": [first | {"keyid": sha256(raw(key)).hexdigest()}]}


def only(slot_name: str) -> Payload:
    """Return a grant with one consent only."""
    consents = {"AGENT": agent_consent(), "HUMAN": human_consent()}
    return grant_of(consents={slot_name: consents[slot_name]})


def low_order_consent() -> Payload:
    """Sign for the identity point, as anybody can."""
    return human_consent() | {"signatures": [ANYBODYS_SIGNATURE]}


def both_by(key: Ed25519PrivateKey) -> Payload:
    """Return a grant whose consents one key signed."""
    return grant_of(agent_consent(key), human_consent(key))


def by_human(key: Ed25519PrivateKey = HUMAN, **changes: object) -> Payload:
    """Return a grant with the human's consent changed, or signed by another key."""
    return grant_of(human=human_consent(key, **changes))


def second_as_agent() -> Payload:
    """Return a grant in which both consents are by keys of the human."""
    return grant_of(agent_consent(STRANGER), human_consent())


def holding(principal: str, key: bytes) -> GenesisRecord:
    """Return the genesis with another human or key of theirs."""
    return replace(GENESIS, human=SlotKeys.of(principal, key))


TYPED = decided(2, slot="HUMAN", principal="anna")
CLOSED = replace(GENESIS, human=SlotKeys("anna", (PrincipalKey(raw(HUMAN), "", (ACTION,)),)))
SECOND = PrincipalKey(raw(STRANGER), "laptop")
HALF = replace(GENESIS, human=replace(CLOSED.human, keys=(*CLOSED.human.keys, SECOND)))
TWO = replace(GENESIS, human=replace(GENESIS.human, keys=(*GENESIS.human.keys, SECOND)))
"""The human has a second key, and signs with either."""
SHARED = replace(TWO, agent=replace(GENESIS.agent, keys=(*GENESIS.agent.keys, SECOND)))
CONSENT_FORGERIES = [
    Refused("none by the human", "missing", lambda: only("AGENT"), "HUMAN"),
    Refused("none by the agent", "missing", lambda: only("HUMAN"), "AGENT"),
    Refused("none at all", "missing", lambda: grant_of(consents={}), "AGENT"),
    Refused("by a retired key", "retired_key", grant_of, "HUMAN", genesis=CLOSED),
    Refused("by a retired key beside another", "retired_key", grant_of, "HUMAN", genesis=HALF),
    Refused("a second key for the agent", "signature", second_as_agent, "AGENT", genesis=TWO),
    Refused("a key of both", "distinct", grant_of, "HUMAN", genesis=SHARED),
    *(
        Refused(
            f"signed as {kind}",
            "envelope",
            lambda kind=kind: grant_of(human=sealed(kind, TYPED, HUMAN)),  # type: ignore[misc] # the loop's variable
            "HUMAN",
        )
        for kind in (GENESIS_TYPE, GRANT_TYPE)
    ),
    Refused("unknown field", "envelope", lambda: grant_of(human_consent(x=1)), "AGENT"),
    Refused(
        "not canonical",
        "envelope",
        lambda: grant_of(human=respelled(human_consent(), ":", ": ", HUMAN)),
        "HUMAN",
    ),
    Refused("a stranger's", "signature", lambda: by_human(STRANGER), "HUMAN"),
    Refused(
        "a stranger's under the slot's key id",
        "signature",
        lambda: grant_of(human=renamed(human_consent(STRANGER), HUMAN)),
        "HUMAN",
    ),
    Refused("agent signs for both", "signature", lambda: both_by(AGENT), "HUMAN"),
    Refused("human signs for both", "signature", lambda: both_by(HUMAN), "AGENT"),
    Refused("governance signs for both", "signature", lambda: both_by(GOVERNANCE), "AGENT"),
    Refused("swapped", "signature", lambda: grant_of(human_consent(), agent_consent()), "AGENT"),
    Refused(
        "edited after signing",
        "signature",
        lambda: grant_of(human=human_consent() | {"payload": agent_consent()["payload"]}),
        "HUMAN",
    ),
    Refused(
        "a key that anybody signs for",
        "signature",
        lambda: grant_of(human=low_order_consent()),
        "HUMAN",
        genesis=holding("anna", IDENTITY_POINT),
    ),
    Refused("for the other slot", "principal", lambda: by_human(slot="AGENT"), "HUMAN"),
    Refused("by another name", "principal", lambda: by_human(principal="Anna"), "HUMAN"),
    *(
        Refused(
            f"another {field}",
            check,
            lambda field=field, value=value: by_human(**{field: value}),  # type: ignore[misc] # loop variables
            "HUMAN",
        )
        for field, value, check in [
            ("space", "work", "space"),
            ("proposal_id", "p-2", "proposal"),
            ("revision", 1, "proposal"),
            ("proposal_digest", OTHER, "proposal_digest"),
            ("action_digest", OTHER, "action_digest"),
            ("etags_digest", etags_digest({"edge-1": "e8", "edge-2": ""}), "etags"),
            ("etags_digest", etags_digest({"edge-1": "e7"}), "etags"),
            ("etags_digest", "", "etags"),
            ("policy_digest", OTHER, "policy_digest"),
            ("expire_time", "2027-01-15T07:59:59.999999Z", "expiry"),
            ("expire_time", "tomorrow", "expiry"),
            ("nonce", url(b"\x02" * 15), "nonce"),
            ("nonce", "not base64url!", "nonce"),
            ("nonce", "+" * 21 + "A", "nonce"),
            ("nonce", url(b"\x01" * 16), "distinct"),
        ]
    ),
    Refused(
        "one key in both slots",
        "distinct",
        lambda: both_by(AGENT),
        "HUMAN",
        genesis=holding("anna", raw(AGENT)),
    ),
    Refused(
        "governance's key in a slot",
        "distinct",
        lambda: by_human(GOVERNANCE),
        "HUMAN",
        genesis=holding("anna", raw(GOVERNANCE)),
    ),
    Refused(
        "one principal in both slots",
        "distinct",
        lambda: by_human(principal="Agent-1"),
        "HUMAN",
        genesis=holding("Agent-1", raw(HUMAN)),
    ),
]


@pytest.mark.parametrize(
    "case", GRANT_FORGERIES + CONSENT_FORGERIES, ids=lambda case: f"{case.check}: {case.name}"
)
def test_a_forged_grant_is_refused_by_the_check_it_breaks(case: Refused) -> None:
    """V6 A1 Each check refuses the defect that it alone can see, and names only itself."""
    kind = ConsentInvalid if case.slot else GrantInvalid
    with pytest.raises((ConsentInvalid, GrantInvalid)) as caught:
        check_grant(
            case.grant(),
            case.genesis,
            space=case.space,
            action_digest=case.action_digest,
            now_us=case.now_us,
        )

    assert type(caught.value) is kind
    assert caught.value.check == case.check
    assert getattr(caught.value, "slot", None) == case.slot
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_every_check_has_a_forgery() -> None:
    """V6 No named check is without a case; "etags" of a grant is compared in the store."""
    assert {case.check for case in GRANT_FORGERIES} == set(GRANT_CHECKS) - {"etags"}
    assert {case.check for case in CONSENT_FORGERIES} == set(CONSENT_CHECKS)


def test_a_consent_holds_until_its_last_microsecond() -> None:
    """V6 Expiry is the first instant at which a consent is void."""
    check_grant(grant_of(), now_us=NOW + 3_600_000_000 - 1)
    with pytest.raises(GrantInvalid):
        check_grant(grant_of(), now_us=NOW + 3_600_000_000)


VALID = json.dumps(grant_of()).encode()


@given(st.data())
def test_no_damaged_grant_holds(data: st.DataObject) -> None:
    """V6 A grant with one byte changed, cut or put in is refused, by a typed error only.

    White space around the JSON tokens of the outer envelope is the one thing that may differ.
    """
    place = data.draw(st.integers(0, len(VALID) - 1))
    byte = data.draw(st.binary(max_size=2))
    damaged = VALID[:place] + byte + VALID[place + data.draw(st.integers(0, 1)) :]
    try:
        check_grant(damaged)
    except (GrantInvalid, ConsentInvalid):
        return

    assert json.loads(damaged) == json.loads(VALID)


@given(st.one_of(st.binary(), st.recursive(st.none() | st.integers() | st.text(), st.lists)))
def test_no_foreign_bytes_make_anything_but_a_typed_refusal(value: object) -> None:
    """V6 Whatever arrives as a grant or a genesis, the refusal is typed."""
    sent = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(GrantInvalid):
        check_grant(sent)
    with pytest.raises(GenesisInvalid):
        verify_genesis(sent, "home")
