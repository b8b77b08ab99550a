"""Finds which theses contradict each other, and which are merely open to interpretation.

Theses are compared as sentences, and as answers to the question of their synthesis (`exclusions`).
Dissonance's judges compare the texts of claims, without stated times, sources and scopes: first as
written, then without the regions, times and statutes that they name, then also without the
circumstances. The omitted parts decide how a contradiction is resolved, not whether it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from concord_dissonance.domain.dialectic.answers import Stance
from concord_dissonance.domain.dialectic.exclusions import agree, differ
from concord_dissonance.domain.dialectic.legal import UNION
from concord_dissonance.domain.dialectic.phrases import PHRASES
from concord_dissonance.domain.dialectic.questions import share
from concord_dissonance.domain.dialectic.scoped import PREFIXED, Scoped
from concord_dissonance.domain.judges.aligned import Aligned
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import Kind, Rules, Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Reason,
    Verdict,
)

LEAST_SHARED = 2
"""Fewest shared words of two claims of which one can deny the other."""
CONFIDENCE = 0.8
"""The confidence in a contradiction that only the question shows. It is set, and not calibrated:
thirty inputs are too few for that."""
DENIALS = frozenset(
    {Reason.NEGATION, Reason.ANTONYM, Reason.EXCLUSIVE_WORDS, Reason.EXCLUSIVE_VALUES}
)
"""Reasons for which one claim denies the other, rather than names another value."""
_UNDECIDED = frozenset({Abstained.UNKNOWN_FILLERS, Abstained.TOO_DIFFERENT})


@dataclass(frozen=True, slots=True)
class Clash:
    """Two theses, by their places, that cannot both hold as written; `first` < `second`.

    `without_scope`, `without_circumstances`: whether they still clash without these; False if they
    differ in these alone.
    """

    first: int
    second: int
    verdict: Verdict
    without_scope: bool = True
    without_circumstances: bool = True


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Two theses, by their places, that say different things of one subject; both may hold."""

    first: int
    second: int


Pair = tuple[int, int]
"""The places of two theses, the lower one first."""


def pairs_of(theses: Sequence[Scoped]) -> list[Pair]:
    """Return the pairs that are worth a judge: the claims share at least two words, or answer
    their question in the same terms, or for different regions or times."""
    return [
        (at, place)
        for (at, one), (place, other) in combinations(enumerate(theses), 2)
        if len(one.words & other.words) >= LEAST_SHARED or _answer_alike(one, other)
    ]


def _answer_alike(one: Scoped, other: Scoped) -> bool:
    if not one.question.text:
        return False
    alike = not one.answer.terms.isdisjoint(other.answer.terms)
    return alike or regions_differ(one, other) or _follow(one, other)


def compare_all(
    theses: Sequence[Scoped], pairs: Iterable[Pair], rules: Rules
) -> list[Clash | Ambiguity]:
    """Return the clashes and ambiguities of some pairs of theses, in the order of the pairs."""
    found: list[Clash | Ambiguity] = []
    for one, other in pairs:
        said = compare(theses[one], theses[other], rules)
        if isinstance(said, Clash):
            found.append(replace(said, first=one, second=other))
        elif said:
            found.append(Ambiguity(one, other))
    return found


def compare(one: Scoped, other: Scoped, rules: Rules) -> Clash | bool:
    """Return the clash of two theses, else whether they are ambiguous.

    Two points of view or methods are no contradiction, nor is what holds of some and not of others,
    nor are two values for different circumstances. A rule for some circumstances and its denial for
    others contradict; the circumstances resolve it.
    """
    if _can_both_hold(one, other):
        return False
    said = _judged(one, other, rules)
    if _is_same(said[0]):
        return False
    verdicts = [each if isinstance(each, Verdict) else None for each in said]
    clashing = [each for each in verdicts if each and each.conflict is not ConflictClass.NONE]
    _, scopeless, plain = (each in clashing for each in verdicts)
    reason = None if plain else _differ(one, other)
    if not clashing and reason is None:
        told = zip(said[:2], one.views, other.views, strict=False)
        return any(_is_open(*each, rules) for each in told)
    if reason is not None:
        scopeless = reason is not Reason.DATE
        plain = True
        clashing.append(_verdict(reason))
    is_denial = clashing[0].reason in DENIALS
    may_differ = one.question.text or _are_apart(one, other) or _is_special(one, other)
    if plain and not (is_denial or may_differ):
        return False
    return Clash(0, 1, clashing[0], scopeless, plain)


def _verdict(reason: Reason) -> Verdict:
    kind = ConflictType.TEMPORAL if reason is Reason.DATE else None
    return Verdict(ConflictClass.CONTRADICTION, Judge.LEXICAL, reason, CONFIDENCE, type=kind)


def _can_both_hold(one: Scoped, other: Scoped) -> bool:
    """Whether two theses tell two points of view, two methods, or of some cases each.

    How good something is differs by whom it is good for.
    """
    if one.is_partial and (other.is_partial or other.is_of_most):
        return True
    if other.is_partial and one.is_of_most:
        return True
    if one.is_added or other.is_added:
        return True
    if one.question.is_evaluation and _are_two(one.circumstances, other.circumstances):
        return True
    return _are_two(one.perspective, other.perspective) or _are_two(one.methods, other.methods)


def _are_two(mine: object, yours: object) -> bool:
    """Whether both are told, and differ."""
    return bool(mine and yours) and mine != yours


def _are_apart(one: Scoped, other: Scoped) -> bool:
    """Whether two theses hold for different regions or times, or by law of different rank."""
    if regions_differ(one, other) or _follow(one, other):
        return True
    return None not in (one.rank, other.rank) and one.rank != other.rank


def _follow(one: Scoped, other: Scoped) -> bool:
    """Whether one thesis held until a time, and the other since then."""
    if one.version and other.version and one.version != other.version:
        return True
    if one.edition[0] and one.edition[0] == other.edition[0] and one.edition != other.edition:
        return True
    return (one.ends and other.begins and not other.ends) or (
        other.ends and one.begins and not one.ends
    )


def _is_overridden(one: Scoped, other: Scoped) -> bool:
    """Whether one thesis rests on the Union's law and the other on law below it, and both say what
    has to be or may be done, but not the same."""
    if None in (one.rank, other.rank) or one.rank == other.rank:
        return False
    stances = one.answer.stance, other.answer.stance
    if UNION not in (one.rank, other.rank) or None in stances:
        return False
    return stances[0] != stances[1] and {*stances} != {Stance.ALLOWS, Stance.REQUIRES}


def regions_differ(one: Scoped, other: Scoped) -> bool:
    """Whether two theses hold for regions that lie apart; a Land's law holds in its towns."""
    if not one.regions or not other.regions or one.regions == other.regions:
        return False
    states = [any(map(PHRASES.is_state, each.regions)) for each in (one, other)]
    ranks = one.rank, other.rank
    if states[0] != states[1] and None not in ranks and ranks[0] != ranks[1]:
        return False
    return all(PHRASES.are_apart(mine, yours) for mine in one.regions for yours in other.regions)


def _differ(one: Scoped, other: Scoped) -> Reason | None:
    """Return by what two theses exclude each other as answers to one question.

    Of different regions, or of the times before and after, any two answers do that are not alike.
    """
    first, second, is_apart = one.answer, other.answer, _are_apart(one, other)
    reason = differ(first, second, is_apart=is_apart)
    if reason is not None or not one.question.text:
        return reason
    if agree(first, second) or not is_apart:
        return None
    if _is_overridden(one, other):
        return Reason.TWO_VALUES
    is_asked = first.asked() and second.asked()
    if _follow(one, other):
        return Reason.TWO_VALUES if is_asked or share(first.topic, second.topic) else None
    if one.thesis.region and other.thesis.region and regions_differ(one, other):
        is_asked = True
    if not (regions_differ(one, other) and (is_asked or share(first.topic, second.topic))):
        return None
    topics = sorted((first.topic, second.topic), key=len)
    return None if topics[0] and topics[0] <= topics[1] else Reason.TWO_VALUES


def _judged(one: Scoped, other: Scoped, rules: Rules) -> list[Verdict | Abstention]:
    """Return the judgement of each view; views with the same texts are judged once."""
    said: dict[tuple[str, str], Verdict | Abstention] = {}
    found = []
    for first, second in zip(one.views, other.views, strict=True):
        key = first.text, second.text
        if key not in said:
            mine, yours = _apart(first, one, other), _apart(second, other, one)
            said[key] = judge(mine, yours, rules)
        found.append(said[key])
    return found


def _is_special(one: Scoped, other: Scoped) -> bool:
    """Whether one thesis names all circumstances of the other, methods aside."""
    mine, yours = (
        {c for c in each.named_circumstances if not PHRASES.is_of_method(c)}
        for each in (one, other)
    )
    return mine <= yours or yours <= mine


def _is_same(said: Verdict | Abstention) -> bool:
    return isinstance(said, Verdict) and said.reason is Reason.SAME_STATEMENT


def _is_open(said: Verdict | Abstention, first: Side, second: Side, rules: Rules) -> bool:
    """Whether two sentences differ in one word or value, and nothing shows whether both hold."""
    if isinstance(said, Verdict) or said.reason not in _UNDECIDED:
        return False
    mine, yours = first.frames.frames, second.frames.frames
    if not len(mine) == len(yours) == 1:
        return False
    pair = Aligned(mine[0], yours[0], rules)
    return max(len(pair.left), len(pair.right)) == 1


def _apart(side: Side, own: Scoped, other: Scoped) -> Side:
    """Return a side where "unsafe" is "not safe", if the other one says "safe"."""
    if own.opposites.isdisjoint(other.words):
        return side
    negation = "nicht" if own.language == "de" else "not"

    def apart(found: re.Match[str]) -> str:
        root = found["root"]
        return f"{negation} {root}" if root.casefold() in other.words else found.group()

    return Side("", Kind.FACT, PREFIXED.sub(apart, side.text))
