"""Former field names of statements: the one table by which old statements stay readable.

A statement's digest and signatures are those of its original bytes. Only then are its names mapped
to today's, so a rename changes no meaning and opens no second way in: a statement of an older
version that has a new name, or one of the present version that has an old name, is malformed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EACH = "*"
"""In a path: each member of an array."""

_PATH = tuple[str, ...]
_Rename = tuple[_PATH, str, str]

RENAMED: Mapping[tuple[str, int], Sequence[_Rename]] = {
    ("restore", 2): [((), "agreed_digest", "constitutive_digest")],
    ("revision", 1): [
        ((), "taken_along", "cascaded_count"),
        ((), "final", "irreversible"),
        (("affected", EACH), "rests_on", "pinned"),
        (("action", "revert_items", "items", EACH), "taken_along", "cascaded"),
        (("action", "add_memory", "memory"), "standing", "supersession"),
        (("action", "update_memory", "memory"), "standing", "supersession"),
        (("action", "upsert_edge", "edge"), "standing", "supersession"),
        (("action", "update_edge", "edge"), "standing", "supersession"),
    ],
    ("SMF_PROPOSE", 1): [(("properties",), "taken_along", "cascaded_count")],
    ("SMF_REVISE", 1): [(("properties",), "taken_along", "cascaded_count")],
    ("SMF_EXECUTE", 1): [(("properties",), "taken_along", "cascaded")],
    ("SMF_REJECT", 1): [(("properties",), "paper", "envelope")],
    ("SMF_REVOKE", 1): [(("properties",), "paper", "envelope")],
}
"""By the statement's kind and version: (path to the object, former name, today's name).

The kind of an entry of the audit log is its action. Version 1 of such entries and of proposals'
revisions, and version 2 of restore grants, are those that e65dbee wrote.
"""


def respelled(kind: str, value: Any) -> Any:
    """Return a parsed statement in today's names, by the version that it states.

    Raises ValueError for an older version that uses a name of today.
    """
    version = value.get("version") if isinstance(value, dict) else None
    if type(version) is not int:
        return value
    for path, old, new in RENAMED.get((kind, version), ()):
        value = _renamed(value, path, old, new)
    return value


def entry_respelled(leaf: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of the audit log in today's names; ValueError as `respelled`."""
    entry: dict[str, Any] = respelled(str(leaf.get("action")), leaf)
    return entry


def _renamed(value: Any, path: _PATH, old: str, new: str) -> Any:
    if path and path[0] == EACH:
        if not isinstance(value, list):
            return value
        return [_renamed(each, path[1:], old, new) for each in value]
    if not isinstance(value, dict):
        return value
    if path:
        inner = value.get(path[0])
        return value if inner is None else value | {path[0]: _renamed(inner, path[1:], old, new)}
    if new in value:
        raise ValueError(f"an older version has no {new!r}")
    return {new if name == old else name: inner for name, inner in value.items()}
