"""What a hand does to nodes, edges and the layers around memories."""

from collections.abc import Callable

from concord.graph.v1 import dialogue_pb2, episode_pb2, graph_pb2, relation_pb2, working_memory_pb2
from concord.type.v1.type_pb2 import Edge, EdgeEnd, Node
from google.protobuf.field_mask_pb2 import FieldMask

from tests.chaos.hand import Deed, Hand, deed, under

KNOWS = "KNOWS"


def put_node(hand: Hand) -> Deed:
    """State a node."""
    name = f"{hand.name} thing {hand.draw.randrange(20)}"
    node = Node(name=name, label="Thing")
    node.properties.update({"number": hand.number()})

    def note(reply: graph_pb2.UpsertNodeResponse) -> list[str]:
        hand.nodes[name] = reply.node.etag
        hand.node_ids[name] = reply.node.id
        return [reply.node.id]

    return deed(
        lambda c, r: c.graph.UpsertNode(graph_pb2.UpsertNodeRequest(request_id=r, node=node)), note
    )


def change_node(hand: Hand) -> Deed | None:
    """Change a node that was stated."""
    known = [name for name, etag in hand.nodes.items() if etag]
    if not known:
        return None
    name = hand.draw.choice(known)
    node = Node(id=hand.node_ids[name], etag=hand.nodes[name], label="Changed")
    node.properties.update({"changed": hand.number()})
    mask = FieldMask(paths=["label", "properties"])

    def note(reply: graph_pb2.UpdateNodeResponse) -> list[str]:
        hand.nodes[name] = reply.node.etag
        return [reply.node.id]

    request = graph_pb2.UpdateNodeRequest(node=node, update_mask=mask)
    return deed(lambda c, r: c.graph.UpdateNode(under(request, r)), note)


def put_edge(hand: Hand) -> Deed:
    """State an edge, with nodes that may not be there, under a weight that it did not have."""
    source, target = (f"{hand.name} thing {n}" for n in hand.draw.sample(range(20), 2))
    edge = Edge(source=EdgeEnd(name=source), relation=KNOWS, target=EdgeEnd(name=target))
    edge.weight = (hand.number() % 1000) / 1000

    def note(reply: graph_pb2.UpsertEdgeResponse) -> list[str]:
        hand.edges[reply.edge.id] = reply.edge
        for name in (source, target):
            hand.nodes.setdefault(name, "")
        return [reply.edge.id]

    return deed(
        lambda c, r: c.graph.UpsertEdge(graph_pb2.UpsertEdgeRequest(request_id=r, edge=edge)), note
    )


def change_edge(hand: Hand) -> Deed | None:
    """Change an edge's properties."""
    if not hand.edges:
        return None
    edge = Edge()
    edge.CopyFrom(hand.edges[hand.draw.choice(list(hand.edges))])
    edge.properties.update({"changed": hand.number()})
    mask = FieldMask(paths=["properties"])

    def note(reply: graph_pb2.UpdateEdgeResponse) -> list[str]:
        hand.edges[edge.id] = reply.edge
        return [edge.id]

    request = graph_pb2.UpdateEdgeRequest(edge=edge, update_mask=mask)
    return deed(lambda c, r: c.graph.UpdateEdge(under(request, r)), note)


def drop_edge(hand: Hand) -> Deed | None:
    """Delete an edge."""
    if not hand.edges:
        return None
    edge = hand.edges[hand.draw.choice(list(hand.edges))]

    def note(_: graph_pb2.DeleteEdgeResponse) -> list[str]:
        del hand.edges[edge.id]
        return [edge.id]

    request = graph_pb2.DeleteEdgeRequest(id=edge.id, etag=edge.etag)
    return deed(lambda c, r: c.graph.DeleteEdge(under(request, r)), note)


def drop_node(hand: Hand) -> Deed | None:
    """Delete a node with its edges, now and then."""
    known = [edge.source for edge in hand.edges.values() if hand.nodes[edge.source.name]]
    if not known or hand.draw.random() < 0.7:
        return None
    node = hand.draw.choice(known)
    request = graph_pb2.DeleteNodeRequest(id=node.id, etag=hand.nodes[node.name], cascade=True)

    def note(reply: graph_pb2.DeleteNodeResponse) -> list[str]:
        gone = [e.id for e in hand.edges.values() if node.id in (e.source.id, e.target.id)]
        assert reply.deleted_edge_count == len(gone)
        for edge_id in gone:
            del hand.edges[edge_id]
        del hand.nodes[node.name]
        return [node.id, *gone]

    return deed(lambda c, r: c.graph.DeleteNode(under(request, r)), note)


def talk(hand: Hand) -> Deed:
    """Append turns, all or none; each tells how many there are."""
    size, number = hand.draw.randint(1, 5), hand.number()
    said = [f"{hand.name} said {number}: {i} of {size}" for i in range(size)]
    turns = [dialogue_pb2.DialogueTurn(speaker=hand.name, content=content) for content in said]
    request = dialogue_pb2.AppendDialogueRequest(session_id=hand.name, turns=turns)

    def note(reply: dialogue_pb2.AppendDialogueResponse) -> list[str]:
        hand.said += said
        return [turn.id for turn in reply.turns]

    return deed(lambda c, r: c.dialogue.AppendDialogue(under(request, r)), note)


def live_through(hand: Hand) -> Deed:
    """Keep an episode."""
    about = [hand.one().id] if hand.live else []
    request = episode_pb2.AddEpisodeRequest(
        query=hand.text(), reward=0.5, session_id=hand.name, memory_ids=about
    )

    def note(reply: episode_pb2.AddEpisodeResponse) -> list[str]:
        hand.episodes.append(reply.episode.id)
        return [reply.episode.id]

    return deed(lambda c, r: c.episode.AddEpisode(under(request, r)), note)


def hold(hand: Hand) -> Deed:
    """Put a text into working memory, from where it may drive others."""
    request = working_memory_pb2.PutWorkingMemoryRequest(content=hand.text(), session_id=hand.name)

    def note(reply: working_memory_pb2.PutWorkingMemoryResponse) -> list[str]:
        hand.held = reply.entry.id
        return [reply.entry.id, *(each.id for each in reply.evicted)]

    return deed(lambda c, r: c.working_memory.PutWorkingMemory(under(request, r)), note)


def let_go(hand: Hand) -> Deed | None:
    """Take the last text out of working memory that was put there, held or stale by now."""
    if not hand.held:
        return None
    request = working_memory_pb2.RemoveWorkingMemoryRequest(id=hand.held)

    def note(_: working_memory_pb2.RemoveWorkingMemoryResponse) -> list[str]:
        gone, hand.held = hand.held, ""
        return [gone]

    return deed(lambda c, r: c.working_memory.RemoveWorkingMemory(under(request, r)), note)


def clear(hand: Hand) -> Deed | None:
    """Empty working memory of what is this hand's, seldom."""
    if hand.draw.random() < 0.9:
        return None
    request = working_memory_pb2.ClearWorkingMemoryRequest(session_id=hand.name, include_stale=True)

    def note(_: working_memory_pb2.ClearWorkingMemoryResponse) -> list[str]:
        hand.held = ""
        return []

    return deed(lambda c, r: c.working_memory.ClearWorkingMemory(under(request, r)), note)


def declare(hand: Hand) -> Deed | None:
    """Declare whether people live in one place at a time, which changes what follows, seldom."""
    if hand.draw.random() < 0.9:
        return None
    name, functional = f"LIVES_IN_{hand.name}", hand.draw.random() < 0.5
    request = relation_pb2.DeclareRelationRequest(name=name, functional=functional)

    def note(reply: relation_pb2.DeclareRelationResponse) -> list[str]:
        hand.relations[reply.relation.name] = functional
        return []

    return deed(lambda c, r: c.relation.DeclareRelation(under(request, r)), note)


DEEDS: tuple[Callable[[Hand], Deed | None], ...] = (
    *(put_node, put_edge, put_edge, change_node, change_edge, drop_edge, drop_node),
    *(talk, live_through, hold, let_go, clear, declare),
)
