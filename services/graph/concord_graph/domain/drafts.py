"""Drafts: the items of a write request, before they have ids, times and revisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from unicodedata import category, is_normalized, normalize

from concord_concepts.triggers import TriggerMalformed, trigger

from concord_graph.domain.errors import FieldInvalid, PrincipalsReserved, ReservedName
from concord_graph.domain.items import (
    DEFAULT_LABEL,
    LINEAGE_WORDS,
    RESERVED_PREFIX,
    Edge,
    EdgeType,
    Importance,
    Memory,
    MemoryStatement,
    Node,
    Properties,
    Relation,
)


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A node to create or update; an empty field keeps the stored value."""

    name: str
    label: str = ""
    properties: Properties = field(default_factory=dict)
    vector_id: str = ""


@dataclass(frozen=True, slots=True)
class EndRef:
    """An end of an edge by node name or by item id."""

    name: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class EdgeDraft:
    """An edge to create or update; None keeps the stored value."""

    source: EndRef
    relation: str
    target: EndRef
    weight: float | None = None
    properties: Properties = field(default_factory=dict)
    edge_type: EdgeType | None = None
    importance: Importance = Importance.UNSET
    valid_from: int | None = None
    valid_until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft(MemoryStatement):
    """A memory to create or update; without an edge type, the stored type stays."""

    id: str = ""
    edge_type: EdgeType | None = None


DRAFTED = frozenset(each.name for each in fields(MemoryDraft)) - {"id"}
CHANGEABLE = DRAFTED - {"session_id"}
"""The memory fields that an update may change: those of a draft but for the session."""


@dataclass(frozen=True, slots=True)
class LineageDraft:
    """Lineage from a newer item to an older one; `properties` are stored beside the context.

    The etags name the versions that the caller has read; empty for any version.
    """

    relation: Relation
    newer_id: str
    older_id: str
    context: str = ""
    properties: Properties = field(default_factory=dict)
    newer_etag: str = ""
    older_etag: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """New values of the fields that an update mask named."""

    item_id: str
    etag: str
    values: Mapping[str, Any]


def merged_properties(stored: Properties, given: Properties) -> dict[str, Any]:
    """Merge key by key; a null value removes its key."""
    result = {**stored, **given}
    return {key: value for key, value in result.items() if value is not None}


def merged_label(stored: str, given: str) -> str:
    """Return the label after an upsert: the generic one never overwrites a specific one."""
    if not given or (given == DEFAULT_LABEL and stored != DEFAULT_LABEL):
        return stored
    return given


def merged_node(stored: Node, draft: NodeDraft) -> dict[str, Any]:
    """Return the fields of a stored node after an upsert."""
    return {
        "label": merged_label(stored.label, draft.label),
        "properties": merged_properties(stored.properties, draft.properties),
        "vector_id": draft.vector_id or stored.vector_id,
    }


def check_name(name: str, field_: str) -> None:
    """Refuse a node name that is missing or Concord's own."""
    if not name:
        raise FieldInvalid(field_, "is required")
    if _plain(name).casefold().startswith(RESERVED_PREFIX):
        raise PrincipalsReserved(field_, f"names starting with {RESERVED_PREFIX!r} are reserved")


def check_relation(relation: str, field_: str) -> None:
    """Refuse a relation that is missing, lineage's (in any case), Concord's own or not in NFKC.

    Two spellings that look alike would be two relations.
    """
    if not relation:
        raise FieldInvalid(field_, "is required")
    word = _plain(relation).upper()
    if word in LINEAGE_WORDS:
        raise ReservedName(field_, f"{word} is made with AddLineage or a link")
    if _plain(relation).casefold().startswith(RESERVED_PREFIX):
        why = f"relations starting with {RESERVED_PREFIX!r} are reserved"
        raise PrincipalsReserved(field_, why)
    if not is_normalized("NFKC", normalize("NFC", relation)):
        raise FieldInvalid(field_, "must be in plain letters (Unicode NFKC), not full-width or so")


def _plain(text: str) -> str:
    """Return a text as a person sees it: in NFKC, without invisible marks and outer white space."""
    return "".join(each for each in normalize("NFKC", text) if category(each) != "Cf").strip()


def check_interval(item: Edge | Memory, field_: str) -> None:
    """Refuse a valid time that ends before it begins, by default at the create time."""
    if item.valid_until is not None and item.valid_until <= item.effective_from:
        raise FieldInvalid(field_, "must be later than valid_from, by default the create time")


def check_triggers(memory: Memory) -> None:
    """Refuse malformed triggers: no situation could ever match them (S9)."""
    for place, text in enumerate(memory.surfaces_when):
        try:
            trigger(text)
        except TriggerMalformed as error:
            raise FieldInvalid(f"memory.surfaces_when[{place}]", str(error)) from error


def check_extracted(memory: Memory) -> None:
    """Refuse a constitutive memory with a fact that nobody stated or confirmed."""
    for place, fact in enumerate(memory.facts):
        if fact.extracted and memory.edge_type == EdgeType.CONSTITUTIVE:
            field = f"memory.facts[{place}].extracted"
            raise FieldInvalid(field, "what defines the agent must be stated, not extracted")
