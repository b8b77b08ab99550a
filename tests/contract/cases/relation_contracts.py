"""The contract cases of RelationService."""

from concord.graph.v1 import relation_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import Contract, invalid


def _declare(
    home: Home, name: str = "LIVES_IN", *, functional: bool = True
) -> pb.DeclareRelationRequest:
    return pb.DeclareRelationRequest(
        request_id="r",
        name=f"{name} {home.space}",
        functional=functional,
        temporal_class=pb.TEMPORAL_CLASS_STATE,
    )


RELATION = {
    "DeclareRelation": Contract(
        request=_declare,
        success=lambda reply, _: (
            reply.created
            and reply.relation.functional
            and reply.relation.temporal_class == pb.TEMPORAL_CLASS_STATE
            and reply.relation.etag
            and reply.token
        ),
        bad_input=(
            lambda _: pb.DeclareRelationRequest(request_id="r", name="supersedes", functional=True),
            invalid("name", "RESERVED_NAME"),
        ),
        other=lambda home: _declare(home, functional=False),
    ),
    "ListRelations": Contract(
        request=lambda _: pb.ListRelationsRequest(),
        success=lambda reply, home: (
            [each.name for each in reply.relations] == ["BORN_IN", f"OWNED_BY {home.space}"]
        ),
        bad_input=(lambda _: pb.ListRelationsRequest(page_size=201), invalid("page_size")),
    ),
    "FollowRelations": Contract(
        request=lambda home: pb.FollowRelationsRequest(
            start=type_pb2.EdgeEnd(id=home.node_id), relations=["WORKS_AT"]
        ),
        success=lambda reply, home: (
            {edge.id for edge in reply.hops[0].edges} == {home.edge_id, home.later_edge_id}
        ),
        bad_input=(
            lambda home: pb.FollowRelationsRequest(start=type_pb2.EdgeEnd(id=home.node_id)),
            invalid("relations"),
        ),
    ),
}
