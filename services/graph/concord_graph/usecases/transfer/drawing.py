"""Lineage and decisions as a drawing in Graphviz's DOT language (G15).

Memories and edges that lineage or open conflicts connect, newer above older. An item that does not
hold at the time of the drawing is grey: superseded, ended or not begun. A forgotten memory has a
dashed frame, a ghost a dotted one. Conflicts have no direction: potential ones are dashed,
confirmed ones and CONTRADICTS are solid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from concord_graph.domain.conflicts import OPEN, Conflict, ConflictState, conflict_of
from concord_graph.domain.items import Edge, EdgeType, Instant, ItemKind, Relation
from concord_graph.ports import EntryFilter, Reads, View
from concord_graph.usecases.read.shown import statement

LONGEST_LABEL = 80
_UNDIRECTED = "dir=none, constraint=false"
_STYLES: Mapping[str, str] = {
    Relation.SUPERSEDES: "style=solid",
    Relation.DEPRECATES: "style=solid, arrowhead=tee",
    Relation.AMENDS: "style=solid, arrowhead=empty",
    Relation.CONTRADICTS: f"style=solid, {_UNDIRECTED}",
}
_UNDRAWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\s]+")


async def draw_lineage(tx: Reads, at: Instant) -> list[str]:
    """Return the lines of a directed graph; equal spaces give equal lines."""
    at = replace(at, stated=False)  # items that did not hold then are grey, not left out
    live = await tx.live_items(ItemKind.EDGE, at)
    lineage = sorted(
        (edge for edge in live if isinstance(edge, Edge) and edge.is_lineage),
        key=lambda edge: (edge.source.id, edge.relation, edge.target.id, edge.id),
    )
    conflicts = await _open_conflicts(tx, at)
    ends = sorted(
        {end.id for edge in lineage for end in (edge.source, edge.target)}
        | {side_id for conflict in conflicts for side_id in conflict.pair}
    )
    views = {**await tx.views(ItemKind.MEMORY, ends, at), **await tx.views(ItemKind.EDGE, ends, at)}
    return [
        "digraph concord {",
        '  node [shape=box, style="rounded,filled", fillcolor=white];',
        *(f"  {_quoted(end)} [{_look(end, views.get(end), at)}];" for end in ends),
        *(f"  {_arrow(edge)}" for edge in lineage),
        *(f"  {_line(conflict)}" for conflict in conflicts),
        "}",
    ]


async def _open_conflicts(tx: Reads, at: Instant) -> list[Conflict]:
    """Return the open conflicts by their sides, without those that a CONTRADICTS edge shows."""
    filter_ = EntryFilter(
        ItemKind.CONFLICT, shelf=None, shelves=tuple(sorted(state.name for state in OPEN))
    )
    entries, _ = await tx.entries(filter_, at)
    found = [conflict_of(entry) for entry in entries]
    return sorted((each for each in found if not each.contradicts_id), key=lambda each: each.pair)


def _line(conflict: Conflict) -> str:
    style = "dashed" if conflict.state == ConflictState.POTENTIAL else "solid"
    first, second = map(_quoted, conflict.pair)
    label = _quoted(conflict.conflict_class.name)
    return f"{first} -> {second} [label={label}, style={style}, {_UNDIRECTED}];"


def _look(item_id: str, view: View | None, at: Instant) -> str:
    if view is None:
        return f'label={quoted_label(item_id)}, style="rounded,dotted"'
    look = [f"label={quoted_label(statement(view, None))}"]
    if isinstance(view.item, Edge):
        style = '"filled,dashed"' if view.item.deleted else "filled"
        look.append(f"shape=ellipse, style={style}")
    elif view.item.deleted:
        look.append('style="rounded,dashed"')
    if not view.item.deleted and not view.supersession.is_current(at.valid):
        look.append("fillcolor=lightgrey, fontcolor=dimgrey, color=grey")
    if getattr(view.item, "edge_type", None) == EdgeType.CONSTITUTIVE:
        look.append("penwidth=2")
    return ", ".join(look)


def _arrow(edge: Edge) -> str:
    tooltip = edge.properties.get("context", "")
    shown = f", tooltip={quoted_label(str(tooltip))}" if tooltip else ""
    return (
        f"{_quoted(edge.source.id)} -> {_quoted(edge.target.id)}"
        f" [label={_quoted(edge.relation)}, {_STYLES[edge.relation]}{shown}];"
    )


def quoted_label(words: str) -> str:
    """Return words as a label: on one line, cut, and with no escape that Graphviz would expand."""
    line = _UNDRAWN.sub(" ", words).strip()
    cut = line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"
    return _quoted(cut.replace("&", "&amp;"))


def _quoted(text: str) -> str:
    """Return a quoted string: backslashes doubled, so that none escapes or ends with the quote."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
