"""How statements were spelt in earlier versions: the one table by which their bytes stay readable.

A statement is digested and its signatures are verified as its bytes are. Only then are its names
read as today's, so a rename changes no meaning and opens no second door: a statement of an older
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
"""By what is stated and its version: where a name stood, the name, and today's name for it.

An entry of the audit log is looked up by its action. Version 1 of it, of a proposal's revision, and
version 2 of a restore grant are what e65dbee wrote.
"""


def respelled(kind: str, value: Any) -> Any:
    """Return a parsed statement in today's names, whichever version it says it is of.

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
