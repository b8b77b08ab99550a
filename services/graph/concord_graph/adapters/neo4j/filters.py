"""Filters as Cypher conditions with bound values; applied in the store, before any limit."""

from __future__ import annotations

from typing import Any

from concord_graph.adapters.neo4j import records
from concord_graph.adapters.neo4j.patterns import Known, in_time
from concord_graph.adapters.neo4j.statements import IMPORTANCE, held_then
from concord_graph.domain.items import EdgeType, ItemKind
from concord_graph.domain.relevance import unread_since
from concord_graph.ports import EdgeFilter, MemoryFilter


def edge_tests(filter_: EdgeFilter, *, include_resolutions: bool) -> tuple[str, dict[str, Any]]:
    """Return the conditions on edge e, joined by AND, and their bound values."""
    tests: list[str] = []
    bound: dict[str, Any] = {}
    if not include_resolutions and EdgeType.RESOLUTION not in filter_.edge_types:
        tests.append(f"e.edge_type <> {int(EdgeType.RESOLUTION)}")
    for name, test, wanted in (
        ("relations", "e.relation IN $relations", list(filter_.relations)),
        ("edge_types", "e.edge_type IN $edge_types", [int(t) for t in filter_.edge_types]),
        ("importances", f"{IMPORTANCE} IN $importances", [int(i) for i in filter_.importances]),
        (
            "stated",
            "all(one IN $stated WHERE one IN e.stated)",
            [records.stated(key, value) for key, value in filter_.properties.items()],
        ),
        (
            "participants",
            "all(one IN $participants WHERE one IN e.participants)",
            list(filter_.participants),
        ),
    ):
        if wanted:
            tests.append(test)
            bound[name] = wanted
    if filter_.importances:
        bound["unread"] = unread_since(filter_.now)
    for name, test, instant in (
        ("modified_since", "e.record_from >= $modified_since", filter_.modified_since),
        ("modified_before", "e.record_from < $modified_before", filter_.modified_before),
    ):
        if instant is not None:
            tests.append(test)
            bound[name] = instant
    return " AND ".join(tests), bound


def memory_tests(filter_: MemoryFilter, known: Known) -> tuple[str, dict[str, Any]]:
    """Return further conditions on memory m, each behind AND, and their bound values."""
    tests = ""
    bound: dict[str, Any] = {}
    if filter_.kinds:
        tests += " AND m.memory_kind IN $kinds"
        bound["kinds"] = [int(kind) for kind in filter_.kinds]
    if filter_.tag:
        tests += " AND $tag IN m.tags"
        bound["tag"] = filter_.tag
    if filter_.domain:
        tests += " AND (m.domain = $domain OR m.domain STARTS WITH $domain + '.')"
        bound["domain"] = filter_.domain
    if filter_.edge_type is not None:
        tests += " AND m.edge_type = $edge_type"
        bound["edge_type"] = int(filter_.edge_type)
    if filter_.origins:
        tests += " AND m.origin IN $origins"
        bound["origins"] = [int(origin) for origin in filter_.origins]
    if filter_.words_origins:
        tests += (
            " AND CASE coalesce(m.words_origin, 0) WHEN 0 THEN m.origin ELSE m.words_origin END"
            " IN $words_origins"
        )
        bound["words_origins"] = [int(origin) for origin in filter_.words_origins]
    if filter_.principal:
        tests += (
            " AND EXISTS { MATCH (w:MemoryVersion {id: m.id, revision: 1})"
            " WHERE w.principal = $principal }"
        )
        bound["principal"] = filter_.principal
    if filter_.session_id:
        tests += " AND m.session_id = $session_id"
        bound["session_id"] = filter_.session_id
    if filter_.properties:
        tests += " AND all(one IN $stated WHERE one IN m.stated)"
        bound["stated"] = [records.stated(key, value) for key, value in filter_.properties.items()]
    held = in_time("m")
    if not filter_.include_superseded:
        held = held_then(ItemKind.MEMORY, known)
    if not filter_.at_any_time:
        tests += f" AND {held}"
    return tests, bound
