"""Renders one item."""

from concord.type.v1 import type_pb2
from concord_attestation.visible import quoted
from google.protobuf.json_format import MessageToJson
from google.protobuf.struct_pb2 import Struct
from rich.console import RenderableType

from concord_client.cli.render.claim_page import marks
from concord_client.cli.render.health_page import in_words
from concord_client.cli.render.page import fields, text, when, word


def of_memory(memory: type_pb2.Memory) -> list[RenderableType]:
    """A memory's fields and content."""
    supersession = memory.supersession
    heads = [head for head in supersession.head_ids if head != memory.id]
    pairs = [
        ("id", memory.id),
        ("kind", word(type_pb2.MemoryKind, memory.kind)),
        ("type", word(type_pb2.EdgeType, memory.edge_type)),
        ("importance", word(type_pb2.Importance, memory.importance)),
        ("domain", memory.domain),
        ("category", memory.category),
        ("tags", ", ".join(memory.tags)),
        ("concepts", ", ".join(memory.concepts)),
        ("surfaces when", "; ".join(memory.surfaces_when)),
        ("facts", "; ".join(map(_fact, memory.facts))),
        (
            "sources",
            ", ".join(filter(None, map(source, memory.sources))),
        ),
        ("origin", word(type_pb2.Origin, memory.origin) if memory.origin else ""),
        ("written by", memory.principal),
        ("words of", _whose_words(memory)),
        ("derived from", ", ".join(i for each in memory.sources for i in each.memory_ids)),
        ("properties", _json(memory.properties) if memory.properties.fields else ""),
        ("external id", memory.external_id),
        ("session", memory.session_id),
        ("turn", str(memory.turn_order or "")),
        ("role", word(type_pb2.TurnRole, memory.role) if memory.role else ""),
        ("valid", _interval(supersession)),
        ("recorded", when(memory.create_time)),
        ("changed", _changed(memory)),
        ("read", _read(memory.access)),
        ("relevance", f"{memory.relevance_score:.3f}"),
        ("health", in_words(memory.health)),
        ("superseded by", ", ".join(heads) if supersession.is_superseded else ""),
        ("amended by", ", ".join(supersession.amendment_ids)),
        ("in conflict", _disputed(memory)),
        ("claimed", marks(memory.claims, memory.id)),
        ("forgotten", when(memory.forget_time) if memory.HasField("forget_time") else ""),
        ("erased", when(memory.erase_time) if memory.HasField("erase_time") else ""),
        ("etag", memory.etag),
    ]
    return [fields(pairs), "", text(memory.content)]


def of_node(node: type_pb2.Node) -> list[RenderableType]:
    """A node's name, label and properties."""
    pairs = [
        ("id", node.id),
        ("name", node.name),
        ("label", node.label),
        ("properties", _json(node.properties) if node.properties.fields else ""),
        ("recorded", when(node.create_time)),
        ("etag", node.etag),
    ]
    return [fields(pairs)]


def of_edge(edge: type_pb2.Edge) -> list[RenderableType]:
    """An edge's fields."""
    heads = ", ".join(head for head in edge.supersession.head_ids if head != edge.id)
    pairs = [
        ("id", edge.id),
        ("edge", statement(edge)),
        ("type", word(type_pb2.EdgeType, edge.edge_type)),
        ("importance", word(type_pb2.Importance, edge.importance)),
        ("weight", f"{edge.weight:g}"),
        ("properties", _json(edge.properties) if edge.properties.fields else ""),
        ("valid", _interval(edge.supersession)),
        ("recorded", when(edge.create_time)),
        ("read", _read(edge.access)),
        ("relevance", f"{edge.relevance_score:.3f}"),
        ("superseded by", heads if edge.supersession.is_superseded else ""),
        ("amended by", ", ".join(edge.supersession.amendment_ids)),
        ("in conflict", _disputed(edge)),
        ("claimed", marks(edge.claims, edge.id)),
        ("claims only", "it replaces nothing until that is accepted" if edge.claimed else ""),
        ("orphaned", "an end of it is gone" if edge.supersession.is_orphaned else ""),
        ("etag", edge.etag),
    ]
    return [fields(pairs)]


def _whose_words(memory: type_pb2.Memory) -> str:
    """Whose words stand now, if they are not its first writer's."""
    if memory.words_origin in {memory.origin, type_pb2.ORIGIN_UNSPECIFIED}:
        return ""
    return word(type_pb2.Origin, memory.words_origin)


def source(stated: type_pb2.Source) -> str:
    """Who said it or where it is from, in quotes, and what its writer claims of it."""
    name = stated.speaker or stated.file
    if stated.trust in {type_pb2.TRUST_LEVEL_UNSPECIFIED, type_pb2.TRUST_LEVEL_REPORTED}:
        return quoted(name) if name else ""
    claim = f"claims to be {word(type_pb2.TrustLevel, stated.trust)}"
    return f"{quoted(name)} ({claim})" if name else claim


def amended(supersession: type_pb2.Supersession) -> str:
    """The note about an item's amendments for its title; "" without amendments."""
    ids = ", ".join(supersession.amendment_ids)
    return f"  amended by {ids}" if ids else ""


def statement(edge: type_pb2.Edge) -> str:
    """`source —RELATION→ target`."""
    return f"{end(edge.source)} —{edge.relation}→ {end(edge.target)}"


def end(edge_end: type_pb2.EdgeEnd) -> str:
    """A node's name, or `memory:ID` as `concord link` takes it."""
    return edge_end.name or f"memory:{edge_end.id}"


def _interval(supersession: type_pb2.Supersession) -> str:
    begin = when(supersession.effective_valid_from)
    if not supersession.HasField("effective_valid_until"):
        return f"from {begin}"
    return f"from {begin} until {when(supersession.effective_valid_until)}"


def _disputed(item: type_pb2.Memory | type_pb2.Edge) -> str:
    more = item.conflict_count - len(item.conflict_ids)
    return ", ".join([*item.conflict_ids, *([f"{more} more"] if more > 0 else [])])


def _read(access: type_pb2.Access) -> str:
    if not access.access_count:
        return "never"
    return f"{access.access_count}×, last {when(access.last_access_time)}"


def _changed(memory: type_pb2.Memory) -> str:
    if memory.modify_time == memory.create_time:
        return ""
    return when(memory.modify_time)


def _fact(fact: type_pb2.Fact) -> str:
    mark = " (extracted)" if fact.extracted else ""
    return f"{fact.subject} —{fact.relation}→ {fact.object}{mark}"


def _json(properties: object) -> str:
    assert isinstance(properties, Struct)  # noqa: S101 - narrows a generated type
    return MessageToJson(properties, indent=None, ensure_ascii=False)
