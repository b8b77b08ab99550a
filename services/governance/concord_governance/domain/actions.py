"""The kind of a typed action, read from its JSON alone, and names no action may use (V1, V2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast
from unicodedata import normalize

from concord_governance.domain.errors import SafeguardViolation
from concord_governance.domain.proposals import Json, Kind
from concord_governance.domain.safeguards import FEWEST_SALT_CHARACTERS, RESERVED_PREFIX

CONSTITUTIVE = "EDGE_TYPE_CONSTITUTIVE"
DESCRIPTIVE = "EDGE_TYPE_DESCRIPTIVE"
PRINCIPALS = "principals and their keys change by a key change alone"
_NAME_FIELDS = ("name", "id", "relation", "label", "subject", "object")

_KINDS = {
    "upsert_edge": Kind.ADD,
    "add_memory": Kind.ADD,
    "update_edge": Kind.UPDATE,
    "update_node": Kind.UPDATE,
    "update_memory": Kind.UPDATE,
    "delete_edge": Kind.DELETE,
    "delete_node": Kind.DELETE,
    "forget_memory": Kind.FORGET,
    "restore_memory": Kind.RESTORE,
    "erase_memory": Kind.ERASE,
    "add_lineage": Kind.ADD_LINEAGE,
    "declare_relation": Kind.DECLARE_RELATION,
    "revert_items": Kind.UNDO,
    "change_key": Kind.CHANGE_KEY,
    "resolve_conflict": Kind.RESOLVE,
    "reopen_conflict": Kind.REOPEN,
    "merge_items": Kind.MERGE,
}
_REVIEW = "review_conflict"
_REVIEWS = {
    f"REVIEW_DECISION_{kind.name}": kind
    for kind in (Kind.CONFIRM, Kind.DISMISS, Kind.EXCEPT, Kind.RECLASSIFY)
}

IRREVERSIBLE = frozenset({Kind.ERASE, Kind.CHANGE_KEY})
"""No undo brings these back: an erased memory is gone, and a replaced key is void."""


def name_of(action: Mapping[str, Json]) -> str:
    """Return an action's name.

    Raises:
        SafeguardViolation: the name is not in the closed list.
    """
    (name,) = action
    if name not in (*_KINDS, _REVIEW):
        raise SafeguardViolation("this is not an action that can be proposed")
    return name


def body_of(action: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the write request of an action."""
    return cast("Mapping[str, Json]", action[name_of(action)])


def kind_of(action: Mapping[str, Json]) -> Kind:
    """Return an action's kind; changes of the edge type are promotions and demotions."""
    name, body = name_of(action), body_of(action)
    if name == _REVIEW:
        return _REVIEWS[str(body["decision"])]
    kind = _KINDS[name]
    if kind != Kind.UPDATE:
        return kind
    # protobuf's JSON writes the paths of a mask in camel case, whatever names the fields have
    if "edgeType" not in str(body.get("update_mask", "")).split(","):
        return kind
    item = body.get("edge") or body.get("memory")
    wanted = item.get("edge_type") if isinstance(item, Mapping) else None
    return {CONSTITUTIVE: Kind.PROMOTE, DESCRIPTIVE: Kind.DEMOTE}.get(str(wanted), kind)


def conflict_of(action: Mapping[str, Json]) -> str:
    """Return the id of the conflict that an action reviews, resolves or reopens, else ""."""
    return str(body_of(action).get("conflict_id", "")) if action else ""


def demand_allowed(action: Mapping[str, Json]) -> None:
    """Refuse an action that no proposal may wrap, judged by its typed fields, not by its texts.

    Only the names in the action are checked here; graph checks the items behind its ids.

    Raises:
        SafeguardViolation: it names something that stands for principals, keys or the rules, it is
            not in the closed list, or its request id is too short for a salt.
    """
    kind = kind_of(action)
    salt = str(body_of(action).get("request_id", ""))
    if len(salt) < FEWEST_SALT_CHARACTERS:
        raise SafeguardViolation(
            f"an action's own request_id is random, {FEWEST_SALT_CHARACTERS} characters or more"
        )
    if kind == Kind.CHANGE_KEY:
        return
    for name in _names(body_of(action)):
        if normalize("NFKC", name).casefold().startswith(RESERVED_PREFIX):
            raise SafeguardViolation(PRINCIPALS)


def _names(body: Mapping[str, Json]) -> Iterator[str]:
    """Yield every name, id and relation that an action addresses."""
    for key, value in body.items():
        if key == "properties":
            continue
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, Mapping):
                yield from _names(part)
            elif isinstance(part, str) and key in _NAME_FIELDS:
                yield part
