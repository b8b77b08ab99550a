"""Each check of a genesis record, proven by a forgery that this check alone refuses."""

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import pytest
from concord_attestation.consent import GENESIS_CHECKS, GENESIS_TYPE, GenesisInvalid
from concord_attestation.parties import verify_genesis
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from signed_envelopes import (
    AGENT,
    ANYBODYS_SIGNATURE,
    GENESIS,
    GOVERNANCE,
    HUMAN,
    IDENTITY_POINT,
    LATER,
    STRANGER,
    Payload,
    raw,
    respelled,
    sealed,
    signature,
    url,
)


def genesis_of(
    *keys: Ed25519PrivateKey, agent: object = None, human: object = None, **changes: object
) -> Payload:
    """Return a genesis record with some fields changed, signed by these keys."""
    payload: Payload = {
        "version": 1,
        "space": "home",
        "slots": {"AGENT": agent or slot(), "HUMAN": human or slot("anna", HUMAN)},
        "governance_key": url(raw(GOVERNANCE)),
        "create_time": LATER,
    }
    return sealed(GENESIS_TYPE, payload | changes, *(keys or (AGENT, HUMAN)))


def slot(principal: str = "agent-1", key: Ed25519PrivateKey = AGENT) -> Payload:
    """Return a slot as a genesis states it."""
    return {"principal": principal, "public_key": url(raw(key))}


def test_a_genesis_signed_by_both_slots_holds() -> None:
    """V5 Graph accepts one record of both slots' keys and governance's, signed by both slots."""
    envelope = genesis_of()
    record = verify_genesis(json.dumps(envelope).encode(), "home")
    digest = sha256(b64decode(envelope["payload"])).hexdigest()

    assert replace(GENESIS, digest=digest) == record


def low_order_genesis() -> Payload:
    """Return a record whose human key is weak, with a signature that anybody can make."""
    envelope = genesis_of(human={"principal": "anna", "public_key": url(IDENTITY_POINT)})
    own = signature(GENESIS_TYPE, b64decode(envelope["payload"]), AGENT)
    return envelope | {"signatures": [own, ANYBODYS_SIGNATURE]}


def crossed() -> Payload:
    """Return a record whose signatures claim each other's keys."""
    payload = b64decode(genesis_of()["payload"])
    agent, human = (signature(GENESIS_TYPE, payload, key) for key in (AGENT, HUMAN))
    swapped = [agent | {"keyid": human["keyid"]}, human | {"keyid": agent["keyid"]}]
    return genesis_of() | {"signatures": swapped}


GENESIS_FORGERIES: list[tuple[str, str, Callable[[], Payload | bytes]]] = [
    ("no JSON", "envelope", lambda: b"nothing"),
    ("too large", "envelope", lambda: json.dumps(genesis_of()).encode() + b" " * 16_384),
    ("unknown field", "envelope", lambda: genesis_of(extra=1)),
    ("a key of other bytes", "envelope", lambda: genesis_of(governance_key="?")),
    ("no time", "envelope", lambda: genesis_of(create_time="now")),
    ("one signature", "envelope", lambda: genesis_of(AGENT)),
    ("a third signature", "envelope", lambda: genesis_of(AGENT, HUMAN, STRANGER)),
    ("one slot signs twice", "envelope", lambda: genesis_of(AGENT, AGENT)),
    ("not canonical", "envelope", lambda: respelled(genesis_of(), ",", ", ", AGENT, HUMAN)),
    ("another space's", "space", lambda: genesis_of(space="work")),
    (
        "a name that looks like another",
        "principal",
        lambda: genesis_of(human=slot("аnna", HUMAN)),
    ),
    ("a nameless human", "principal", lambda: genesis_of(human=slot("", HUMAN))),
    ("a key that anybody signs for", "key", low_order_genesis),
    (
        "a governance key that anybody signs for",
        "key",
        lambda: genesis_of(governance_key=url(IDENTITY_POINT)),
    ),
    ("a short key", "key", lambda: genesis_of(governance_key=url(bytes(31)))),
    (
        "one principal twice",
        "distinct",
        lambda: genesis_of(human=slot("AGENT-1", HUMAN)),
    ),
    ("governance in a slot", "distinct", lambda: genesis_of(governance_key=url(raw(HUMAN)))),
    ("a stranger signs for the human", "signature", lambda: genesis_of(AGENT, STRANGER)),
    ("governance signs for the agent", "signature", lambda: genesis_of(GOVERNANCE, HUMAN)),
    ("signatures under each other's names", "signature", crossed),
    ("one key in both slots", "distinct", lambda: genesis_of(human=slot("anna", AGENT))),
]


@pytest.mark.parametrize(
    ("check", "forge"),
    [pytest.param(check, forge, id=f"{check}: {name}") for name, check, forge in GENESIS_FORGERIES],
)
def test_a_forged_genesis_is_refused_by_the_check_it_breaks(
    check: str, forge: Callable[[], Payload | bytes]
) -> None:
    """V5 Different principals, different sound keys, both slots' signatures, this space."""
    forged = forge()
    encoded = forged if isinstance(forged, bytes) else json.dumps(forged).encode()
    with pytest.raises(GenesisInvalid) as caught:
        verify_genesis(encoded, "home")

    assert caught.value.check == check


def test_every_check_has_a_forgery() -> None:
    """V5 No named check is without a case."""
    assert {check for _, check, _ in GENESIS_FORGERIES} == set(GENESIS_CHECKS)
