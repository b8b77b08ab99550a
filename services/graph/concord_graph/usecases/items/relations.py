"""Declaring what holds of a relation itself (T2)."""

from __future__ import annotations

from dataclasses import replace

from concord_graph.domain.drafts import check_relation
from concord_graph.domain.errors import EtagMismatch
from concord_graph.domain.items import DeclaredRelation
from concord_graph.ports import Written
from concord_graph.usecases.write.writer import Writer, written


async def declare_relation(
    writer: Writer, name: str, *, functional: bool, etag: str = ""
) -> Written:
    """Declare a relation functional or not, or change what was declared."""
    check_relation(name, "name")
    stored = await writer.tx.relation(name)
    if stored is None:
        if etag:
            raise EtagMismatch(name)
        declared = DeclaredRelation(id=writer.new_id(), name=name, functional=functional)
        return written(None, await writer.declare(None, declared))
    if etag:
        await writer.demand_etag(stored, etag)
    if stored.functional == functional:
        return written(stored, stored)
    return written(stored, await writer.declare(stored, replace(stored, functional=functional)))
