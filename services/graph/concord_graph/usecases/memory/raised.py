"""What lower writers said of an item before somebody above them said it, too (W9; decision 0087).

A lower writer's own item is free to its equals. Once somebody above writes it, it is theirs: what
would hide it from then on only claims to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from concord_graph.domain.claims import LINEAGE, Stand, Target
from concord_graph.domain.conflicts import ConflictState, Judge, conflict_of, pair_of
from concord_graph.domain.items import Edge, ItemKind, Memory, Relation
from concord_graph.usecases.items.lineage import waited_for_another
from concord_graph.usecases.write.standing_guard import Harm
from concord_graph.usecases.write.writer import Writer


async def is_above(writer: Writer, stored: Memory | Edge) -> bool:
    """Return whether the author stands above all who wrote an item, or took it away."""
    return not writer.is_granted and await writer.standing.is_above(stored)


async def take_back_lower(writer: Writer, memory: Memory) -> None:
    """Have lineage at a memory that lower writers wrote before only claim, and a contradiction that
    they asserted be a potential one."""
    if writer.is_granted or not writer.standing.reaches_all:
        return
    for edge, harm in await _lower(writer, memory):
        if harm is not None:
            await writer.take_back(edge, harm)
            continue
        await writer.put(edge, replace(edge, claimed=True), follows=True)
        await _unconfirm(writer, edge)


async def _lower(writer: Writer, memory: Memory) -> Sequence[tuple[Edge, Harm | None]]:
    """Return such edges; with what each would do, but for contradictions."""
    guard, found = writer.standing, list[tuple[Edge, Harm | None]]()
    owner = Stand(guard.rank, frozenset({writer.author.principal}))
    for edge in await writer.tx.lineage_edges([memory.id]):
        hides = edge.relation in LINEAGE and edge.target.id == memory.id
        if edge.claimed or edge.governed or not (hides or edge.relation == Relation.CONTRADICTS):
            continue
        if not await guard.is_below(edge) or await waited_for_another(writer.tx, edge):
            continue
        harm = None
        if hides:
            of, by = await guard.first_author(edge.id), Target(edge.source.id, edge.source.kind)
            target, action = Target(memory.id, ItemKind.MEMORY), LINEAGE[edge.relation]
            harm = Harm(target, action, owner, by, of.principal, of.kind)
        found.append((edge, harm))
    return found


async def _unconfirm(writer: Writer, edge: Edge) -> None:
    """Have the conflict of a CONTRADICTS edge be potential, unless somebody confirmed it."""
    pair = pair_of(edge.source.id, edge.target.id)
    stored = (await writer.tx.conflicts_between([pair])).get(pair)
    known = conflict_of(stored) if stored is not None else None
    if known is None or known.judge != Judge.CALLER or known.reviewed_by or known.consented:
        return
    if known.state == ConflictState.CONFIRMED and known.contradicts_id == edge.id:
        potential = replace(known, state=ConflictState.POTENTIAL)
        await writer.put_conflict(stored, potential, follows=True)
