"""A proposal's summary in its items' words: "'Ran 6 km' gives way to 'Ran 9 km'" (V9).

It is for lists, so that one need not be opened to know what it is about. Unlike the framing it
holds words that callers wrote, each in quotes, as they stand now: nobody signs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from concord_governance.domain.actions import body_of, kind_of, name_of
from concord_governance.domain.proposals import Affected, Json, Kind

MOST_CHARACTERS = 60
"""The most characters that a summary quotes of an item."""
_OF_CONFLICTS = {
    Kind.RESOLVE: "{0} and {1}: neither gives way",
    Kind.CONFIRM: "{0} and {1} disagree",
    Kind.DISMISS: "{0} and {1} do not disagree",
    Kind.EXCEPT: "{0} and {1} both hold",
    Kind.REOPEN: "{0} and {1} are open again",
}
_RECLASSIFIED = {
    "CONFLICT_CLASS_CONTRADICTION": "{0} and {1} contradict each other",
    "CONFLICT_CLASS_EVOLUTION": "{0} and {1} held one after the other",
    "CONFLICT_CLASS_NUANCE": "{0} and {1} differ, and may both stand",
}
_OF_LINEAGE = {
    "LINEAGE_RELATION_SUPERSEDES": "{1} gives way to {0}",
    "LINEAGE_RELATION_DEPRECATES": "{1} is outdated by {0}",
    "LINEAGE_RELATION_AMENDS": "{0} amends {1}",
    "LINEAGE_RELATION_CONTRADICTS": "{0} contradicts {1}",
    "LINEAGE_RELATION_RELATED_TO": "{0} is related to {1}",
}
_OF_ONE = {
    Kind.ADD: "{0} is added",
    Kind.UPDATE: "{0} is changed",
    Kind.FORGET: "{0} is forgotten",
    Kind.RESTORE: "{0} comes back",
    Kind.DELETE: "{0} is deleted",
    Kind.ERASE: "{0} is erased",
    Kind.PROMOTE: "{0} becomes constitutive",
    Kind.DEMOTE: "{0} becomes descriptive",
}
_GIVES_WAY = "{0} gives way to {1}"
_PAIRS = {"add_lineage": ("newer_id", "older_id"), "merge_items": ("merged_id", "kept_id")}


def memories_of(action: Mapping[str, Json]) -> Sequence[str]:
    """Return the ids of the memories that a summary of an action quotes; of a conflict none."""
    name, body = name_of(action), body_of(action)
    if name in _PAIRS:
        return [str(body[field]) for field in _PAIRS[name]]
    memory = body.get("memory")
    named = memory.get("id") if isinstance(memory, Mapping) else body.get("id")
    return [str(named)] if named and name.endswith("_memory") else []


def summary(
    action: Mapping[str, Json], affected: Sequence[Affected], said: Mapping[str, str]
) -> str:
    """Return what an action does, in its items' words; empty if some of them are not known.

    `said`: the words of the memories that it names, in its order, or of its conflict's two sides,
    by id.
    """
    kind, body = kind_of(action), body_of(action)
    words = [each for each in said.values() if each]
    if kind in _OF_ONE and not words:
        # an edge or memory rather than the nodes at its ends, whose kind has the smaller number
        stated = [each for each in affected if each.statement]
        words = [max(stated, key=lambda each: each.kind).statement] if stated else []
    form = _form(kind, body)
    loser = str(body.get("superseded_id", ""))
    if kind == Kind.RESOLVE and loser in said:
        form, words = _GIVES_WAY, [said[loser], *(said[each] for each in said if each != loser)]
    if not form or not all(words) or len(words) != 1 + ("{1}" in form):
        return ""
    return form.format(*map(quoted, words))


def _form(kind: Kind, body: Mapping[str, Json]) -> str:
    match kind:
        case Kind.ADD_LINEAGE:
            return _OF_LINEAGE.get(str(body.get("relation")), "")
        case Kind.RECLASSIFY:
            return _RECLASSIFIED.get(str(body.get("conflict_class")), "")
        case Kind.MERGE:
            return "{0} becomes one with {1}"
    return _OF_CONFLICTS.get(kind, "") or _OF_ONE.get(kind, "")


def quoted(words: str) -> str:
    """Return an item's words in quotes, on one line and cut; no quote within seems to end them."""
    line = " ".join(words.split()).replace("'", "’")
    return f"'{line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 1] + '…'}'"
