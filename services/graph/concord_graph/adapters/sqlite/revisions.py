"""What statements share: which revision of a row is meant, that of now or as known at :record, and
what rests on an item."""

from __future__ import annotations

from concord_graph.domain.items import FOREVER

IDS = "(SELECT value FROM json_each(:ids))"


def current(alias: str, now: bool) -> str:
    """Return the test that a row is what was known at the instant, tombstones among it."""
    if now:  # a literal, so that the partial indexes apply
        return f"{alias}.record_until = {FOREVER}"
    return f"({alias}.record_from <= :record AND {alias}.record_until > :record)"


def live(alias: str, now: bool) -> str:
    """Return the test that a row is current and not deleted."""
    return f"{current(alias, now)} AND {alias}.deleted = 0"


def rests(table: str, item_id: str, space: str, now: bool) -> str:
    """Return the test that what both parties agreed to rests on an item (the view `held`)."""
    index = "INDEXED BY edge_governed" if now else ""
    governed = (
        f"SELECT 1 FROM edge g {index} WHERE g.space = {space} AND g.source_id = {{}}"
        f" AND {live('g', now)} AND g.governed = 1"
    )
    tests = [governed.format(item_id)]
    for end in ("source_id", "target_id") if table == "memory" else ():
        at_end = f"SELECT 1 FROM edge c WHERE c.space = {space} AND c.{end} = {item_id}"
        tests.append(f"{at_end} AND {live('c', now)} AND c.edge_type = 2")
        tests.append(f"{at_end} AND {live('c', now)} AND EXISTS ({governed.format('c.id')})")
    return f"({' OR '.join(f'EXISTS ({test})' for test in tests)})"
