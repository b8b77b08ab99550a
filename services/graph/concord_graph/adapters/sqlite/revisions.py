"""Tests that statements share: which revision of a row is read, that of now or as known at
:record, whether a consent depends on an item, and whether lineage counts."""

from __future__ import annotations

from concord_graph.domain.items import FOREVER

IDS = "(SELECT value FROM json_each(:ids))"
# without these hints, the planner takes the indexes that hold all former revisions, too
AT_END = {"source_id": "edge_triple", "target_id": "edge_target"}
CONSTITUTIVE_AT_END = {
    "source_id": "edge_constitutive_source",
    "target_id": "edge_constitutive_target",
}


def by(index: str, now: bool) -> str:
    """Return the hint to use this partial index, which holds only current rows."""
    return f"INDEXED BY {index}" if now else ""


def current(alias: str, now: bool) -> str:
    """Return the test that a row is the revision known at the instant; tombstones pass, too."""
    if now:  # a literal, so that the partial indexes apply
        return f"{alias}.record_until = {FOREVER}"
    return f"({alias}.record_from <= :record AND {alias}.record_until > :record)"


def live(alias: str, now: bool) -> str:
    """Return the test that a row is current and not deleted."""
    return f"{current(alias, now)} AND {alias}.deleted = 0"


def are_any(test: str, index: str, now: bool) -> str:
    """Return the test that the space has any edges that meet `test`; `index` holds all of them.

    Evaluated once a statement, it saves opening the index for every row.
    """
    if not now:
        return "TRUE"
    edges = f"edge z {by(index, now)} WHERE z.space = :space AND {live('z', now)} AND z.{test}"
    return f"EXISTS (SELECT 1 FROM {edges})"


def rests(table: str, item_id: str, space: str, now: bool) -> str:
    """Return the test that a consent depends on an item (the view `held`)."""
    governed = (
        f"SELECT 1 FROM edge g {by('edge_governed', now)} WHERE g.space = {space}"
        f" AND g.source_id = {{}} AND {live('g', now)} AND g.governed = 1"
    )
    tests = [governed.format(item_id)]
    for end in ("source_id", "target_id") if table == "memory" else ():
        at_end = f"WHERE c.space = {space} AND c.{end} = {item_id} AND {live('c', now)}"
        constitutive, any_edge = by(CONSTITUTIVE_AT_END[end], now), by(AT_END[end], now)
        tests.append(f"SELECT 1 FROM edge c {constitutive} {at_end} AND c.edge_type = 2")
        resting = governed.format("c.id")
        tests.append(f"SELECT 1 FROM edge c {any_edge} {at_end} AND EXISTS ({resting})")
    return f"({' OR '.join(f'EXISTS ({test})' for test in tests)})"


def counts(lineage: str, older: str, table: str, now: bool) -> str:
    """Return the test that lineage is not void: made with consent, or its target is free (G4) and
    no ghost under which another principal than the lineage's then made a memory (M3).

    Every part reads the lineage row, so that SQLite evaluates it only where there is one.
    """
    held = rests(table, f"{lineage}.target_id", f"{lineage}.space", now)
    free = f"{older}.edge_type <> 2 AND NOT {held}"
    if table == "memory":
        writer, maker = (
            f"(SELECT f.principal FROM {kind} f WHERE f.space = {alias}.space"
            f" AND f.id = {alias}.id AND f.revision = 1)"
            for kind, alias in (("edge", lineage), (table, older))
        )
        free += f" AND ({lineage}.create_time >= {older}.create_time OR {writer} = {maker})"
    return f"({lineage}.governed = 1 OR ({free}))"
