"""Declaring properties of a relation, such as that it has one value at a time (T2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Required, TypedDict

from concord_graph.domain.drafts import check_relation
from concord_graph.domain.errors import EtagMismatch
from concord_graph.domain.items import DeclaredRelation, TemporalClass
from concord_graph.ports import Written
from concord_graph.usecases.write.writer import Writer, written


class Declaration(TypedDict, total=False):
    """The fields of a declaration; a field that is left out keeps its declared value."""

    functional: Required[bool]
    temporal_class: TemporalClass
    transitive: bool
    exclusive_sets: tuple[tuple[str, ...], ...]


async def declare_relation(
    writer: Writer, name: str, declaration: Declaration, *, etag: str = ""
) -> Written:
    """Declare a relation's properties, or change them."""
    check_relation(name, "name")
    stored = await writer.tx.relation(name)
    if stored is None:
        if etag:
            raise EtagMismatch(name)
        declared = DeclaredRelation(id=writer.tx.new_id(), name=name, **declaration)
        return written(None, await writer.declare(None, declared))
    if etag:
        await writer.demand_etag(stored, etag)
    intended = replace(stored, **declaration, deleted=False)
    if intended == stored and not await writer.standing.is_above(stored):
        return written(stored, stored)  # who stands above makes it theirs
    return written(stored, await writer.declare(stored, intended))
