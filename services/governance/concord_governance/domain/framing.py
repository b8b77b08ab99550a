"""The neutral words of a proposal (V3), written from its typed action alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from concord_governance.domain.exceptions import FramingViolation
from concord_governance.domain.lexicon import is_quiet, violations
from concord_governance.domain.proposals import Affected, Framing, Kind, Trigger

LANGUAGES = ("en", "de")
_SHOWN_ITEMS = 5

_WORDS = {
    "en": {
        "detected": "{trigger}: {proposer} proposed {kind}.",
        "affected": "{count}: {items}.",
        "items": ("No item", "1 item", "{n} items"),
        "new": "a new item",
        "loud": "an item whose id stands in the list",
        "somebody": "the proposer",
        "more": "and {n} more",
        "along": "{n} more that need no consent go along",
        "if_approved": "After approval {kind} takes effect. It can be undone for {days} days.",
        "if_final": "After approval {kind} takes effect. It cannot be undone.",
        "if_rejected": "After rejection, or without an answer in {hours} hours, nothing changes.",
        "summary": "Proposal: {kind}. It touches {count}.",
    },
    "de": {
        "detected": "{trigger}: {proposer} hat {kind} vorgeschlagen.",
        "affected": "{count}: {items}.",
        "items": ("Kein Eintrag", "1 Eintrag", "{n} Einträge"),
        "new": "ein neuer Eintrag",
        "loud": "ein Eintrag, dessen Kennung in der Liste steht",
        "somebody": "wer vorschlägt",
        "more": "und {n} weitere",
        "along": "{n} weitere ohne Zustimmungspflicht gehen mit",
        "if_approved": "Nach Zustimmung wird {kind} wirksam. {days} Tage lang lässt sich das "
        "rückgängig machen.",
        "if_final": "Nach Zustimmung wird {kind} wirksam. Das lässt sich nicht rückgängig machen.",
        "if_rejected": "Nach Ablehnung, oder ohne Antwort binnen {hours} Stunden, bleibt alles, "
        "wie es ist.",
        "summary": "Vorschlag: {kind}. Betroffen: {count}.",
    },
}

_TRIGGERS = {
    "en": {
        Trigger.DISSONANCE: "A conflict was found",
        Trigger.SESSION_END: "A session ended",
        Trigger.MANUAL: "On request",
        Trigger.PROACTIVE: "From what recurs in memory",
    },
    "de": {
        Trigger.DISSONANCE: "Ein Widerspruch wurde gefunden",
        Trigger.SESSION_END: "Eine Sitzung endete",
        Trigger.MANUAL: "Auf Anfrage",
        Trigger.PROACTIVE: "Aus dem, was im Gedächtnis wiederkehrt",
    },
}

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
        Kind.CHANGE_KEY: "the change of a principal's key",
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
        Kind.CHANGE_KEY: "die Ersetzung des Schlüssels eines Beteiligten",
    },
}


def from_template(
    language: str,
    kind: Kind,
    trigger: Trigger,
    proposer: str,
    affected: Sequence[Affected],
    *,
    taken_along: int = 0,
    final: bool = False,
    days: int,
    hours: int,
) -> Framing:
    """Return the words for an action; the same for the same action, whatever came before.

    Ids and names that somebody chose are data in it: one that is not neutral is left to the list
    of affected items, which is signed beside the words.
    """
    words = _WORDS[language]
    named = {"kind": _KINDS[language][kind], "days": days, "hours": hours}
    named["proposer"] = proposer if is_quiet(proposer) else str(words["somebody"])
    named["trigger"] = _TRIGGERS[language][trigger]
    named["count"] = _count(words["items"], len(affected))
    named["items"] = _listed(language, affected)
    if taken_along:
        along = str(words["along"]).format(n=taken_along)
        named["items"] = f"{named['items']}; {along}"
    return Framing(
        detected=str(words["detected"]).format(**named),
        affected=str(words["affected"]).format(**named),
        if_approved=str(words["if_final" if final else "if_approved"]).format(**named),
        if_rejected=str(words["if_rejected"]).format(**named),
        neutral_summary=str(words["summary"]).format(**named),
    )


def demand_neutral(framing: Framing) -> None:
    """Refuse words that urge, judge, feel or prefer.

    Raises:
        FramingViolation: names the words.
    """
    found = violations(
        (
            framing.detected,
            framing.affected,
            framing.if_approved,
            framing.if_rejected,
            framing.neutral_summary,
        )
    )
    demand_none(found)


def demand_none(words: Sequence[str]) -> None:
    """Refuse for words that were found not to be neutral.

    Raises:
        FramingViolation: there are any; names them.
    """
    if words:
        raise FramingViolation(words)


def _count(forms: str | Sequence[str], number: int) -> str:
    return forms[min(number, 2)].format(n=number)


def _named(item: Affected, words: Mapping[str, str | Sequence[str]]) -> str:
    if not item.etag:
        return str(words["new"])
    return item.id if is_quiet(item.id) else str(words["loud"])


def _listed(language: str, affected: Sequence[Affected]) -> str:
    words = _WORDS[language]
    shown = [_named(item, words) for item in affected[:_SHOWN_ITEMS]]
    hidden = len(affected) - len(shown)
    if hidden > 0:
        shown.append(str(words["more"]).format(n=hidden))
    return ", ".join(shown) or "-"
