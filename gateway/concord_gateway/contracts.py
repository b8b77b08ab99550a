"""The services that the gateway offers: the only module here that names contracts."""

from concord.dissonance.v1 import dialectic_pb2, dissonance_pb2
from concord.governance.v1 import access_pb2, audit_pb2, principal_pb2, proposal_pb2
from concord.graph.v1 import (
    claim_pb2,
    conflict_pb2,
    dialogue_pb2,
    episode_pb2,
    erasure_pb2,
    feed_pb2,
    governed_pb2,
    graph_pb2,
    lineage_pb2,
    memory_pb2,
    recall_pb2,
    record_pb2,
    relation_pb2,
    session_pb2,
    space_pb2,
    undo_pb2,
    working_memory_pb2,
)
from concord.search.v1 import feedback_pb2, health_pb2, search_pb2, suggestion_pb2
from google.protobuf.descriptor import ServiceDescriptor

_FILES = (
    graph_pb2.DESCRIPTOR,
    memory_pb2.DESCRIPTOR,
    lineage_pb2.DESCRIPTOR,
    dialogue_pb2.DESCRIPTOR,
    episode_pb2.DESCRIPTOR,
    working_memory_pb2.DESCRIPTOR,
    space_pb2.DESCRIPTOR,
    relation_pb2.DESCRIPTOR,
    conflict_pb2.DESCRIPTOR,
    claim_pb2.DESCRIPTOR,
    session_pb2.DESCRIPTOR,
    record_pb2.DESCRIPTOR,
    recall_pb2.DESCRIPTOR,
    erasure_pb2.DESCRIPTOR,
    undo_pb2.DESCRIPTOR,
    governed_pb2.DESCRIPTOR,
    feed_pb2.DESCRIPTOR,
    search_pb2.DESCRIPTOR,
    feedback_pb2.DESCRIPTOR,
    health_pb2.DESCRIPTOR,
    suggestion_pb2.DESCRIPTOR,
    dissonance_pb2.DESCRIPTOR,
    dialectic_pb2.DESCRIPTOR,
    proposal_pb2.DESCRIPTOR,
    principal_pb2.DESCRIPTOR,
    audit_pb2.DESCRIPTOR,
    access_pb2.DESCRIPTOR,
)


def services() -> tuple[ServiceDescriptor, ...]:
    """Every service of the contracts, in the order of the files."""
    return tuple(service for file in _FILES for service in file.services_by_name.values())
