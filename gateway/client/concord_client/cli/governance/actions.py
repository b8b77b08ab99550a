"""The actions of `concord propose`, each on the present version of its item (V1)."""

from typing import TYPE_CHECKING, NoReturn

from concord.graph.v1.graph_pb2 import GetEdgeRequest
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.action_file import salt
from concord_client.cli.values import plain_id

if TYPE_CHECKING:
    from concord.graph.v1.governed_pb2 import GovernedAction

    from concord_client.cli.governance.session import GovernanceSession
    from concord_client.client import Client


def retyped(client: "Client", item: str, *, constitutive: bool) -> "GovernedAction":
    """The action that makes a memory or edge constitutive or descriptive. Raises `CommandError`."""
    from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2

    found = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=plain_id(item), peek=True))
    wanted = type_pb2.EDGE_TYPE_CONSTITUTIVE if constitutive else type_pb2.EDGE_TYPE_DESCRIPTIVE
    if found.status == type_pb2.LOOKUP_STATUS_FOUND:
        return memory_update(client, item, "edge_type", edge_type=wanted)
    edge = type_pb2.Edge(
        id=plain_id(item), etag=edge_now(client, plain_id(item)).etag, edge_type=wanted
    )
    request = graph_pb2.UpdateEdgeRequest(
        request_id=salt(), edge=edge, update_mask=FieldMask(paths=["edge_type"])
    )
    return governed_pb2.GovernedAction(update_edge=request)


def memory_update(client: "Client", item: str, path: str, **fields: object) -> "GovernedAction":
    """The action that changes one field of a memory. Raises `CommandError`."""
    from concord.graph.v1 import governed_pb2, memory_pb2

    etag = memory_now(client, plain_id(item)).etag
    memory = type_pb2.Memory(id=plain_id(item), etag=etag, **fields)  # type: ignore[arg-type] # by name
    request = memory_pb2.UpdateMemoryRequest(
        request_id=salt(), memory=memory, update_mask=FieldMask(paths=[path])
    )
    return governed_pb2.GovernedAction(update_memory=request)


def memory_now(client: "Client", memory_id: str) -> type_pb2.Memory:
    """The present version of a memory, live or forgotten. Raises `CommandError`."""
    from concord.graph.v1.memory_pb2 import GetMemoryRequest

    reply = client.memory.GetMemory(GetMemoryRequest(id=memory_id, peek=True))
    return reply.memory if reply.memory.id else _absent("memory", memory_id)


def edge_now(client: "Client", edge_id: str) -> type_pb2.Edge:
    """The present version of an edge. Raises `CommandError`."""
    reply = client.graph.GetEdge(GetEdgeRequest(id=edge_id, peek=True))
    return reply.edge if reply.edge.id else _absent("edge", edge_id)


def _absent(what: str, item: str) -> NoReturn:
    raise CommandError(f"There is no {what} {item!r}.", reason="LOOKUP_STATUS_NOT_FOUND")


def edge_type_of(constitutive: bool) -> "type_pb2.EdgeType.ValueType":
    """The contract's value."""
    return type_pb2.EDGE_TYPE_CONSTITUTIVE if constitutive else type_pb2.EDGE_TYPE_DESCRIPTIVE


def put_forward(governance: "GovernanceSession", action: "GovernedAction", note: str = "") -> None:
    """Makes the proposal and prints it."""
    from concord.governance.v1.proposal_pb2 import CreateProposalRequest

    reply = governance.client.proposals.CreateProposal(
        CreateProposalRequest(action=action, note=note)
    )
    governance.report(reply)
