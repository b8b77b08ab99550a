"""Finds which theses contradict each other, and which are merely open to interpretation.

Dissonance's judges compare the texts of claims, without stated times, sources and scopes: first as
written, then without the regions, times and statutes that they name, then also without the
circumstances. The omitted parts decide how a contradiction is resolved, not whether it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from concord_dissonance.domain.dialectic.alignment import align
from concord_dissonance.domain.dialectic.answers import (
    NO_QUESTION,
    Answer,
    Question,
    Read,
    agree,
    differ,
    share,
    spoken,
)
from concord_dissonance.domain.dialectic.legal import rank, regions, without_references
from concord_dissonance.domain.dialectic.numerals import in_figures
from concord_dissonance.domain.dialectic.phrases import PHRASES
from concord_dissonance.domain.dialectic.theses import Thesis
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import Kind, Micros, Rules, Side
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
"""The confidence in a contradiction that only the question shows: by the development inputs."""
DENIALS = frozenset(
    {Reason.NEGATION, Reason.ANTONYM, Reason.EXCLUSIVE_WORDS, Reason.EXCLUSIVE_VALUES}
)
"""Reasons for which one claim denies the other, rather than names another value."""
_UNDECIDED = frozenset({Abstained.UNKNOWN_FILLERS, Abstained.TOO_DIFFERENT})
_VALUE_WORDS = 3
"""Most words of a value: a number with its unit and its bound."""
_WORD = re.compile(r"[^\W\d_]+")
_PREFIXED = re.compile(
    r"\b(?:un|in|im|ir|il|dis|non-?|nicht)(?P<root>[^\W\d_]{4,})\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Scoped:
    """A thesis with its region, time and circumstances: as stated, else as its words name them."""

    thesis: Thesis
    question: Question = NO_QUESTION
    """What it answers."""

    @cached_property
    def answer(self) -> Answer:
        """Its claim as an answer."""
        text, language = self.thesis.claim, self.language
        return Answer(_tidy(self._core, language), language, self.question, text)

    @cached_property
    def language(self) -> str:
        """The language of its claim: its question's, if there is one."""
        return self.question.language if self.question.text else spoken(self.thesis.claim)

    @cached_property
    def regions(self) -> frozenset[str]:
        """The regions, folded: those stated or named, else those of the statutes in its basis."""
        if self.thesis.region:
            return frozenset({PHRASES.region(self.thesis.region)})
        return PHRASES.regions(self.thesis.claim) or regions(self.thesis.legal_basis)

    @cached_property
    def time(self) -> Micros | None:
        """The time from which it holds; None: unknown."""
        stated = self.thesis.valid_from
        return PHRASES.time(self.thesis.claim) if stated is None else stated

    @cached_property
    def version(self) -> tuple[int, ...] | None:
        """The version of what it speaks of; None: unknown."""
        return PHRASES.version(self.thesis.claim)

    @cached_property
    def begins(self) -> bool:
        """Whether it says from when, or that something holds now."""
        return PHRASES.begins(self.thesis.claim)

    @cached_property
    def ends(self) -> bool:
        """Whether it says until when, or that something held once."""
        return PHRASES.ends(self.thesis.claim)

    @cached_property
    def is_changed(self) -> bool:
        """Whether it says that it was otherwise before: "since", "no longer"."""
        return PHRASES.has("changed", self.thesis.claim)

    @cached_property
    def circumstances(self) -> frozenset[str]:
        """The circumstances under which it holds, folded."""
        stated = self.thesis.context.casefold().strip()
        return frozenset({stated}) if stated else self.named_circumstances

    @cached_property
    def named_circumstances(self) -> frozenset[str]:
        """The circumstances that its claim names, without those that its question names."""
        named = PHRASES.circumstances(self._core)
        asked = self.question.content
        if not asked:
            return named
        return frozenset(e for e in named if not Read(e, self.language).content <= asked)

    @cached_property
    def perspective(self) -> str:
        """The point of view that it names; else empty."""
        return PHRASES.perspective(f"{self.thesis.claim} {self.thesis.context}")

    @cached_property
    def rank(self) -> int | None:
        """The highest rank in its legal basis; None: unknown."""
        return rank(self.thesis.legal_basis)

    @cached_property
    def is_partial(self) -> bool:
        """Whether it claims something of some cases only."""
        return PHRASES.is_partial(self.thesis.claim)

    @property
    def is_superseded(self) -> bool:
        """Whether the memory that states it is superseded."""
        return self.thesis.memory is not None and self.thesis.memory.is_superseded

    @cached_property
    def is_past(self) -> bool:
        """Whether it speaks of the past."""
        return PHRASES.is_past(self.thesis.claim)

    @cached_property
    def is_legal(self) -> bool:
        """Whether it has a legal basis, or speaks of law."""
        return bool(self.thesis.legal_basis) or PHRASES.is_legal(self.thesis.claim)

    @cached_property
    def is_of_method(self) -> bool:
        """Whether it says how it was found out."""
        return PHRASES.is_of_method(f"{self.thesis.claim} {self.thesis.context}")

    @cached_property
    def methods(self) -> frozenset[str]:
        """The methods that it names by which it was found out."""
        found = PHRASES.methods(f"{self.thesis.claim} {self.thesis.context}")
        return found | {each for each in self.circumstances if PHRASES.is_of_method(each)}

    @cached_property
    def views(self) -> Sequence[Side]:
        """The claim as written, without its scope, and also without its circumstances."""
        core = self._core
        texts = [
            in_figures(text, self.language)
            for text in (self.thesis.claim, core, PHRASES.without_circumstances(core))
        ]
        worded = [_tidy(PHRASES.in_one_word(text), self.language) for text in texts]
        sides = {text: Side("", Kind.FACT, text) for text in worded}
        return [sides[text] for text in worded]

    @cached_property
    def words(self) -> Set[str]:
        """The words of its claim, folded."""
        return {each.casefold() for view in self.views for each in _WORD.findall(view.text)}

    @cached_property
    def opposites(self) -> Set[str]:
        """The roots of its words with a negating prefix: "safe" for "unsafe"."""
        found = (_PREFIXED.fullmatch(word) for word in self.words)
        return {each["root"] for each in found if each}

    @cached_property
    def _core(self) -> str:
        text = PHRASES.without_attribution(without_references(self.thesis.claim))
        text = PHRASES.without_now_and_then(PHRASES.without_times(text))
        return PHRASES.without_regions(text)


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
        return any(map(_is_open, said[:2], one.views, other.views))
    if reason is not None:
        scopeless = plain = reason is not Reason.DATE
        clashing.append(_verdict(reason))
    is_denial = clashing[0].reason in DENIALS
    if plain and not (is_denial or _are_apart(one, other) or _is_special(one, other)):
        return False
    return Clash(0, 1, clashing[0], scopeless, plain)


def _verdict(reason: Reason) -> Verdict:
    kind = ConflictType.TEMPORAL if reason is Reason.DATE else None
    return Verdict(ConflictClass.CONTRADICTION, Judge.LEXICAL, reason, CONFIDENCE, type=kind)


def _can_both_hold(one: Scoped, other: Scoped) -> bool:
    """Whether two theses tell two points of view, two methods, or of some cases each.

    How good something is differs by whom it is good for.
    """
    if one.is_partial and other.is_partial:
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
    return (one.ends and other.begins and not other.ends) or (
        other.ends and one.begins and not one.ends
    )


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
    if not regions_differ(one, other) and not _follow(one, other):
        return None
    is_asked = first.asked() and second.asked()
    if agree(first, second) or not (is_asked or share(first.topic, second.topic)):
        return None
    alike = first.topic <= second.topic or second.topic <= first.topic
    return None if alike else Reason.TWO_VALUES


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


def _is_open(said: Verdict | Abstention, first: Side, second: Side) -> bool:
    """Whether two sentences differ in one word or value, and nothing shows whether both hold."""
    if isinstance(said, Verdict) or said.reason not in _UNDECIDED:
        return False
    clauses = first.reading.clauses, second.reading.clauses
    if not len(clauses[0]) == len(clauses[1]) == 1:
        return False
    one, other = clauses[0][0], clauses[1][0]
    fillers = align(one, other)
    most = _VALUE_WORDS if one.values and other.values else 1
    return len(fillers) == 1 and max(len(fillers[0].first), len(fillers[0].second)) <= most


def _tidy(text: str, language: str) -> str:
    """Return a text without the blanks and commas that omissions leave.

    In German the verb comes first once the words before it, such as a region, are left out.
    """
    text = " ".join(text.split()).strip(" ,")
    return f"Dort {text}" if language == "de" and text[:1].islower() else text


def _apart(side: Side, own: Scoped, other: Scoped) -> Side:
    """Return a side where "unsafe" is "not safe", if the other one says "safe"."""
    if own.opposites.isdisjoint(other.words):
        return side
    negation = "nicht" if side.reading.language == "de" else "not"

    def apart(found: re.Match[str]) -> str:
        root = found["root"]
        return f"{negation} {root}" if root.casefold() in other.words else found.group()

    return Side("", Kind.FACT, _PREFIXED.sub(apart, side.text))
