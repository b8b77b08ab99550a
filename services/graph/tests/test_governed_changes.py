"""The only door: a genesis, then grants that carry both consents, each used once."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

import pytest_asyncio
from concord.graph.v1 import feed_pb2, governed_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import signing
from governed_actions import action_of
from graph_world import (
    CONSTITUTIVE,
    DAY,
    SECRET,
    Calls,
    Parties,
    World,
    edge_of,
    reason,
    refused,
)

REFUSED = feed_pb2.CHANGE_TYPE_REFUSED


@dataclass
class Door:
    """A space after its genesis."""

    live: World
    calls: Calls
    parties: Parties

    def action(self, memory_id: str = "core") -> governed_pb2.GovernedAction:
        """Return the action that adds a constitutive memory."""
        memory = type_pb2.Memory(id=memory_id, content="I am.", edge_type=CONSTITUTIVE)
        return action_of("add_memory", memory=memory)


@pytest_asyncio.fixture
async def door(live: World, home: Calls, parties: Parties) -> Door:
    """A space after its genesis."""
    return Door(live, home, parties)


async def test_genesis_is_written_once_as_constitutive_edges(live: World, home: Calls) -> None:
    """V5 Both slots' principals and keys stand in the graph; the digest is the record's."""
    parties = live.parties()
    genesis = parties.genesis()
    request = governed_pb2.EnrolPrincipalsRequest(
        request_id="1", enrolment_secret=SECRET, genesis=genesis
    )
    reply = await home.governed.EnrolPrincipals(request)
    again = await home.governed.EnrolPrincipals(request)
    edges = (await home.neighbors("concord:space")).neighbors

    assert reply.genesis_digest == signing.genesis_digest(genesis)
    assert again == reply
    assert {n.edge.edge_type for n in edges} == {CONSTITUTIVE}
    assert {n.edge.properties["slot"] for n in edges if "slot" in n.edge.properties} == {
        "AGENT",
        "HUMAN",
    }
    assert await reason(parties.enrol(home)) == "ERROR_REASON_GENESIS_EXISTS"


async def test_a_wrong_secret_is_refused_and_recorded(live: World, home: Calls) -> None:
    """V5 A1 Also another space's genesis record, and a space that nobody may enrol."""
    parties = live.parties()
    foreign = governed_pb2.EnrolPrincipalsRequest(
        request_id="1", enrolment_secret=SECRET, genesis=parties.genesis("other")
    )
    unknown = live.calls("unlisted")

    assert await reason(parties.enrol(home, "guess")) == "ERROR_REASON_ENROLMENT_SECRET_INVALID"
    assert await reason(parties.enrol(unknown)) == "ERROR_REASON_ENROLMENT_SECRET_INVALID"
    failure = await refused(home.governed.EnrolPrincipals(foreign))
    assert (failure.reason, failure.metadata) == (
        "ERROR_REASON_GENESIS_INVALID",
        {"check": "space"},
    )
    assert [change.type for change in await home.changes()] == [REFUSED, REFUSED]
    assert [change.type for change in await unknown.changes()] == [REFUSED]
    await parties.enrol(home)


async def test_a_granted_change_is_applied_once(door: Door) -> None:
    """V6 The same request is a replay, for ever; the same grant under another id is burnt."""
    action = door.action()
    grant = door.parties.grant(action, {})
    request = governed_pb2.ApplyGovernedChangeRequest(request_id="1", action=action, grant=grant)
    first = await door.calls.governed.ApplyGovernedChange(request)
    replay = await door.calls.governed.ApplyGovernedChange(request)
    request.request_id = "2"
    burnt = await refused(door.calls.governed.ApplyGovernedChange(request))
    door.live.clock.pass_(30 * DAY)
    await door.calls.put_node("whatever clears old receipts")
    request.request_id = "1"
    late = await door.calls.governed.ApplyGovernedChange(request)

    assert first.memory.edge_type == CONSTITUTIVE
    assert replay == first
    assert late.effects == first.effects
    assert (burnt.reason, burnt.metadata) == ("ERROR_REASON_GRANT_INVALID", {"check": "nonce"})


Bend = Callable[[Door, governed_pb2.GovernedAction], bytes]


def _by_strangers(door: Door, action: governed_pb2.GovernedAction) -> bytes:
    strangers = door.live.parties()
    return strangers.grant(action, {}, governance=door.parties.governance)


FORGERIES: dict[str, tuple[Bend, str, dict[str, str]]] = {
    "truncated": (
        lambda door, action: door.parties.grant(action, {})[:-9],
        "GRANT_INVALID",
        {"check": "envelope", "detail": "json"},
    ),
    "governance is somebody else": (
        lambda door, action: door.parties.grant(action, {}, governance=signing.generate_key()),
        "GRANT_INVALID",
        {"check": "governance_signature"},
    ),
    "the agent signs as governance": (
        lambda door, action: door.parties.grant(action, {}, governance=door.parties.agent.key),
        "GRANT_INVALID",
        {"check": "governance_signature"},
    ),
    "another space's": (
        lambda door, action: door.parties.grant(action, {}, space="other"),
        "GRANT_INVALID",
        {"check": "space"},
    ),
    "another action's": (
        lambda door, _: door.parties.grant(door.action("else"), {}),
        "GRANT_INVALID",
        {"check": "action_digest"},
    ),
    "expired by graph's clock": (
        lambda door, action: door.parties.grant(action, {}, expire_time=door.parties.expiry(0)),
        "GRANT_INVALID",
        {"check": "expiry", "detail": "passed"},
    ),
    "an etag that is not there": (
        lambda door, action: door.parties.grant(action, {"nowhere": "e"}),
        "GRANT_INVALID",
        {"check": "etags"},
    ),
    "no consent of the human": (
        lambda door, action: door.parties.grant(action, {}, slots=[signing.AGENT]),
        "CONSENT_INVALID",
        {"slot": "HUMAN", "check": "missing"},
    ),
    "no consent of the agent": (
        lambda door, action: door.parties.grant(action, {}, slots=[signing.HUMAN]),
        "CONSENT_INVALID",
        {"slot": "AGENT", "check": "missing"},
    ),
    "consents to something else": (
        lambda door, action: door.parties.grant(action, {}, consented=door.action("else")),
        "CONSENT_INVALID",
        {"slot": "AGENT", "check": "action_digest"},
    ),
    "an expired consent": (
        lambda door, action: door.parties.grant(
            action, {}, consent_expire_time=door.parties.expiry(-1)
        ),
        "CONSENT_INVALID",
        {"slot": "AGENT", "check": "expiry", "detail": "passed"},
    ),
    "strangers' consents": (
        _by_strangers,
        "CONSENT_INVALID",
        {"slot": "AGENT", "check": "signature"},
    ),
}


async def test_what_does_not_verify_changes_nothing(door: Door) -> None:
    """V6 A1 Each failed check is told, recorded, and leaves no trace: its nonce stays unburnt."""
    action = door.action()
    before = await door.calls.export()
    for forgery, (bend, why, metadata) in FORGERIES.items():
        failure = await refused(door.parties.apply(door.calls, action, grant=bend(door, action)))

        assert (failure.reason, failure.metadata) == (f"ERROR_REASON_{why}", metadata), forgery
        assert await door.calls.export() == before
    rows = [change for change in await door.calls.changes() if change.type == REFUSED]
    assert len(rows) == len(FORGERIES)
    assert (await door.parties.apply(door.calls, action)).memory.id == "core"


async def test_a_change_after_the_consent_voids_the_grant(door: Door) -> None:
    """V6 The etags that both principals saw must be the store's, in the same transaction."""
    memory = await door.calls.add("Not yet me", id="self")
    promoted = type_pb2.Memory(id="self", etag=memory.etag, edge_type=CONSTITUTIVE)
    action = action_of("update_memory", "edge_type", memory=promoted)
    grant = door.parties.grant(action, {"self": memory.etag})
    memory.content = "Somebody else"
    changed = await door.calls.update(memory, "content")
    stale = await refused(door.parties.apply(door.calls, action, grant=grant))
    action.update_memory.memory.etag = changed.etag
    unnamed = await refused(door.parties.apply(door.calls, action, {}))

    assert (stale.reason, stale.metadata) == ("ERROR_REASON_GRANT_INVALID", {"check": "etags"})
    assert unnamed.metadata == {"check": "etags"}
    assert (await door.calls.get("self")).edge_type != CONSTITUTIVE
    done = await door.parties.apply(door.calls, action, {"self": changed.etag})
    assert done.memory.edge_type == CONSTITUTIVE


async def test_an_item_that_must_not_exist_voids_the_grant_once_it_does(door: Door) -> None:
    """V6 The empty etag means: there is none."""
    action = door.action()
    grant = door.parties.grant(action, {"core": ""})
    await door.calls.add("Squatter", id="core")
    failure = await refused(door.parties.apply(door.calls, action, grant=grant))

    assert failure.metadata == {"check": "etags"}


async def test_a_granted_action_that_fails_burns_nothing(door: Door) -> None:
    """V6 Effect and nonce commit together, or neither does."""
    await door.calls.add("Squatter", id="core")
    action = door.action()
    grant = door.parties.grant(action, {})
    failure = await refused(door.parties.apply(door.calls, action, grant=grant))
    squatter = await door.calls.get("core")
    squatter.content = "I am."
    squatter.edge_type = type_pb2.EDGE_TYPE_DESCRIPTIVE
    await door.calls.update(squatter, "content")
    again = await refused(door.parties.apply(door.calls, action, grant=grant))

    assert failure.reason == "ERROR_REASON_ITEM_EXISTS"
    assert again.reason == "ERROR_REASON_ITEM_EXISTS"


async def test_every_kind_of_change_goes_through_the_door(door: Door) -> None:
    """V6 G4 What is refused alone is done with consent: change, demote, cascade."""
    edge = await door.parties.constitutive_edge(door.calls)
    edge.weight = 0.2
    update = action_of("update_edge", "weight", edge=edge)
    edge = (await door.parties.apply(door.calls, update, {edge.id: edge.etag})).edge
    upsert = action_of(
        "upsert_edge", edge=edge_of("Me", "VALUES", "Courage", edge_type=CONSTITUTIVE)
    )
    courage = (await door.parties.apply(door.calls, upsert)).edge
    node = await door.calls.get_node("Honesty")
    node.name = "Truth"
    rename = action_of("update_node", "name", node=node)
    node = (await door.parties.apply(door.calls, rename, {node.id: node.etag})).node
    delete = action_of("delete_node", id=node.id, etag=node.etag, cascade=True)
    half = await refused(door.parties.apply(door.calls, delete, {node.id: node.etag}))
    etags = {node.id: node.etag, edge.id: edge.etag}
    gone = await door.parties.apply(door.calls, delete, etags)

    assert (edge.weight, node.name) == (0.2, "Truth")
    assert half.metadata == {"check": "etags"}
    assert gone.WhichOneof("item") is None
    assert [n.edge.id for n in (await door.calls.neighbors("Me")).neighbors] == [courage.id]


async def test_what_needs_no_consent_goes_along_counted(door: Door) -> None:
    """G4 V6 Edges that anybody may hang on a node are told and counted, not named in envelopes; a
    replay tells the same."""
    await door.parties.constitutive_edge(door.calls)
    plain = [
        await door.calls.put_edge("Honesty", "LIKES", f"thing {number}") for number in range(3)
    ]
    node = await door.calls.get_node("Honesty")
    delete = action_of("delete_node", id=node.id, etag=node.etag, cascade=True)
    seen = await door.calls.governed.PreviewChange(governed_pb2.PreviewChangeRequest(action=delete))
    grant = door.parties.grant(delete, {item.id: item.etag for item in seen.items})
    request = governed_pb2.ApplyGovernedChangeRequest(request_id="1", action=delete, grant=grant)
    done = await door.calls.governed.ApplyGovernedChange(request)

    along = [effect for effect in done.effects if effect.cascaded]
    said = "".join(f"{e.id} {e.before_revision} {e.after_revision}\n" for e in along)
    assert (len(seen.items), seen.cascaded_count, len(done.effects)) == (2, 3, 5)
    assert [effect.id for effect in along] == sorted(edge.id for edge in plain)
    assert (done.cascaded_count, done.cascaded_digest) == (3, sha256(said.encode()).hexdigest())
    assert await door.calls.governed.ApplyGovernedChange(request) == done


async def test_a_grant_opens_one_space_only(door: Door) -> None:
    """V6 G13 Another space neither has the genesis nor takes the grant."""
    other = door.live.calls("other")
    action = door.action()
    failure = await refused(door.parties.apply(other, action, grant=door.parties.grant(action, {})))

    assert failure.reason == "ERROR_REASON_GENESIS_MISSING"


async def test_reserved_relations_stay_genesis_own_even_with_a_grant(door: Door) -> None:
    """V5 Nobody becomes a principal by a consented upsert."""
    edge = edge_of("Mallory", "concord:principal", "Mallory", edge_type=CONSTITUTIVE)
    applied = door.parties.apply(door.calls, action_of("upsert_edge", edge=edge))

    assert await reason(applied) == "ERROR_REASON_RESERVED_NAME"


async def test_what_a_decision_did_is_told_to_who_has_no_words_of_it(door: Door) -> None:
    """V6 M4 By its id alone; what was not done is not done then."""
    action = door.action()
    asked = governed_pb2.ApplyGovernedChangeRequest(
        request_id="1", action=action, grant=door.parties.grant(action, {})
    )
    wordless = governed_pb2.ApplyGovernedChangeRequest(request_id="1", action_erased=True)
    early = await reason(door.calls.governed.ApplyGovernedChange(wordless))
    before = len(await door.calls.changes())
    done = await door.calls.governed.ApplyGovernedChange(asked)
    after = len(await door.calls.changes())

    told = await door.calls.governed.ApplyGovernedChange(wordless)

    assert early == "ERROR_REASON_ITEM_ERASED"
    assert (told.effects, told.token) == (done.effects, done.token)
    assert (after > before, len(await door.calls.changes())) == (True, after)
