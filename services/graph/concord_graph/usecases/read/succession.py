"""The items that stand in others' place at an instant, and the heads of their chains (T2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from concord_graph.domain.items import Edge, Instant, ItemKind, Memory, Record
from concord_graph.domain.succession import (
    UNTOUCHED,
    Replacement,
    Standing,
    Value,
    confirmed,
    counts,
    is_early,
    next_values,
)
from concord_graph.ports import Place, Reads, Ref, View

_NEXT = 100
FIRST_LOOK, FURTHER = 4, 16
"""How many values of a row are read at first, and how many times as many then."""
MOST_CHAIN_ITEMS = 10_000


async def successors(
    tx: Reads, kind: ItemKind, ids: Collection[str], at: Instant
) -> Mapping[str, Collection[str]]:
    """Return the live items that directly supersede each item at the instant.

    Memories follow one whose facts have all ended: those that state what follows its facts.
    """
    standings = await tx.standings(ids, at.record)
    found = {item_id: set(_replacers(standing, at)) for item_id, standing in standings.items()}
    if kind == ItemKind.EDGE:
        later = await _later_in_row(tx, ids, standings, at)
    else:
        ended = [i for i, standing in standings.items() if standing.followed_from <= at.valid]
        later = await _stating_later(tx, ended, at) if ended else {}
    for item_id, following in later.items():
        found.setdefault(item_id, set()).update(following)
    return {item_id: newer for item_id, newer in found.items() if newer}


async def above(
    tx: Reads, kind: ItemKind, ids: Collection[str], at: Instant
) -> dict[str, Collection[str]]:
    """Return the successors of these ids and of their successors; a head has none."""
    found: dict[str, Collection[str]] = {}
    frontier = set(ids)
    while frontier and len(found) < MOST_CHAIN_ITEMS:
        newer = await successors(tx, kind, frontier, at)
        found |= {item_id: newer.get(item_id, ()) for item_id in frontier}
        frontier = {item_id for ones in newer.values() for item_id in ones} - found.keys()
    return found


async def amending(tx: Reads, views: Iterable[View], at: Instant) -> Mapping[str, Collection[str]]:
    """Return the ids of the items, live or not, that amend each item by lineage that counts.

    Items without any are absent.
    """
    items = {view.item.id: view.item for view in views}
    edges = await tx.amendments(items, at.record) if items else ()
    if not edges:
        return {}
    standings = await tx.standings({edge.target.id for edge in edges}, at.record)
    found: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        older, standing = items[edge.target.id], standings.get(edge.target.id, Standing())
        if not isinstance(older, (Edge, Memory)):
            continue
        makers = await makers_of(tx.revisions, edge, older)
        if counts(Replacement(edge, older, makers), older, fixed=standing.is_fixed):
            found[older.id].add(edge.source.id)
    return found


async def makers_of(
    revisions: Callable[[Sequence[Ref]], Awaitable[Sequence[Record | None]]],
    lineage: Edge,
    older: Edge | Memory,
) -> tuple[str, str]:
    """Return who first wrote lineage and its older side, where that matters."""
    if lineage.governed or not is_early(lineage, older):
        return ("", "")
    firsts = [Ref(ItemKind.EDGE, lineage.id, 1), Ref(ItemKind.MEMORY, older.id, 1)]
    wrote, made = await revisions(firsts)
    return (
        wrote.revision.principal if wrote else "",
        made.revision.principal if made else "",
    )


def _replacers(standing: Standing, at: Instant) -> list[str]:
    return [newer.id for newer in standing.replacers if newer.begins <= at.valid]


def place_of(edge: Edge) -> Place:
    """Return where an edge stands in its row."""
    return Place(edge.source.id, edge.relation, edge.effective_from)


def value_of(edge: Edge) -> Value:
    """Return an edge as a value of its row."""
    return Value(edge.id, edge.target.id, edge.effective_from, is_extracted=edge.ends_none)


async def _later_in_row(
    tx: Reads, ids: Collection[str], standings: Mapping[str, Standing], at: Instant
) -> dict[str, set[str]]:
    """Return, of each value among the edges, the later values of its row at which a walk to the
    heads can end, or leave the row. So a walk along a long row is one step.

    A value that is fixed, or never held, has none.
    """
    functional = await tx.functional(at.record)
    found = await tx.items(ids, at.record) if functional else {}
    rows: dict[Place, list[Edge]] = defaultdict(list)
    for edge in found.values():
        standing = standings.get(edge.id, UNTOUCHED)
        stays = edge.deleted or standing.is_fixed or standing.never_held
        if isinstance(edge, Edge) and edge.relation in functional and not stays:
            rows[Place(edge.source.id, edge.relation, at.valid + 1)].append(edge)
    exits: dict[Place, list[Value]] = defaultdict(list)
    for leaving in await _exits(tx, {place.source_id for place in rows}, at) if rows else ():
        exits[Place(leaving.source.id, leaving.relation, at.valid + 1)].append(value_of(leaving))
    return {
        edge.id: {each.id for each in (*ends, *exits[place]) if edge.effective_from < each.begins}
        for place, ends in (await _ends(tx, rows, at)).items()
        for edge in rows[place]
    }


async def _ends(tx: Reads, places: Collection[Place], at: Instant) -> dict[Place, list[Value]]:
    """Return the values before each place that come right after another and are not superseded.

    They begin from the last value on that has another target than the newest one.
    """
    last: dict[Place, Sequence[Value]] = {}
    most, undecided = FIRST_LOOK, list(places)
    while undecided:
        around = await tx.values_around(undecided, most, at.record)
        looked = {place: earlier for place, (earlier, _, _) in zip(undecided, around, strict=True)}
        last |= {place: _since_the_last_other(earlier) for place, earlier in looked.items()}
        undecided = [
            place
            for place, earlier in looked.items()
            if len(earlier) == most and len(last[place]) == len(confirmed(earlier))
        ]
        most *= FURTHER
    standings = await tx.standings({v.id for values in last.values() for v in values}, at.record)
    ends = {
        item_id
        for item_id, standing in standings.items()
        if standing.comes_next and standing.superseded_from > at.valid
    }
    return {place: [v for v in values if v.id in ends] for place, values in last.items()}


def _since_the_last_other(earlier: Sequence[Value]) -> list[Value]:
    """Return the values, latest first, from the last one on with another target than the newest."""
    earlier = confirmed(earlier)
    others = (each.begins for each in earlier if each.target_id != earlier[0].target_id)
    since = next(others, None)
    return [each for each in earlier if since is None or each.begins >= since]


async def _exits(tx: Reads, source_ids: Collection[str], at: Instant) -> list[Edge]:
    """Return the values at which a walk may leave a row of these sources, begun by then."""
    ids = await tx.exits_of(source_ids, at.record)
    standings = await tx.standings(ids, at.record) if ids else {}
    found = await tx.items(standings, at.record) if ids else {}
    return [
        edge
        for edge in found.values()
        if isinstance(edge, Edge)
        and not (edge.deleted or standings[edge.id].never_held)
        and edge.effective_from <= at.valid
    ]


async def _stating_later(
    tx: Reads, memory_ids: Collection[str], at: Instant
) -> dict[str, set[str]]:
    """Return, of memories whose facts have ended, those that state what follows the facts.

    That is what replaced a fact's edge, the next values of its row, and the last ones.
    """
    facts = await tx.facts_of_each(memory_ids, at.record)
    edge_ids = {edge_id for edges in facts.values() for edge_id in edges}
    later = await successors(tx, ItemKind.EDGE, edge_ids, at)
    following = await _next(tx, edge_ids, at)
    newer = {
        edge_id: {*later.get(edge_id, ()), *following.get(edge_id, ())} for edge_id in edge_ids
    }
    views = await tx.views(ItemKind.EDGE, {i for ones in newer.values() for i in ones}, at)
    return {
        memory_id: {
            source
            for edge_id in edges
            for i in newer[edge_id]
            if i in views
            for source in views[i].sources
            if source != memory_id
        }
        for memory_id, edges in facts.items()
    }


async def _next(tx: Reads, edge_ids: Collection[str], at: Instant) -> dict[str, set[str]]:
    """Return the next values of edges that their row follows by the instant, _NEXT at most each."""
    standings = await tx.standings(edge_ids, at.record)
    followed = {i for i, standing in standings.items() if standing.followed_from <= at.valid}
    items = await tx.items(followed, at.record) if followed else {}
    edges = [item for item in items.values() if isinstance(item, Edge)]
    places = [
        Place(edge.source.id, edge.relation, standings[edge.id].followed_from - 1) for edge in edges
    ]
    around = await tx.values_around(places, _NEXT, at.record) if places else ()
    return {
        edge.id: {v.id for v in next_values(value_of(edge), later) if v.begins == begins + 1}
        for edge, (_, _, later), (_, _, begins) in zip(edges, around, places, strict=True)
    }
