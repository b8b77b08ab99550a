"""The neutral words of a proposal (V3), written from its typed action alone.

They contain no text that a caller chose, neither an id nor a name: affected items are counted by
kind. The items themselves are in the list beside the words, which is signed with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from concord_governance.domain.errors import FramingViolation
from concord_governance.domain.loaded_phrases import loaded_phrases
from concord_governance.domain.proposals import Affected, Framing, Kind, Trigger

_WORDS = {
    "en": {
        "affected": "{items}.",
        "nothing": "no item",
        "new": "{count} (new)",
        "cascaded": "{items}; {n} more that need no consent go along",
        "if_approved": "After approval {kind} takes effect. It can be undone for {days} days.",
        "if_irreversible": "After approval {kind} takes effect. It cannot be undone.",
        "if_rejected": "After rejection, or without an answer in {hours} hours, nothing changes.",
        "summary": "Proposal: {kind}. It touches {items}.",
    },
    "de": {
        "affected": "{items}.",
        "nothing": "kein Eintrag",
        "new": "{count} (neu)",
        "cascaded": "{items}; {n} weitere ohne Zustimmungspflicht gehen mit",
        "if_approved": "Nach Zustimmung wird {kind} wirksam. {days} Tage lang lässt sich das "
        "rückgängig machen.",
        "if_irreversible": "Nach Zustimmung wird {kind} wirksam. Das lässt sich nicht rückgängig "
        "machen.",
        "if_rejected": "Nach Ablehnung, oder ohne Antwort binnen {hours} Stunden, bleibt alles, "
        "wie es ist.",
        "summary": "Vorschlag: {kind}. Betroffen: {items}.",
    },
}

_DETECTED = {
    "en": {
        Trigger.DISSONANCE: "For a conflict that was found, {kind} was proposed.",
        Trigger.SESSION_END: "When a session ended, {kind} was proposed.",
        Trigger.MANUAL: "On request, {kind} was proposed.",
        Trigger.PROACTIVE: "Without a request, {kind} was proposed.",
    },
    "de": {
        Trigger.DISSONANCE: "Zu einem gefundenen Widerspruch wurde {kind} vorgeschlagen.",
        Trigger.SESSION_END: "Am Ende einer Sitzung wurde {kind} vorgeschlagen.",
        Trigger.MANUAL: "Auf Anfrage wurde {kind} vorgeschlagen.",
        Trigger.PROACTIVE: "Ohne Anfrage wurde {kind} vorgeschlagen.",
    },
}

_ITEMS = {
    "en": {
        1: ("1 node", "{n} nodes"),
        2: ("1 edge", "{n} edges"),
        3: ("1 memory", "{n} memories"),
        7: ("1 declared relation", "{n} declared relations"),
        8: ("1 conflict", "{n} conflicts"),
        0: ("1 item", "{n} items"),
    },
    "de": {
        1: ("1 Knoten", "{n} Knoten"),
        2: ("1 Kante", "{n} Kanten"),
        3: ("1 Erinnerung", "{n} Erinnerungen"),
        7: ("1 erklärte Relation", "{n} erklärte Relationen"),
        8: ("1 Widerspruch", "{n} Widersprüche"),
        0: ("1 Eintrag", "{n} Einträge"),
    },
}
"""The singular and plural of a kind, by the number of the contract's ItemKind; 0: any other."""

_KINDS = {
    "en": {
        Kind.RESOLVE: "the resolution of a conflict",
        Kind.ADD: "the addition of an item",
        Kind.UPDATE: "the change of an item",
        Kind.FORGET: "the forgetting of a memory",
        Kind.RESTORE: "the restoring of a memory",
        Kind.DELETE: "the deletion of an item",
        Kind.ERASE: "the erasure of a memory",
        Kind.PROMOTE: "the promotion of an item to constitutive",
        Kind.DEMOTE: "the demotion of an item to descriptive",
        Kind.ADD_LINEAGE: "a statement of lineage between two items",
        Kind.DECLARE_RELATION: "the declaration of a relation",
        Kind.UNDO: "the undoing of an earlier change",
        Kind.CHANGE_KEY: "the change of a principal's keys",
        Kind.RECLASSIFY: "the change of a conflict's class",
        Kind.CONFIRM: "the confirmation of a conflict",
        Kind.DISMISS: "the dismissal of a conflict",
        Kind.EXCEPT: "the recording of a conflict as an exception",
        Kind.REOPEN: "the reopening of a conflict",
        Kind.MERGE: "the merging of two items that say the same",
    },
    "de": {
        Kind.RESOLVE: "die Auflösung eines Widerspruchs",
        Kind.ADD: "das Hinzufügen eines Eintrags",
        Kind.UPDATE: "die Änderung eines Eintrags",
        Kind.FORGET: "das Vergessen einer Erinnerung",
        Kind.RESTORE: "das Wiederherstellen einer Erinnerung",
        Kind.DELETE: "das Löschen eines Eintrags",
        Kind.ERASE: "das Tilgen einer Erinnerung",
        Kind.PROMOTE: "die Aufnahme eines Eintrags unter die konstitutiven",
        Kind.DEMOTE: "die Herabstufung eines Eintrags zu deskriptiv",
        Kind.ADD_LINEAGE: "eine Aussage über die Abfolge zweier Einträge",
        Kind.DECLARE_RELATION: "die Erklärung einer Relation",
        Kind.UNDO: "das Rückgängigmachen einer früheren Änderung",
        Kind.CHANGE_KEY: "die Änderung der Schlüssel eines Beteiligten",
        Kind.RECLASSIFY: "die Änderung der Einstufung eines Widerspruchs",
        Kind.CONFIRM: "die Bestätigung eines Widerspruchs",
        Kind.DISMISS: "das Verwerfen eines Widerspruchs",
        Kind.EXCEPT: "die Aufnahme eines Widerspruchs als Ausnahme",
        Kind.REOPEN: "die Wiederaufnahme eines Widerspruchs",
        Kind.MERGE: "die Zusammenführung zweier gleichlautender Einträge",
    },
}


def from_template(
    language: str,
    kind: Kind,
    affected: Sequence[Affected],
    *,
    trigger: Trigger = Trigger.MANUAL,
    cascaded: int = 0,
    irreversible: bool = False,
    days: int,
    hours: int,
) -> Framing:
    """Return the words for an action; they depend on these arguments alone.

    `days`: how long an undo stays possible. `hours`: how long an answer does.
    """
    words, named = _WORDS[language], _KINDS[language][kind]
    items = _counted(language, affected)
    more = words["cascaded"].format(items=items, n=cascaded) if cascaded else items
    effect = words["if_irreversible" if irreversible else "if_approved"]
    return Framing(
        detected=_DETECTED[language][trigger].format(kind=named),
        affected=words["affected"].format(items=more[:1].upper() + more[1:]),
        if_approved=effect.format(kind=named, days=days),
        if_rejected=words["if_rejected"].format(hours=hours),
        neutral_summary=words["summary"].format(kind=named, items=items),
    )


def demand_neutral(note: str) -> None:
    """Refuse a note with loaded phrases.

    Raises:
        FramingViolation: names them.
    """
    demand_no_phrases(loaded_phrases(note))


def demand_no_phrases(words: Sequence[str]) -> None:
    """Refuse a note in which `words` were found that are not neutral.

    Raises:
        FramingViolation: `words` is not empty; names them.
    """
    if words:
        raise FramingViolation(words)


def _counted(language: str, affected: Sequence[Affected]) -> str:
    words, forms = _WORDS[language], _ITEMS[language]
    counts = Counter((item.kind if item.kind in forms else 0, not item.etag) for item in affected)
    parts = []
    for (kind, is_new), number in sorted(counts.items()):
        count = forms[kind][number > 1].format(n=number)
        parts.append(words["new"].format(count=count) if is_new else count)
    return ", ".join(parts) or words["nothing"]
