"""What stands for the principals changes by a key change alone, whatever ids a proposal uses."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from concord.governance.v1 import principal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, relation_pb2
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import SLOT_AGENT, SLOT_HUMAN
from concord_client.trust import signing
from google.protobuf.field_mask_pb2 import FieldMask
from governed_steps import agreed_unproposed
from governed_world import (
    AGENT,
    CONSTITUTIVE,
    HUMAN,
    STATUS,
    Keys,
    Party,
    edge_action,
    reason_of,
    refused,
    world,
)
from writing import action_of, salt, to_add, to_change_key, to_delete_edge, to_upsert_edge

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
SAFEGUARD = "ERROR_REASON_SAFEGUARD_VIOLATION"
Action = governed_pb2.GovernedAction


@dataclass
class Reserved:
    """What the genesis wrote, and an edge of everybody's."""

    space: type_pb2.Node
    holder: type_pb2.Node
    principal: type_pb2.Edge
    governance: type_pb2.Edge
    plain: type_pb2.Edge


@pytest.fixture
def keys() -> Keys:
    """Governance's own keys, in the tester's hands."""
    return Keys()


@pytest_asyncio.fixture
async def party(tmp_path: Path, keys: Keys) -> AsyncIterator[Party]:
    """A space whose genesis is done."""
    async with world(tmp_path, keys=keys) as live:
        both = live.party()
        await both.enrol()
        yield both


@pytest_asyncio.fixture
async def found(party: Party) -> Reserved:
    """The items, as anybody may read them."""
    await party.decide(
        await party.propose(edge_action("tea", "SOOTHES", "ada", edge_type=DESCRIPTIVE))
    )
    edges = (await party.graph.ListEdges(graph_pb2.ListEdgesRequest())).edges
    nodes = (await party.graph.ListNodes(graph_pb2.ListNodesRequest())).nodes
    named = {node.name: node for node in nodes}
    human = [each for each in edges if "slot" in each.properties]
    plain = await party.edge("tea", "SOOTHES", "ada")
    assert plain is not None
    return Reserved(
        named["concord:space"],
        named["concord:principal:ada"],
        next(each for each in human if each.properties["slot"] == HUMAN),
        next(each for each in edges if each.relation == "concord:governance_key"),
        plain,
    )


def update(edge: type_pb2.Edge, *paths: str, **said: object) -> Action:
    """Return the update of an edge by its id."""
    changed = type_pb2.Edge(id=edge.id, etag=edge.etag, **said)  # type: ignore[arg-type]
    request = graph_pb2.UpdateEdgeRequest(
        request_id=salt(), edge=changed, update_mask=FieldMask(paths=paths)
    )
    return action_of(request)


def update_node(node: type_pb2.Node, *paths: str, **said: object) -> Action:
    """Return the update of a node by its id."""
    changed = type_pb2.Node(id=node.id, etag=node.etag, **said)  # type: ignore[arg-type]
    request = graph_pb2.UpdateNodeRequest(
        request_id=salt(), node=changed, update_mask=FieldMask(paths=paths)
    )
    return action_of(request)


def delete(edge: type_pb2.Edge) -> Action:
    """Return the deletion of an edge."""
    return action_of(to_delete_edge(edge))


def delete_node(node: type_pb2.Node, *, cascade: bool) -> Action:
    """Return the deletion of a node."""
    request = graph_pb2.DeleteNodeRequest(
        request_id=salt(), id=node.id, etag=node.etag, cascade=cascade
    )
    return action_of(request)


def lineage(newer: str, older: str, relation: int) -> Action:
    """Return lineage between two items."""
    request = lineage_pb2.AddLineageRequest(
        request_id=salt(),
        newer_id=newer,
        older_id=older,
        relation=relation,  # type: ignore[arg-type] # numbers are the contract's
    )
    return action_of(request)


def upsert_at(node: type_pb2.Node) -> Action:
    """Return a new edge from a node by its id."""
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(id=node.id, kind=type_pb2.ITEM_KIND_NODE),
        relation="OBEYS",
        target=type_pb2.EdgeEnd(name="mallory"),
        edge_type=CONSTITUTIVE,
    )
    return action_of(to_upsert_edge(edge))


def stating(relation: str, subject: str) -> Action:
    """Return a memory that states a fact."""
    fact = type_pb2.Fact(subject=subject, relation=relation, object="mallory")
    memory = type_pb2.Memory(content="So it is.", edge_type=CONSTITUTIVE, facts=[fact])
    return action_of(to_add(memory))


MINE = signing.generate_key()
KEYED = {"slot": HUMAN, "key": "bXkgb3duIGtleSwgdGhlIHNlY29uZCBvbmUsIDMyIGI"}
AIMS: dict[str, Callable[[Reserved], Action]] = {
    "another key by id": lambda it: update(it.principal, "properties", properties=KEYED),
    "another weight": lambda it: update(it.principal, "weight", weight=0.5),
    "demoted": lambda it: update(it.principal, "edge_type", edge_type=1),
    "pointed elsewhere": lambda it: update(
        it.principal, "target", target=type_pb2.EdgeEnd(name="mallory")
    ),
    "governance's key": lambda it: update(it.governance, "properties", properties=KEYED),
    "deleted": lambda it: delete(it.principal),
    "the space renamed": lambda it: update_node(it.space, "name", name="x"),
    "the space described": lambda it: update_node(it.space, "label", label="Free"),
    "the holder renamed": lambda it: update_node(it.holder, "name", name="mallory"),
    "the space deleted": lambda it: delete_node(it.space, cascade=False),
    "the space deleted with all": lambda it: delete_node(it.space, cascade=True),
    "the holder deleted with all": lambda it: delete_node(it.holder, cascade=True),
    "superseded": lambda it: lineage(it.plain.id, it.principal.id, 1),
    "contradicted": lambda it: lineage(it.plain.id, it.principal.id, 4),
    "superseding": lambda it: lineage(it.principal.id, it.plain.id, 1),
    "an edge at the space": lambda it: upsert_at(it.space),
    "an edge moved to the space": lambda it: update(
        it.plain, "target", target=type_pb2.EdgeEnd(id=it.space.id)
    ),
    "a fact of it": lambda _: stating("concord:principal", "helper"),
    "a fact about it": lambda _: stating("OBEYS", "concord:space"),
    "its relation declared": lambda _: action_of(
        relation_pb2.DeclareRelationRequest(
            request_id=salt(), name="concord:principal", functional=True
        )
    ),
    "a full-width name": lambda _: edge_action(relation="ｃoncord:principal"),
}


async def test_no_proposal_reaches_a_principal(party: Party, found: Reserved) -> None:
    """V2 V5 A1 By id or by name, with any action: refused when proposed, and on record as such."""
    for aim, action in AIMS.items():
        count = len(await party.actions())
        failure = await refused(party.propose(action(found)))

        assert failure.reason == SAFEGUARD, aim
        assert (await party.actions())[count:] == ["SAFEGUARD_VIOLATION"], aim


async def test_no_revision_reaches_a_principal(party: Party, found: Reserved) -> None:
    """V2 V6 An innocent proposal does not become a key's change by a revision."""
    proposal = await party.propose(edge_action(target="patience"))

    failure = await refused(party.revise(proposal, AIMS["another key by id"](found)))

    assert failure.reason == SAFEGUARD
    entry = (await party.entries(page_size=1))[0]
    assert (entry.proposal_id, entry.blocked) == (proposal.id, True)
    assert (await party.get(proposal)).revision == 1


async def test_graph_itself_reaches_no_principal_under_a_grant(
    party: Party, keys: Keys, found: Reserved
) -> None:
    """V2 V5 Also with both consents and governance's own key, past every check of governance."""
    before = await party.state()
    etags = {each.id: each.etag for each in vars(found).values()}
    reserved = "ERROR_REASON_RESERVED_NAME"  # a relation is named, and by nothing else addressed
    for aim in (aim for aim in AIMS if "fact" not in aim and "name" not in aim):
        request = agreed_unproposed(party, keys.grant, AIMS[aim](found), etags)
        failure = await refused(party.governed.ApplyGovernedChange(request))

        assert failure.reason == (reserved if aim == "its relation declared" else SAFEGUARD), aim
        assert await party.state() == before, aim
    known = await party.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    assert {each.slot for each in known.slots} == {SLOT_AGENT, SLOT_HUMAN}


async def test_a_key_comes_back_by_another_change_alone(party: Party) -> None:
    """V5 V8 A1 The undoing of a key's change needs no proof of the old key: it is refused."""
    done = await party.decide(await party.propose(to_change_key(signing.Signer("ada", MINE))))
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED

    failure = await refused(party.undo(done))

    assert failure.reason == SAFEGUARD
    assert (await party.actions())[-1] == "SAFEGUARD_VIOLATION"
    assert (await party.get(done)).status == STATUS.PROPOSAL_STATUS_EXECUTED


async def test_a_space_whose_principals_are_damaged_says_so(tmp_path: Path, keys: Keys) -> None:
    """V5 What was changed past Concord is told as that, and not as a service that is away."""
    async with world(tmp_path, keys=keys) as live:
        party = live.party()
        await party.enrol()
        proposal = await party.propose(edge_action())
        await party.approve(proposal, AGENT)
    with closing(sqlite3.connect(tmp_path / "graph.db")) as db, db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute("DELETE FROM edge WHERE properties LIKE '%HUMAN%'")
    async with world(tmp_path, keys=keys) as live:
        again = live.party()
        again.agent, again.human = party.agent, party.human
        told = [
            await refused(again.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())),
            await refused(again.approve(proposal, HUMAN)),
            await refused(again.governed.GetGenesis(governed_pb2.GetGenesisRequest())),
        ]

    assert {each.reason for each in told} == {"ERROR_REASON_GENESIS_DAMAGED"}


async def test_graph_reverts_no_key(party: Party, found: Reserved) -> None:
    """V5 V8 Nor does graph bring a former key back, whoever asks."""
    await party.decide(await party.propose(to_change_key(signing.Signer("ada", MINE))))
    item = governed_pb2.RevertedItem(id=found.principal.id, revision=1, expected_revision=2)
    revert = governed_pb2.RevertItemsRequest(request_id=salt(), items=[item])
    preview = governed_pb2.PreviewChangeRequest(action=action_of(revert))

    failure = await refused(party.governed.PreviewChange(preview))

    assert reason_of(failure)[0] == "SAFEGUARD_VIOLATION"
