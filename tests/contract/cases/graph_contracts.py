"""The contract cases of GraphService."""

from concord.graph.v1 import graph_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import Contract, invalid
from google.protobuf.field_mask_pb2 import FieldMask

FOUND, MISSED = type_pb2.LOOKUP_STATUS_FOUND, type_pb2.LOOKUP_STATUS_NOT_FOUND
Node, Edge, EdgeEnd = type_pb2.Node, type_pb2.Edge, type_pb2.EdgeEnd


def _upsert_node(name: str, label: str = "Person") -> pb.UpsertNodeRequest:
    return pb.UpsertNodeRequest(request_id="r", node=Node(name=name, label=label))


def _update_node(home: Home, mask: str = "label", label: str = "Human") -> pb.UpdateNodeRequest:
    node = Node(id=home.loose_id, etag=home.loose_etag, label=label)
    return pb.UpdateNodeRequest(request_id="r", node=node, update_mask=FieldMask(paths=[mask]))


def _upsert_edge(home: Home, relation: str = "KNOWS", weight: float = 0.5) -> pb.UpsertEdgeRequest:
    edge = Edge(
        source=EdgeEnd(id=home.node_id),
        relation=relation,
        target=EdgeEnd(id=home.memory_id),
        weight=weight,
    )
    return pb.UpsertEdgeRequest(request_id="r", edge=edge)


def _update_edge(home: Home, mask: str = "weight", weight: float = 0.3) -> pb.UpdateEdgeRequest:
    edge = Edge(id=home.edge_id, etag=home.edge_etag, weight=weight)
    return pb.UpdateEdgeRequest(request_id="r", edge=edge, update_mask=FieldMask(paths=[mask]))


def _path(home: Home) -> pb.FindPathRequest:
    return pb.FindPathRequest(
        start=EdgeEnd(id=home.node_id), end=EdgeEnd(name="Zeta"), include_superseded=True
    )


GRAPH = {
    "UpsertNode": Contract(
        request=lambda _: _upsert_node("Newcomer"),
        success=lambda reply, _: reply.created and reply.node.label == "Person",
        bad_input=(
            lambda _: _upsert_node("x" * 513),
            invalid("node.name"),
        ),
        other=lambda _: _upsert_node("Newcomer", "Robot"),
    ),
    "GetNode": Contract(
        request=lambda home: pb.GetNodeRequest(id=home.node_id),
        success=lambda reply, home: reply.status == FOUND and reply.node.id == home.node_id,
        bad_input=(lambda _: pb.GetNodeRequest(), invalid("by")),
    ),
    "UpdateNode": Contract(
        request=_update_node,
        success=lambda reply, home: (
            reply.node.label == "Human" and reply.node.etag != home.loose_etag
        ),
        bad_input=(
            lambda home: _update_node(home, "create_time"),
            invalid("update_mask", "UPDATE_MASK_INVALID"),
        ),
        other=lambda home: _update_node(home, label="Robot"),
    ),
    "DeleteNode": Contract(
        request=lambda home: pb.DeleteNodeRequest(
            request_id="r", id=home.loose_id, etag=home.loose_etag
        ),
        success=lambda reply, _: reply.deleted_edge_count == 0 and reply.token,
        bad_input=(
            lambda home: pb.DeleteNodeRequest(request_id="r", id=home.loose_id),
            invalid("etag"),
        ),
        other=lambda home: pb.DeleteNodeRequest(
            request_id="r", id=home.loose_id, etag=home.loose_etag, cascade=True
        ),
    ),
    "ListNodes": Contract(
        request=lambda _: pb.ListNodesRequest(label="Thing"),
        success=lambda reply, home: (
            [node.name for node in reply.nodes] == ["Ada", "Loose"]
            and reply.nodes[0].id == home.node_id
        ),
        bad_input=(
            lambda home: pb.ListNodesRequest(
                label="Else", page_token=home.page_tokens["ListNodes"]
            ),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
    ),
    "UpsertEdge": Contract(
        request=_upsert_edge,
        success=lambda reply, home: reply.created and reply.edge.target.id == home.memory_id,
        bad_input=(
            lambda home: _upsert_edge(home, "Supersedes"),
            invalid("edge.relation", "RESERVED_NAME"),
        ),
        other=lambda home: _upsert_edge(home, weight=0.6),
    ),
    "GetEdge": Contract(
        request=lambda home: pb.GetEdgeRequest(id=home.edge_id),
        success=lambda reply, home: reply.status == FOUND and reply.edge.id == home.edge_id,
        bad_input=(
            lambda _: pb.GetEdgeRequest(
                triple=pb.Triple(relation="KNOWS", target=EdgeEnd(name="Ada"))
            ),
            invalid("triple.source"),
        ),
    ),
    "UpdateEdge": Contract(
        request=_update_edge,
        success=lambda reply, _: reply.edge.weight == 0.3,
        bad_input=(
            lambda home: _update_edge(home, "relation"),
            invalid("update_mask", "UPDATE_MASK_INVALID"),
        ),
        other=lambda home: _update_edge(home, weight=0.4),
    ),
    "DeleteEdge": Contract(
        request=lambda home: pb.DeleteEdgeRequest(
            request_id="r", id=home.edge_id, etag=home.edge_etag
        ),
        success=lambda reply, _: reply.token,
        bad_input=(
            lambda home: pb.DeleteEdgeRequest(id=home.edge_id, etag=home.edge_etag),
            invalid("request_id"),
        ),
        other=lambda home: pb.DeleteEdgeRequest(request_id="r", id=home.edge_id, etag="other"),
    ),
    "ListEdges": Contract(
        request=lambda _: pb.ListEdgesRequest(filter=pb.EdgeFilter(relations=["WORKS_AT"])),
        success=lambda reply, home: (
            {edge.id for edge in reply.edges} == {home.edge_id, home.later_edge_id}
        ),
        bad_input=(lambda _: pb.ListEdgesRequest(page_size=201), invalid("page_size")),
    ),
    "QueryNeighbors": Contract(
        request=lambda home: pb.QueryNeighborsRequest(start=EdgeEnd(id=home.node_id), depth=2),
        success=lambda reply, home: (
            reply.status == FOUND and home.rock_id in {each.edge.id for each in reply.neighbors}
        ),
        bad_input=(
            lambda home: pb.QueryNeighborsRequest(start=EdgeEnd(id=home.node_id), depth=6),
            invalid("depth"),
        ),
    ),
    "FindPath": Contract(
        request=_path,
        success=lambda reply, home: (
            [[edge.id for edge in path.edges] for path in reply.paths] == [[home.later_edge_id]]
        ),
        bad_input=(
            lambda _: pb.FindPathRequest(start=EdgeEnd(name="Ada"), end=EdgeEnd()),
            invalid("end"),
        ),
    ),
}
