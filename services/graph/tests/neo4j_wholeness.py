"""Whether what stands in Neo4j agrees with itself: records, history, relationships and marks."""

from __future__ import annotations

import neo4j_at_hand
from concord_graph.adapters.neo4j.patterns import rests_on

_UNLIKE = """
MATCH (e:Edge) OPTIONAL MATCH (:Item {space: e.space, id: e.source_id})-[r]->
  (:Item {space: e.space, id: e.target_id}) WHERE r.id = e.id
WITH e, collect(r) AS shown
WHERE size(shown) <> 1 OR type(shown[0]) <> e.relation OR shown[0].weight <> e.weight
  OR shown[0].effective_from <> e.effective_from
  OR coalesce(shown[0].valid_until, 0) <> coalesce(e.valid_until, 0)
RETURN e.id
"""
_STRAY = """
MATCH ()-[r]->() WHERE NOT EXISTS { MATCH (e:Edge {space: r.space}) WHERE e.id = r.id }
RETURN coalesce(r.id, type(r))
"""
_LONELY_GHOSTS = (
    "MATCH (g:Ghost) WHERE NOT EXISTS { (g)--() } OR g.revision IS NOT NULL RETURN g.id"
)
_TORN_HISTORY = """
MATCH (i:Item) WHERE NOT i:Ghost
OPTIONAL MATCH (p:NodeVersion|EdgeVersion|MemoryVersion|EntryVersion|RelationVersion
  {space: i.space, id: i.id}) WHERE NOT p:Item
WITH i, p ORDER BY p.revision WITH i, collect(p) AS past
WITH i, past, [p IN past | p.revision] + i.revision AS numbers,
  [p IN past | p.record_until] AS ends, [p IN past[1..] | p.record_from] + i.record_from AS begins
WHERE numbers <> range(1, i.revision) OR (size(past) > 0 AND ends <> begins)
  OR i.record_until <> 9223372036854775807
RETURN i.id
"""


def wrong() -> dict[str, list[object]]:
    """Return the ids of what disagrees, by what is wrong with it; empty when all is well."""
    found = {
        "an edge is not shown as it is": _ids(_UNLIKE),
        "a relationship shows no live edge": _ids(_STRAY),
        "a ghost that nothing points at": _ids(_LONELY_GHOSTS),
        "history has a gap": _ids(_TORN_HISTORY),
        "a mark is wrong": wrong_marks(),
    }
    return {what: ids for what, ids in found.items() if ids}


def wrong_marks() -> list[object]:
    """Return the ids of items that are marked as held and are not, or the other way round."""
    space = rests_on("i.id", None).replace("{source_id", "{space: i.space, source_id")
    test = space.replace("{target_id", "{space: i.space, target_id")
    return _ids(f"MATCH (i:Item) WITH i, {test} AS held WHERE held <> i:Held RETURN i.id")


def held() -> list[object]:
    """Return the ids of what is marked as held."""
    return _ids("MATCH (i:Held) RETURN i.id")


def _ids(text: str) -> list[object]:
    return [row[0] for row in neo4j_at_hand.run(text)]
