"""A naive replay of a space's own record: the lines of its full export, read as plain JSON.

The record says what was written. What follows from it, `naive_replay` works out by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from naive_replay import Replay, Stated, Version

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
KINDS = ("node", "edge", "memory", "relation")


def replay_of(lines: Iterable[str]) -> Replay:
    """Return the replay of a full export's lines."""
    replay = Replay()
    makers: dict[str, str] = {}
    for text in lines:
        line = json.loads(text)
        if line["kind"] in KINDS:
            replay.versions.append(_version(line, makers))
        elif line["kind"] == "support":
            edges = tuple(line.get("edges", ()))
            time = _micros(line["record_from"])
            replay.stated.append(Stated(line["memory_id"], edges, time or 0))
    return replay


def _version(line: dict[str, Any], makers: dict[str, str]) -> Version:
    revision = line["revision"]
    maker = makers.setdefault(line["id"], revision.get("principal", ""))
    return Version(
        kind=line["kind"],
        id=line["id"],
        recorded=_micros(revision["record_from"]) or 0,
        deleted=line.get("deleted", False),
        created=_micros(line["create_time"]) or 0,
        told={"maker": maker, "erased": "erase_time" in line, **TOLD[line["kind"]](line)},
    )


def _of_node(line: dict[str, Any]) -> dict[str, Any]:
    return {"name": line.get("name", ""), "label": line.get("label", "Entity")}


def _of_edge(line: dict[str, Any]) -> dict[str, Any]:
    edge_type = line.get("edge_type", "DESCRIPTIVE")
    return {
        "source": line["source"]["id"],
        "relation": line["relation"],
        "target": line["target"]["id"],
        "weight": line.get("weight", 1.0),
        "edge_type": edge_type,
        "governed": line.get("governed", False),
        "resolution": edge_type == "RESOLUTION",
        "extracted": line.get("origin") == "EXTRACTED",
        **_interval(line),
    }


def _of_memory(line: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": line.get("content", ""),
        "external_id": line.get("external_id", ""),
        "edge_type": line.get("edge_type", "DESCRIPTIVE"),
        **_interval(line),
    }


def _of_relation(line: dict[str, Any]) -> dict[str, Any]:
    return {"name": line["name"], "functional": line.get("functional", False)}


TOLD = {"node": _of_node, "edge": _of_edge, "memory": _of_memory, "relation": _of_relation}


def _interval(line: dict[str, Any]) -> dict[str, int | None]:
    return {name: _micros(line.get(name)) for name in ("valid_from", "valid_until")}


def _micros(text: str | None) -> int | None:
    if text is None:
        return None
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)
