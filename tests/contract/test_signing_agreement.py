"""What the client signs is what the graph verifies, though the two share no code."""

from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import Any  # what the Struct stubs take

import pytest
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_attestation import digest
from concord_attestation.consent import GenesisInvalid
from concord_attestation.parties import verify_genesis
from concord_client.trust import digests, signing
from google.protobuf import struct_pb2
from hypothesis import given, settings
from hypothesis import strategies as st


def add_memory(content: str = "I keep promises.") -> governed_pb2.GovernedAction:
    """Return an action that adds a constitutive memory."""
    action = governed_pb2.GovernedAction()
    action.add_memory.request_id = "r-1"
    action.add_memory.memory.content = content
    action.add_memory.memory.edge_type = type_pb2.EDGE_TYPE_CONSTITUTIVE
    return action


@pytest.fixture
def agent() -> signing.Signer:
    """The agent with a new key."""
    return signing.Signer("agent-1", signing.generate_key())


@pytest.fixture
def human() -> signing.Signer:
    """The human with a new key."""
    return signing.Signer("anna@example.org", signing.generate_key())


def test_two_sides_can_sign_a_genesis_apart(agent: signing.Signer, human: signing.Signer) -> None:
    """V5 Each slot signs the same bytes where its key lives; the halves alone are refused."""
    payload = signing.genesis_payload(
        space="home",
        agent=(agent.principal, agent.public_key),
        human=(human.principal, human.public_key),
        governance_key=signing.public_bytes(signing.generate_key()),
    )
    halves = [
        signing.sign_envelope(signing.GENESIS_TYPE, payload, [signer.key])
        for signer in (agent, human)
    ]

    assert verify_genesis(signing.join_signatures(*halves), "home").space == "home"
    with pytest.raises(GenesisInvalid):
        verify_genesis(halves[0], "home")
    other = signing.sign_envelope(signing.GENESIS_TYPE, b"{}", [human.key])
    with pytest.raises(ValueError, match="different bytes"):
        signing.join_signatures(halves[0], other)


def test_a_time_without_a_zone_is_not_signed() -> None:
    """V6 An expiry is an instant: signed in UTC, to the microsecond."""
    at = datetime(2027, 1, 15, 10, 0, 0, 7, tzinfo=timezone(timedelta(hours=2)))
    assert signing.format_time(at) == "2027-01-15T08:00:00.000007Z"
    with pytest.raises(ValueError, match="zone"):
        signing.format_time(datetime(2027, 1, 1))  # noqa: DTZ001 - the point


def test_the_digest_of_an_action_is_pinned() -> None:
    """V6 Digests do not change with a release: consents outlive it."""
    canonical = (
        '{"add_memory":{"memory":{"content":"I keep promises.",'
        '"edge_type":"EDGE_TYPE_CONSTITUTIVE"},"request_id":"r-1"}}'
    )

    assert digest.action_digest(add_memory()) == sha256(canonical.encode()).hexdigest()


VALUES = st.recursive(
    st.none() | st.booleans() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=25)
@given(
    st.dictionaries(st.text(), VALUES, max_size=5),
    st.text(),
    st.floats(),
    st.integers(-62_135_596_800, 253_402_300_799),
)
def test_both_sides_compute_one_digest(
    properties: dict[str, Any], name: str, weight: float, seconds: int
) -> None:
    """V6 Two implementations agree on the digest of any action, and content changes it."""
    action = governed_pb2.GovernedAction()
    edge = action.upsert_edge.edge
    edge.properties.update(properties)
    edge.source.name = name
    edge.weight = weight
    edge.valid_from.seconds = seconds
    changed = governed_pb2.GovernedAction()
    changed.CopyFrom(action)
    changed.upsert_edge.edge.relation = "OTHER"

    assert digest.action_digest(action) == digests.action_digest(action)
    assert digest.action_digest(action) != digest.action_digest(changed)


def test_an_action_without_json_has_no_digest() -> None:
    """V6 A Struct with an infinity is no JSON: ValueError, not a digest of something else."""
    action = governed_pb2.GovernedAction()
    action.upsert_edge.edge.properties.fields["x"].CopyFrom(
        struct_pb2.Value(number_value=float("inf"))
    )
    with pytest.raises(ValueError, match="no JSON"):
        digest.action_digest(action)
