"""What a decision did, held against what was signed and what graph told of it (V6, V8)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from concord_client.trust.audit.course import Course, Told, of_type
from concord_client.trust.audit.items import Items, etag_of


def within_signed(decision: Told, items: Items, touched: Iterable[str]) -> bool:
    """Return whether consents name each touched item that was there, and as many others as are new.

    What is made gets its id when it is made, so the papers name it by an empty etag and another id.
    """
    etags = decision.terms.etags
    new = [name for name in touched if not etags.get(name)]
    room = sum(not etag for etag in etags.values())
    firsts = (items.first(name) for name in new)
    known = any(first is not None and first < decision.decided_at for first in firsts)
    return len(new) <= room and not known


def _is_counted(cascaded: dict[str, Any]) -> bool:
    """Return whether a count comes with the digest of what is counted, and nothing with neither."""
    count, digest = of_type(cascaded["count"], int), cascaded["digest"]
    return count >= 0 and bool(re.fullmatch("[0-9a-f]{64}" if count else "", digest))


class EffectRules:
    """What an EXECUTE may say that was done."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def on_execute(
        self, told: Told, effects: list[dict[str, Any]], cascaded: dict[str, Any]
    ) -> None:
        """Demand that exactly what was signed for was done, as graph told before.

        What went along is only counted: no consent is needed for it, and no write of what needs
        one is missing among the effects.
        """
        self._course.demand("cascaded", _is_counted(cascaded))
        self._demand_signed(told, effects)
        self._demand_told(told, effects)
        told.effects = {each["id"]: (each["before"], each["after"]) for each in effects}
        told.left = {name: self._course.items.stands(name) for name in told.effects}
        self._demand_newest(effects)
        if told.kind == "UNDO":
            self._demand_as_before(told, self._course.proposals[told.undo_of])
        for each in effects:
            self._course.items.saw(each["id"], self._course.index)

    def _demand_signed(self, told: Told, effects: list[dict[str, Any]]) -> None:
        course, etags = self._course, told.terms.etags
        for each in effects:
            for number in (each["before"], each["after"], *each["governed"]):
                of_type(number, int)
        names = [each["id"] for each in effects]
        forward = all(
            told.began.get(each["id"], 0) <= each["before"] < each["after"] for each in effects
        )
        course.demand("effect_revisions", forward and len(set(names)) == len(names))
        for each in effects:
            signed = etags.get(each["id"], "") if each["before"] else ""
            version = etag_of(each["id"], each["before"]) if each["before"] else ""
            course.demand("unsigned_effect", signed == version)
        made = [each["id"] for each in effects if not each["before"]]
        course.demand("made", within_signed(told, course.items, made))

    def _demand_told(self, told: Told, effects: list[dict[str, Any]]) -> None:
        """Demand each governed revision's own entry, and no entry but these."""
        course = self._course
        governed = {each["id"]: each["governed"] for each in effects if each["governed"]}
        course.demand("effects_told", governed == told.writes)
        course.demand("no_effect", bool(governed) == (told.level == "BILATERAL"))
        for each in effects:
            inside = all(each["before"] < number <= each["after"] for number in each["governed"])
            course.demand("governed_revisions", inside)

    def _demand_newest(self, effects: list[dict[str, Any]]) -> None:
        """Demand that what is constitutive now came no further than graph told: each write on such
        an item is told, so there is none behind the last."""
        for each in effects:
            if each["governed"] and self._course.items.stands(each["id"]):
                self._course.demand("newest_revision", each["after"] <= max(each["governed"]))

    def _demand_as_before(self, undo: Told, original: Told) -> None:
        """Demand that an undo began where its original ended, and ended where that began.

        What was changed since may have been changed back: what is constitutive says by its digest
        that it was, of anything else the log does not tell.
        """
        course = self._course
        for name, (_, after) in original.effects.items():
            began, left = undo.effects.get(name, (0,))[0], original.left[name]
            back = began > after and undo.stood.get(name, "") == left
            course.demand("undone_effects", began == after or back)
        for name, digest in original.stood.items():
            course.demand("undone_state", course.items.stands(name) == digest)
