"""What not even both principals' consent allows, or no longer: attempts under a genuine grant."""

import grpc
from concord.graph.v1 import governed_pb2, graph_pb2
from concord.type.v1 import type_pb2
from contract_homes import CONSTITUTIVE, Home, Template, edge_said, seen
from contract_live import Live, governing, member
from contract_registry import Refused
from guard_probes import is_done

CODE = grpc.StatusCode


async def a_principal_is_rewritten(live: Live, template: Template) -> bool:
    """Both agree to an update, by its id, of the edge that stands for the human."""
    home = template.a
    edge = await _human(live)
    changed = type_pb2.Edge(id=edge.id, etag=edge.etag, properties=edge.properties)
    changed.properties.update({"key": "A" * 43})
    request = graph_pb2.UpdateEdgeRequest(request_id="inner", edge=changed)
    request.update_mask.paths.append("properties")
    answer = await live.ask(
        governing("a"), "ApplyGovernedChange", _granted(home, request, {edge.id: edge.etag})
    )
    demanded = Refused(CODE.FAILED_PRECONDITION, "SAFEGUARD_VIOLATION")
    return is_done(answer, demanded)


async def an_end_comes_between(live: Live, template: Template) -> bool:
    """Both agree to an edge that makes its end; then somebody makes it, saying other things."""
    home = template.a
    action = governed_pb2.GovernedAction()
    action.upsert_edge.request_id = "inner"
    action.upsert_edge.edge.CopyFrom(edge_said("VALUES", "Mercy", edge_type=CONSTITUTIVE))
    grant = home.parties.grant("a", action, await seen(live, home, action))
    evil = type_pb2.Node(name="Mercy", label="Evil")
    await live.tell(
        member("a"), "UpsertNode", graph_pb2.UpsertNodeRequest(request_id="evil", node=evil)
    )
    request = governed_pb2.ApplyGovernedChangeRequest(request_id="x", action=action, grant=grant)
    answer = await live.ask(governing("a"), "ApplyGovernedChange", request)
    return is_done(answer, Refused(CODE.FAILED_PRECONDITION, "GRANT_INVALID"))


async def _human(live: Live) -> type_pb2.Edge:
    listed = await live.tell(member("a"), "ListEdges", graph_pb2.ListEdgesRequest(page_size=200))
    found: type_pb2.Edge = next(
        edge for edge in listed.edges if edge.properties.fields["slot"].string_value == "HUMAN"
    )
    return found


def _granted(
    home: Home, update: graph_pb2.UpdateEdgeRequest, etags: dict[str, str]
) -> governed_pb2.ApplyGovernedChangeRequest:
    action = governed_pb2.GovernedAction(update_edge=update)
    return governed_pb2.ApplyGovernedChangeRequest(
        request_id="x", action=action, grant=home.parties.grant("a", action, etags)
    )
