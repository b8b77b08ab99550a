"""Renders a lineage as a timeline: each item with its lineage edges to older ones."""

from collections.abc import Sequence
from datetime import UTC, datetime

from concord.graph.v1 import conflict_pb2, lineage_pb2
from concord.type.v1 import type_pb2
from rich.console import RenderableType

from concord_client.cli.render.conflict_page import state_of
from concord_client.cli.render.page import table, text, when


def timeline(
    reply: lineage_pb2.GetLineageResponse,
    asked: str,
    as_of: datetime | None = None,
    conflicts: Sequence[conflict_pb2.Conflict] = (),
) -> list[RenderableType]:
    """The chain by valid time, oldest first.

    `asked`: the id that was asked about. `as_of`: the reply's valid time (default: now).
    `conflicts`: those of its items.
    """
    at = as_of or datetime.now(UTC)
    made = table("From", "", "Item")
    for item in reply.items:
        mark, note, style = _standing(item, at)
        body = text(item.id, "bold")
        body.append("  ").append(note, style)
        if item.id == asked:
            body.append("  ← you asked about this", "dim")
        if item.statement:
            body.append("\n").append_text(text(item.statement))
        for line in [*_deeds(item, reply), *_origins(item), *_disputes(item, conflicts)]:
            body.append("\n").append_text(text(line, "dim"))
        made.add_row(_begin(item), text(mark, style), body)
    parts: list[RenderableType] = [made]
    if reply.truncated:
        parts.append(text("The chain is longer than 1,000 items: this is a part.", "yellow"))
    return parts


def _standing(item: lineage_pb2.LineageItem, at: datetime) -> tuple[str, str, str]:
    """The sign for an item's state at a valid time, its meaning in words, and its style."""
    if item.is_undeclared:
        return "?", "not remembered yet: something points at it", "magenta"
    if item.is_erased:
        return "✗", "erased: what it said is gone", "red"
    if item.is_deleted:
        return "✗", "forgotten: its lineage rests", "red"
    if item.supersession.is_superseded:
        return "○", f"superseded from {when(item.supersession.superseded_from)}", "yellow"
    if apart := _outside(item.supersession, at):
        return "○", f"head: {apart}" if item.is_head else apart, "yellow"
    if item.is_head:
        return "●", "head: this holds", "green"
    if item.supersession.HasField("superseded_from"):
        return "●", f"holds until {when(item.supersession.superseded_from)}", "green"
    return "●", "holds", "green"


def _outside(supersession: type_pb2.Supersession, at: datetime) -> str:
    """The note that an item begins after a time or has ended by then; else ""."""
    begin, end = supersession.effective_valid_from, supersession.effective_valid_until
    if supersession.HasField("effective_valid_from") and begin.ToDatetime(tzinfo=UTC) > at:
        return f"holds from {when(begin)}"
    if supersession.HasField("effective_valid_until") and end.ToDatetime(tzinfo=UTC) <= at:
        return f"held until {when(end)}"
    return ""


def _begin(item: lineage_pb2.LineageItem) -> str:
    if not item.HasField("supersession") or not item.supersession.HasField("effective_valid_from"):
        return "—"
    return when(item.supersession.effective_valid_from).partition(" ")[0]


def _deeds(item: lineage_pb2.LineageItem, reply: lineage_pb2.GetLineageResponse) -> list[str]:
    """One line for each lineage edge that starts at this item."""
    return [
        f"└ {edge.relation.lower()} {edge.target.name or edge.target.id}"
        for edge in reply.edges
        if edge.source.id == item.id
    ]


def _origins(item: lineage_pb2.LineageItem) -> list[str]:
    """The memories that its sources name, one line each."""
    return [
        f"└ derived from {each.id}{_lost(each)}: {each.statement}".rstrip(": ")
        for each in item.derived_from
    ]


def _disputes(
    item: lineage_pb2.LineageItem, conflicts: Sequence[conflict_pb2.Conflict]
) -> list[str]:
    """One line for each conflict of this item."""
    return [
        f"└ {state_of(each)} conflict with {_other(each, item.id)}: concord conflict {each.id}"
        for each in conflicts
        if item.id in (each.first.id, each.second.id)
    ]


def _other(conflict: conflict_pb2.Conflict, item_id: str) -> str:
    return conflict.second.id if conflict.first.id == item_id else conflict.first.id


def _lost(item: lineage_pb2.LineageItem) -> str:
    if item.is_undeclared:
        return " (not remembered)"
    if item.is_erased:
        return " (erased)"
    return " (forgotten)" if item.is_deleted else ""
