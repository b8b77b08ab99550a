"""Steps of the attacker that take several turns: at what ids stand for, between two consents."""

from __future__ import annotations

from collections.abc import Sequence

from attack import (
    EVIL,
    Attack,
    Meaning,
    SeenEnvelope,
    Step,
    agent_signs,
    completes,
    delivers_last,
    edits,
    human_looks,
    latest_alone,
    proposes,
)
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2
from concord.type.v1 import type_pb2
from concord_client.trust import signing
from google.protobuf.field_mask_pb2 import FieldMask
from governed_steps import agreed_unproposed
from governed_world import CONSTITUTIVE, HUMAN, STATUS, request_id
from writing import action_of, salt, to_change_key, to_update_node, to_upsert_node

Action = governed_pb2.GovernedAction


async def _reserved(it: Attack) -> tuple[list[type_pb2.Edge], list[type_pb2.Node]]:
    """Return what the genesis wrote: anybody may read it."""
    wanted = graph_pb2.EdgeFilter(relations=["concord:principal", "concord:governance_key"])
    edges = await it.party.graph.ListEdges(graph_pb2.ListEdgesRequest(filter=wanted))
    nodes = await it.party.graph.ListNodes(graph_pb2.ListNodesRequest(label="Concord"))
    return list(edges.edges), list(nodes.nodes)


async def _at_a_principal(it: Attack) -> Action:
    """Return an action that reaches by its id for what stands for the principals."""
    edges, nodes = await _reserved(it)
    edge, node = it.chance.choice(edges), it.chance.choice(nodes)
    mine = type_pb2.Edge(id=edge.id, etag=edge.etag, weight=0.1, properties=edge.properties)
    mine.properties.update({"slot": HUMAN, "key": "A" * 43})
    mine.target.name, mine.edge_type = EVIL, type_pb2.EDGE_TYPE_DESCRIPTIVE
    path = it.chance.choice(["properties", "weight", "target", "edge_type"])
    other = type_pb2.Node(id=node.id, etag=node.etag, name=EVIL)
    at = type_pb2.Edge(
        source=type_pb2.EdgeEnd(id=node.id),
        relation="OBEYS",
        target=type_pb2.EdgeEnd(name=EVIL),
        edge_type=CONSTITUTIVE,
    )
    mask, named = FieldMask(paths=[path]), FieldMask(paths=["name"])
    ids = {"request_id": salt(), "id": edge.id, "etag": edge.etag}
    node_ids = {"request_id": salt(), "id": node.id, "etag": node.etag}
    known = {"request_id": salt()}
    tries: Sequence[Action] = (
        action_of(graph_pb2.UpdateEdgeRequest(edge=mine, update_mask=mask, **known)),
        action_of(graph_pb2.DeleteEdgeRequest(**ids)),
        action_of(graph_pb2.DeleteNodeRequest(cascade=True, **node_ids)),
        action_of(graph_pb2.UpdateNodeRequest(node=other, update_mask=named, **known)),
        action_of(graph_pb2.UpsertEdgeRequest(edge=at, **known)),
        action_of(
            governed_pb2.RevertItemsRequest(
                items=[governed_pb2.RevertedItem(id=edge.id, expected_revision=1)], **known
            )
        ),
    )
    return it.chance.choice(tries)


async def reaches_a_principal(it: Attack) -> None:
    """Propose it, revise something innocent into it, or write it straight away."""
    action = await _at_a_principal(it)
    create = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action)
    assert await it.ask(it.party.proposals.CreateProposal, create) is None
    proposal = await it.pick()
    if proposal is not None:
        revise = proposal_pb2.ReviseProposalRequest(
            request_id=request_id(),
            proposal_id=proposal.id,
            revision=proposal.revision,
            action=action,
        )
        assert await it.ask(it.party.proposals.ReviseProposal, revise) is None
    etags = [
        governed_pb2.ItemEtag(id=item.id, etag=item.etag)
        for items in await _reserved(it)
        for item in items
    ]
    straight = governed_pb2.ApplyGovernedChangeRequest(
        request_id=request_id(), action=action, etags=etags
    )
    assert await it.ask(it.party.governed.ApplyGovernedChange, straight) is None


async def agrees_beside_a_principal(it: Attack) -> None:
    """Carry both genuine consents to a change by id to graph, past governance, with its own key.

    The human was shown ids, and did not know what they stand for.
    """
    action = await _at_a_principal(it)
    reserved = await _reserved(it)
    etags = {item.id: item.etag for items in reserved for item in items}
    request = agreed_unproposed(it.party, it.keys.grant, action, etags)
    assert await it.ask(it.party.governed.ApplyGovernedChange, request) is None


async def revises_after_the_look(it: Attack) -> None:
    """Have the human sign something good, and put something else in its place before it arrives."""
    await proposes(it)
    with latest_alone(it):
        await agent_signs(it)
        await human_looks(it)
        envelope = it.envelopes[-1] if it.envelopes else None
        await edits(it)
        await agent_signs(it)
        await delivers_last(it)
    if envelope is not None:
        await delivers_last(it, envelope)


async def changes_an_end_between(it: Attack) -> None:
    """Let the agent sign, change what an end is called or says, then bring the human's consent."""
    if it.chance.random() < 0.3:
        await _node(it, it.chance.choice(["agent", "good 0", "good 1"]), "Before")
    await proposes(it)
    with latest_alone(it):
        await agent_signs(it)
        await delivers_last(it)
        await human_looks(it)
        envelope: SeenEnvelope | None = it.envelopes[-1] if it.envelopes else None
        name = it.chance.choice(["agent", "good 0", "good 1", "good 2"])
        await it.chance.choice((_node, _renamed))(it, name, "Slave")
    if envelope is not None:
        await delivers_last(it, envelope)


async def _node(it: Attack, name: str, label: str) -> None:
    node = type_pb2.Node(name=name, label=label)
    node.properties.update({"obeys": "the attacker"})
    await it.ask(it.party.graph.UpsertNode, to_upsert_node(node))


async def _renamed(it: Attack, name: str, label: str) -> None:
    found = (await it.party.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
    found.name = f"{EVIL} {label}"
    request = to_update_node(found, "name")
    if found.id:
        await it.ask(it.party.graph.UpdateNode, request)


async def undoes_a_key_change(it: Attack) -> None:
    """Let the human change a stolen key, then try to bring the stolen one back."""
    fresh = signing.Signer("ada", signing.generate_key())
    change = to_change_key(fresh, HUMAN, it.party.space)
    create = proposal_pb2.CreateProposalRequest(request_id=request_id(), action=action_of(change))
    reply = await it.ask(it.party.proposals.CreateProposal, create)
    if reply is None:
        return
    it.note(reply.proposal, Meaning("key", "good key"))
    with latest_alone(it):
        for signs in (agent_signs, human_looks):
            await signs(it)
            await delivers_last(it)
    await completes(it)
    request = proposal_pb2.GetProposalRequest(id=reply.proposal.id)
    status = (await it.party.proposals.GetProposal(request)).proposal.status
    if status == STATUS.PROPOSAL_STATUS_EXECUTED:
        it.stolen.append(it.party.human)
        it.party.human = fresh
    undo = proposal_pb2.UndoModificationRequest(
        request_id=request_id(), proposal_id=reply.proposal.id
    )
    assert await it.ask(it.party.proposals.UndoModification, undo) is None


async def forgets_beside(it: Attack) -> None:
    """State lineage at what stands for a principal."""
    edges, _ = await _reserved(it)
    ids = [it.chance.choice(edges).id, *(edge.id for edge in (await it.edges(it.party))[:1])]
    it.chance.shuffle(ids)
    request = lineage_pb2.AddLineageRequest(
        request_id=request_id(),
        newer_id=ids[0],
        older_id=ids[-1],
        relation=it.chance.choice(type_pb2.LineageRelation.values()[1:]),
    )
    assert await it.ask(it.party.lineage_service.AddLineage, request) is None


TURNS: dict[str, Step] = {
    step.__name__: step
    for step in (
        *(reaches_a_principal, agrees_beside_a_principal, forgets_beside, undoes_a_key_change),
        *(revises_after_the_look, changes_an_end_between),
    )
}
