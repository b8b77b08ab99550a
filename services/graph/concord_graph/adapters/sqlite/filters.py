"""Filters as SQL conditions with bound values; applied in the store, before any limit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from concord_graph.adapters.sqlite import statements
from concord_graph.domain.items import EdgeType, ItemKind
from concord_graph.domain.relevance import unread_since
from concord_graph.ports import EdgeFilter, MemoryFilter


def edge_tests(filter_: EdgeFilter, *, include_resolutions: bool) -> tuple[str, dict[str, Any]]:
    """Return the conditions on edge e, joined by AND, and their bound values."""
    tests: list[str] = []
    bound: dict[str, Any] = {}
    if not include_resolutions and EdgeType.RESOLUTION not in filter_.edge_types:
        tests.append(f"e.edge_type <> {EdgeType.RESOLUTION}")
    for name, column, wanted in (
        ("relations", "e.relation", filter_.relations),
        ("edge_types", "e.edge_type", filter_.edge_types),
        ("importances", statements.IMPORTANCE, filter_.importances),
    ):
        if wanted:
            tests.append(f"{column} IN (SELECT value FROM json_each(:{name}))")
            bound[name] = json.dumps(list(wanted))
    if filter_.importances:
        bound["unread"] = unread_since(filter_.now)
    tests += _property_tests("e", filter_.properties, bound)
    for place, name in enumerate(filter_.participants):
        tests.append(
            "EXISTS (SELECT 1 FROM json_each(e.properties, '$.participants') p"
            f" WHERE p.value = :participant_{place})"
        )
        bound[f"participant_{place}"] = name
    for name, test, instant in (
        ("modified_since", "e.record_from >= :modified_since", filter_.modified_since),
        ("modified_before", "e.record_from < :modified_before", filter_.modified_before),
    ):
        if instant is not None:
            tests.append(test)
            bound[name] = instant
    return " AND ".join(tests), bound


def _property_tests(
    alias: str, properties: Mapping[str, object], bound: dict[str, Any]
) -> Iterator[str]:
    """Yield a condition for each property that an item must have; add its values to `bound`."""
    for place, (key, value) in enumerate(sorted(properties.items())):
        bound[f"key_{place}"] = key
        bound[f"property_{place}"] = json.dumps([value])
        yield (
            f"EXISTS (SELECT 1 FROM json_each({alias}.properties) p, json_each(:property_{place}) q"
            f" WHERE p.key = :key_{place} AND p.value = q.value"
            " AND replace(p.type, 'integer', 'real') = replace(q.type, 'integer', 'real'))"
        )


def memory_tests(filter_: MemoryFilter) -> tuple[str, dict[str, Any]]:
    """Return further conditions on memory m, each behind AND, and their bound values."""
    bound: dict[str, Any] = {}
    tests = ""
    if not filter_.at_any_time:
        in_time = statements.in_time("m")
        held = in_time if filter_.include_superseded else statements.held(ItemKind.MEMORY)
        tests = f" AND {held}"
    if filter_.kinds:
        tests += " AND m.memory_kind IN (SELECT value FROM json_each(:kinds))"
        bound["kinds"] = json.dumps(list(filter_.kinds))
    if filter_.tag:
        tests += " AND EXISTS (SELECT 1 FROM json_each(m.tags) t WHERE t.value = :tag)"
        bound["tag"] = filter_.tag
    if filter_.domain:
        tests += (
            " AND (m.domain = :domain OR substr(m.domain, 1, length(:domain) + 1) = :domain || '.')"
        )
        bound["domain"] = filter_.domain
    if filter_.edge_type is not None:
        tests += " AND m.edge_type = :edge_type"
        bound["edge_type"] = filter_.edge_type
    if filter_.origins:
        tests += " AND m.origin IN (SELECT value FROM json_each(:origins))"
        bound["origins"] = json.dumps(list(filter_.origins))
    if filter_.words_origins:
        tests += (
            " AND coalesce(nullif(m.words_origin, 0), m.origin)"
            " IN (SELECT value FROM json_each(:words_origins))"
        )
        bound["words_origins"] = json.dumps(list(filter_.words_origins))
    if filter_.principal:
        tests += (
            " AND EXISTS (SELECT 1 FROM memory w WHERE w.space = m.space AND w.id = m.id"
            " AND w.revision = 1 AND w.principal = :principal)"
        )
        bound["principal"] = filter_.principal
    if filter_.session_id:
        tests += " AND m.session_id = :session_id"
        bound["session_id"] = filter_.session_id
    tests += "".join(f" AND {test}" for test in _property_tests("m", filter_.properties, bound))
    return tests, bound
