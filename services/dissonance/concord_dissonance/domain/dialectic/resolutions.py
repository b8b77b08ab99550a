"""Resolves contradictions by rule: by time, region, rank, circumstance, or as parts of a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from concord_reading.frame import Kind, Role

from concord_dissonance.domain.dialectic.answers import Answer
from concord_dissonance.domain.dialectic.contradictions import DENIALS, Clash, regions_differ
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.verdicts import ConflictClass, ConflictType, Older, Severity

LEAST_AUTHORITY = 0.2
"""Least difference of two authorities by which the higher one prevails."""
_DIGITS = 9
"""Decimal places to which a difference is rounded, so that 0.6 - 0.4 is 0.2."""


class Strategy(Enum):
    """How a contradiction is resolved."""

    CONTEXTUALIZATION = 1
    HIERARCHIZATION = 2
    SYNTHESIS = 3
    TEMPORAL_ORDERING = 4
    REGIONAL_DIFFERENTIATION = 5


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two theses that cannot both hold as they stand, and the strategy that resolves it."""

    clash: Clash
    type: ConflictType
    severity: Severity
    strategy: Strategy | None
    """None when it is unresolved."""
    prevailing: int | None = None
    """The place of the thesis that holds now or takes precedence; None when both hold."""
    alternatives: Sequence[tuple[Strategy, int | None]] = ()
    """The other strategies that would resolve it, with the place that would prevail by each."""

    @property
    def subordinate(self) -> int | None:
        """The place of the thesis that one of higher rank overrides; else None."""
        if self.strategy is not Strategy.HIERARCHIZATION:
            return None
        both = self.clash.first, self.clash.second
        return both[0] if self.prevailing == both[1] else both[1]


def resolve(clash: Clash, theses: Sequence[Scoped]) -> Contradiction:
    """Resolve a contradiction by the first rule that applies."""
    one, other = theses[clash.first], theses[clash.second]
    places = {0: None, 1: clash.first, 2: clash.second}
    ruled = ((strategy, rule(clash, one, other)) for strategy, rule in _RULES.items())
    found = [(strategy, places[prevails]) for strategy, (applies, prevails) in ruled if applies]
    strategy, prevailing = found[0] if found else (None, None)
    graveness = severity(clash, one, other, is_resolved=bool(found))
    return Contradiction(
        clash, _type(clash, one, other), graveness, strategy, prevailing, found[1:]
    )


Ruling = tuple[bool, int]
"""Whether a rule applies, and which thesis prevails: 1, 2, or 0 for both."""


def _by_time(clash: Clash, one: Scoped, other: Scoped) -> Ruling:
    if one.is_superseded != other.is_superseded:
        return True, 2 if one.is_superseded else 1
    if one.time is not None and other.time is not None and one.time != other.time:
        both_stated = one.thesis.valid_from is not None and other.thesis.valid_from is not None
        return both_stated or clash.without_scope, 2 if one.time < other.time else 1
    if one.version and other.version and one.version != other.version:
        return clash.without_scope, 2 if one.version < other.version else 1
    if one.edition[0] == other.edition[0] and one.edition[1] != other.edition[1]:
        return True, 2 if one.edition[1] and one.edition < other.edition else 1
    for at, (mine, yours) in enumerate(((one, other), (other, one)), 1):
        if clash.without_scope and mine.begins > mine.ends and yours.ends > yours.begins:
            return True, at
    if clash.verdict.older is not Older.NEITHER:
        return True, 2 if clash.verdict.older is Older.FIRST else 1
    if one.is_past != other.is_past:
        return True, 2 if one.is_past else 1
    return clash.without_scope and one.is_changed != other.is_changed, 1 if one.is_changed else 2


def _by_region(clash: Clash, one: Scoped, other: Scoped) -> Ruling:
    stated = bool(one.thesis.region and other.thesis.region)
    return regions_differ(one, other) and (stated or clash.without_scope), 0


def _by_rank(_clash: Clash, one: Scoped, other: Scoped) -> Ruling:
    mine, yours = one.thesis.authority, other.thesis.authority
    if mine is not None and yours is not None:
        difference = round(mine - yours, _DIGITS)
        if abs(difference) >= LEAST_AUTHORITY:
            return True, 1 if difference > 0 else 2
    if one.rank is None or other.rank is None:
        return one.weight != other.weight, 1 if one.weight > other.weight else 2
    return one.rank != other.rank, 1 if one.rank > other.rank else 2


def _by_circumstance(clash: Clash, one: Scoped, other: Scoped) -> Ruling:
    stated = bool(one.thesis.context or other.thesis.context)
    if stated:
        return one.circumstances != other.circumstances, 0
    differ = one.methods != other.methods or any(
        mine.is_beside(yours) or _narrows(mine.answer, yours.answer)
        for mine, yours in ((one, other), (other, one))
    )
    return clash.without_circumstances and differ, 0


def _narrows(one: Answer, other: Answer) -> bool:
    """Whether one speaks of some of the kind of which the other one speaks: "pupils over 16".

    One thing that is called "the" is one, whatever else is said of it: "the old bridge".
    """
    if not (one.frames and other.frames):
        return False
    spoken, others = (
        [word for word in each.frames[0].words if word.role is Role.SUBJECT]
        for each in (one, other)
    )
    named = {word.key for word in others}
    if len(spoken) == len(others) == 1 and spoken[0].key != others[0].key:
        is_kind = spoken[0].key.endswith(others[0].key)  # "Assistenzhunde" are dogs
        # A German noun that begins a sentence is read as a name, and may name a kind.
        return is_kind and (spoken[0].kind is Kind.NAME or not spoken[0].is_definite)
    kind = [word for word in spoken if word.key in named]
    if not kind or not named < {word.key for word in spoken}:
        return False
    is_one = any(word.is_definite for word in kind)
    return any(
        not (word.is_definite or word.kind is Kind.VERB or word.key in named)
        and (not is_one or word.kind is not Kind.ADJECTIVE)
        and (word.start > kind[0].start or not (is_one or word.value))
        for word in spoken
    )


def _as_parts(clash: Clash, one: Scoped, other: Scoped) -> Ruling:
    del one, other
    return clash.verdict.conflict is ConflictClass.NUANCE, 0


_RULES: dict[Strategy, Callable[[Clash, Scoped, Scoped], Ruling]] = {
    Strategy.TEMPORAL_ORDERING: _by_time,
    Strategy.REGIONAL_DIFFERENTIATION: _by_region,
    Strategy.HIERARCHIZATION: _by_rank,
    Strategy.CONTEXTUALIZATION: _by_circumstance,
    Strategy.SYNTHESIS: _as_parts,
}
"""In the order in which they are tried."""


def _type(clash: Clash, one: Scoped, other: Scoped) -> ConflictType:
    if _by_time(clash, one, other)[0]:
        return ConflictType.TEMPORAL
    if _by_region(clash, one, other)[0]:
        return ConflictType.REGIONAL
    if clash.verdict.type is ConflictType.TEMPORAL:
        return ConflictType.TEMPORAL
    if one.is_of_method and other.is_of_method:
        return ConflictType.METHODOLOGICAL
    return ConflictType.LEGAL if one.is_legal and other.is_legal else ConflictType.FACTUAL


def severity(clash: Clash, one: Scoped, other: Scoped, *, is_resolved: bool) -> Severity:
    """Return how grave a contradiction of two theses is, by rule."""
    sides = (each.thesis.memory for each in (one, other))
    if any(each is not None and each.side.is_constitutive for each in sides):
        return Severity.CRITICAL
    if clash.verdict.conflict is ConflictClass.NUANCE:
        return Severity.MINOR
    denies = clash.verdict.reason in DENIALS
    return Severity.CRITICAL if denies and not is_resolved else Severity.MODERATE
