"""Finds how two frames disagree: they say the same of one thing, but for one word or number.

Words are matched by their stems. What is left over must be the two words that cannot both hold,
what belongs to them, or what limits neither frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from concord_reading.frame import Aspect, Frame, Kind, Role, Word
from concord_reading.lexicon import lexicon
from concord_reading.quantities import Date, Quantity, Same

from concord_dissonance.domain.judges.attributes import Named, Phase, Values, named_by
from concord_dissonance.domain.judges.opposites import Compared, compare, is_same_name
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import Abstained, Older, Reason


class Effect(Enum):
    """What a disagreement makes of two frames."""

    CONTRADICTS = "contradicts"
    LIMITS = "limits"
    """One is an exception to the other, or lies within it."""
    FOLLOWS = "follows"
    """One says that what the other says has begun or ended."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two frames that cannot both hold of one time without limits."""

    reason: Reason
    rule: str
    """Its rule; `rules.txt` lists each one's precision."""
    first: Frame
    second: Frame
    effect: Effect = Effect.CONTRADICTS
    older: Older = Older.NEITHER
    """Of one that follows: the side with the former state."""


def disagreement(one: Frame, other: Frame, rules: Rules) -> Disagreement | Abstained:
    """Compare two asserted frames of one language."""
    return _Pair(one, other, rules).judged()


class _Pair:
    def __init__(self, one: Frame, other: Frame, rules: Rules) -> None:
        self._one, self._other, self._rules = one, other, rules
        self._mine, self._yours = _content(one), _content(other)
        self._matched = list(_matches(self._mine, self._yours, one.language, rules))
        mine = {id(each) for each, _ in self._matched}
        yours = {id(each) for _, each in self._matched}
        self._left = [each for each in self._mine if id(each) not in mine]
        self._right = [each for each in self._yours if id(each) not in yours]

    def judged(self) -> Disagreement | Abstained:
        if self._one.has_exception or self._other.has_exception:
            return Abstained.OTHER_SCOPE
        if not any(_identifies(a) or _identifies(b) for a, b in self._matched):
            return Abstained.NO_COMPARABLE_SUBJECT
        compared = _comparative(self._one), _comparative(self._other)
        if any(compared) and (said := self._compared(*compared)) is not None:
            return said
        found = self._pivot()
        if found is None:
            return self._without_pivot()
        one, other, why = found
        if "some" in (self._one.quantifier, self._other.quantifier):
            return Abstained.OTHER_SCOPE
        is_value = why.reason in (Reason.NUMBER, Reason.QUANTITY) or bool(self._attributes)
        is_value = is_value and why.reason is not Reason.DATE
        limits = self._uncovered(one, other, is_value=is_value)
        effect = Effect.CONTRADICTS
        if any(limits):
            if not is_value or why.reason is Reason.DATE or not self._is_limit(limits):
                return Abstained.TOO_DIFFERENT
            effect = Effect.LIMITS
        if why.reason is not Reason.TWO_VALUES and not self._says_enough(one, other):
            return Abstained.NO_COMPARABLE_ATTRIBUTE
        if Kind.VERB in (one.kind, other.kind) and not self._same_doer():
            return Abstained.NO_COMPARABLE_SUBJECT
        if self._one.is_denied or self._other.is_denied:
            return Abstained.UNKNOWN_FILLERS
        if self._is_of_other_time(why):
            return Abstained.OTHER_TIME
        if effect is Effect.LIMITS:
            return self._said(why.reason, "limit", effect)
        return self._by_phase(why) or self._said(why.reason, why.family)

    def _said(
        self,
        reason: Reason,
        rule: str,
        effect: Effect = Effect.CONTRADICTS,
        older: Older = Older.NEITHER,
    ) -> Disagreement:
        return Disagreement(
            reason, rule or reason.rule, self._one, self._other, effect, older
        )

    # -- two words that cannot both hold

    def _pivot(self) -> tuple[Word, Word, Compared] | None:
        for one in self._left:
            for other in self._right:
                why = compare(one, other, self._one.language, self._rules)
                if why.same is Same.NO and self._can_be_values(one, other, why):
                    return one, other, why
        for one in self._left:
            for other in self._right:
                if self._is_one_valued(one, other):
                    return one, other, Compared(Same.NO, Reason.TWO_VALUES, "attribute")
        return None

    def _says_enough(self, one: Word, other: Word) -> bool:
        """Whether more than a person is shared, or nothing else is said of it."""
        if any(a.kind is not Kind.PERSON for a, _ in self._matched):
            return True
        return self._left == [one] and self._right == [other]

    def _can_be_values(self, one: Word, other: Word, why: Compared) -> bool:
        names = _names(one, self._one), _names(other, self._other)
        if any(names):
            heads = _head(one, self._one), _head(other, self._other)
            return all(names) and bool(self._attributes) and all(heads) and self._same(*heads)
        if why.reason in (Reason.NUMBER, Reason.QUANTITY):
            return self._measures_same(one, other)
        if why.reason is Reason.DATE:
            return self._is_dating(one, self._one) and self._is_dating(other, self._other)
        words = lexicon(self._one.language)
        many = (Role.COMPLEMENT in (one.role, other.role)) and all(
            word is None or words.has(word.key, "many valued") for word in self._verbs
        )
        if many and _head(one, self._one) is self._verbs[0]:
            return False
        owners = _owner(one, self._one), _owner(other, self._other)
        if _is_head_of_subject(one, self._one) or _is_head_of_subject(other, self._other):
            return False
        return (all(owners) and self._same(*owners)) or self._predicates(one, other)

    def _predicates(self, one: Word, other: Word) -> bool:
        """Whether two words are what the frames say of one thing, and not what names it."""
        return _is_said(one, self._one) and _is_said(other, self._other)

    def _measures_same(self, one: Word, other: Word) -> bool:
        """Whether two numbers count or measure the same thing."""
        heads = _head(one, self._one), _head(other, self._other)
        if self._attributes and self._own_attributes_agree:
            return True
        if all(heads) and self._same(*heads):
            return True
        is_measure = isinstance(one.value, Quantity) and one.value.dimension not in ("", "ordinal")
        if is_measure and one.value.dimension in ("time", "months"):
            verbs = self._verbs
            return all(verbs) and (self._same(*verbs) or all(map(_is_copula, (self._one, self._other))))
        return is_measure and self._own_attributes_agree and (
            Role.SUBJECT not in (one.role, other.role)
        )

    @property
    def _verbs(self) -> tuple[Word | None, Word | None]:
        one, other = (
            frame.words[frame.verb] if frame.verb >= 0 else None
            for frame in (self._one, self._other)
        )
        return one, other

    def _is_dating(self, word: Word, frame: Frame) -> bool:
        """Whether a date says when something is, and not only when a claim held."""
        dated = {"start", "end", "birth", "death", "founding"}
        return any(each.attribute in dated for each in self._attributes) or (
            frame.aspect is Aspect.EVENT and word.link in ("in", "on", "at", "am", "im", "um")
            and self._is_once
        )

    @cached_property
    def _is_once(self) -> bool:
        """Whether both frames tell of one thing that happened once: all but the date is shared."""
        return all(
            each.aspect is Aspect.EVENT and any(_is_definite_object(w, each) for w in each.words)
            for each in (self._one, self._other)
        )

    def _is_one_valued(self, one: Word, other: Word) -> bool:
        """Whether two names are values of an attribute that holds one at a time."""
        kinds = {Kind.NAME, Kind.NOUN, Kind.PERSON}
        if one.kind not in kinds or other.kind not in kinds or is_same_name(one, other):
            return False
        if {one.kind, other.kind}.isdisjoint({Kind.NAME, Kind.PERSON}):
            return False
        said = tuple(
            _is_identity(word, frame) or self._is_value(word, frame)
            for word, frame in ((one, self._one), (other, self._other))
        )
        return all(said)

    def _is_value(self, word: Word, frame: Frame) -> bool:
        """Whether a word is the value of an attribute that both frames name."""
        if _is_modifier(word, frame) or word.link not in _VALUE_LINKS:
            return False
        is_subject = word.role is Role.SUBJECT
        kinds = {each.values for each in self._attributes}
        if Values.SUBJECT in kinds and (is_subject or word.link in ("by", "von")):
            return True
        head = _head(word, frame)
        return Values.OBJECT in kinds and not is_subject and head is not None and any(
            each in self._attributes for each in named_by(head, frame)
        )

    @cached_property
    def _attributes(self) -> frozenset[Named]:
        """The attributes that both frames name."""
        shared = {each.attribute for each in self._named[0]} & {
            each.attribute for each in self._named[1]
        }
        return frozenset(
            each for side in self._named for each in side if each.attribute in shared
        )

    @cached_property
    def _named(self) -> tuple[frozenset[Named], frozenset[Named]]:
        return _named(self._one), _named(self._other)

    @cached_property
    def _own_attributes_agree(self) -> bool:
        return not (self._named[0] and self._named[1]) or bool(self._attributes)

    # -- what is left over

    def _uncovered(
        self, one: Word | None, other: Word | None, *, is_value: bool = False
    ) -> tuple[list[Word], list[Word]]:
        """Return the words that are left over on each side, and may limit its frame.

        `is_value`: two values of one attribute differ, however the verbs are called.
        """
        left: list[list[Word]] = []
        has_more = False
        for side, words, frame, pivot in (
            (0, self._left, self._one, one),
            (1, self._right, self._other, other),
        ):
            modifies = self._modifies(frame, side)
            found = [
                each
                for each in words
                if each is not pivot
                and not self._is_free(each, frame, pivot)
                and not (is_value and each.kind is Kind.VERB)
            ]
            if found and all(map(modifies, found)) and not (side and has_more):
                has_more, found = True, []
            left.append(found)
        return left[0], left[1]

    def _is_limit(self, left: Sequence[Sequence[Word]]) -> bool:
        """Whether one side alone says more, in one phrase that tells where or when it holds."""
        said = [each for each in left if each]
        if len(said) > 1:
            return False
        frame = self._one if left[0] else self._other
        links = lexicon(frame.language).words["scoping"]
        heads = [each for each in said[0] if each.link in links and each.role is Role.ADJUNCT]
        return len(heads) == 1 and all(
            each is heads[0] or _hangs_on(each, heads[0], frame) for each in said[0]
        )

    def _is_covered(self, one: Word | None, other: Word | None) -> bool:
        """Whether all that is left over limits neither frame."""
        return not any(self._uncovered(one, other))

    def _is_free(self, word: Word, frame: Frame, pivot: Word | None) -> bool:
        if pivot is not None and pivot.role is not Role.PREDICATE:
            governs = _hangs_on(pivot, word, frame) and word.role is not Role.SUBJECT
            if governs or _hangs_on(word, pivot, frame):
                return True
        if isinstance(word.value, Date) and word.role is Role.ADJUNCT:
            return True
        at = word
        while at.head >= 0 and at.role is Role.ADJUNCT and at.link == "":
            at = frame.words[at.head]
        if at.role is Role.ADJUNCT and at.link in lexicon(frame.language).words["reasons"]:
            return True
        if frame.aspect in (Aspect.EVENT, Aspect.CHANGE) and word.role is Role.ADJUNCT and (
            lexicon(frame.language).has(lexicon(frame.language).stem(word.key), "time words")
        ):
            return True
        if frame.language == "de" or word.role is not Role.SUBJECT or word.kind is not Kind.NAME:
            shared = {each.attribute for each in self._attributes}
            if any(each.attribute in shared for each in named_by(word, frame)):
                return True
        return (
            word.kind is Kind.ADVERB and not lexicon(frame.language).has(word.key, "limiting")
        ) or lexicon(frame.language).has(word.key, "neutral")

    def _modifies(self, frame: Frame, side: int) -> Callable[[Word], bool]:
        """Return whether a word only says more of a thing that both frames name."""
        shared = {id(pair[side]) for pair in self._matched}

        def modifies(word: Word) -> bool:
            head = _head(word, frame)
            if head is None or word.kind in (Kind.VERB, Kind.VALUE):
                return False
            return (id(head) in shared and head.is_definite) or modifies(head)

        return modifies

    # -- no such words: a denial, or nothing

    def _without_pivot(self) -> Disagreement | Abstained:
        limits = self._uncovered(None, None)
        if any(limits) and not self._denies_all(limits):
            return Abstained.TOO_DIFFERENT if self._left or self._right else Abstained.UNDECLARED
        if not any(limits) and not self._subjects_match():
            return Abstained.NO_COMPARABLE_SUBJECT
        if self._is_of_other_time(None):
            return Abstained.OTHER_TIME
        if followed := self._by_phase(None):
            return followed
        mine, yours = self._one, self._other
        if mine.is_denied == yours.is_denied:
            return Abstained.NOTHING_TO_COMPARE
        denied, said = (mine, yours) if mine.is_denied else (yours, mine)
        more = self._left if denied is mine else self._right
        if (denied.quantifier != "none" or said.quantifier != "some") and "some" in (
            denied.quantifier,
            said.quantifier,
        ):
            return Abstained.OTHER_SCOPE
        scoping = lexicon(denied.language).words["scoping"]
        if any(each.link in scoping and each.value is None for each in more):
            return self._said(Reason.NEGATION, "denial in part", Effect.LIMITS)
        return self._said(Reason.NEGATION, "denial")

    def _same_doer(self) -> bool:
        """Whether the subject of each frame is the other's, or in the passive its object."""
        for side, frame in enumerate((self._one, self._other)):
            subject = _subject(frame)
            pair = next((each for each in self._matched if each[side] is subject), None)
            if pair is not None:
                there = pair[1 - side]
                if there.role is not Role.SUBJECT and there.link not in ("", "by", "von"):
                    return False
        return True

    def _denies_all(self, limits: tuple[list[Word], list[Word]]) -> bool:
        """Whether one side alone says more, and the other denies all the rest: "was never thrown
        away" and "threw it into the river"."""
        if self._one.is_denied == self._other.is_denied:
            return False
        denied = limits[0] if self._one.is_denied else limits[1]
        verbs = self._verbs
        same_verb = all(verbs) and self._same(*verbs)
        return not denied and len(self._matched) > 2 and same_verb

    def _subjects_match(self) -> bool:
        return all(
            any(word is pair[side] for pair in self._matched)
            for side, frame in enumerate((self._one, self._other))
            if (word := _subject(frame)) is not None and not _is_light(word, frame)
        )

    # -- comparatives

    def _compared(
        self, one: tuple[Word, Word] | None, other: tuple[Word, Word] | None
    ) -> Disagreement | Abstained | None:
        if one is None or other is None:
            return Abstained.NO_COMPARABLE_ATTRIBUTE
        swapped = self._share(one[0], other[1]) and self._share(one[1], other[0])
        straight = self._share(one[0], other[0]) and self._share(one[1], other[1])
        if not swapped and not straight:
            return Abstained.NO_COMPARABLE_SUBJECT
        if self._one.is_denied or self._other.is_denied:
            return Abstained.UNKNOWN_FILLERS
        pivot = self._pivot()
        opposed = pivot is not None and pivot[2].reason is Reason.ANTONYM
        if not self._is_covered(*(pivot[:2] if pivot else (None, None))):
            return Abstained.TOO_DIFFERENT
        if Aspect.EVENT in (self._one.aspect, self._other.aspect) and self._is_of_other_time(None):
            return Abstained.OTHER_TIME
        if opposed == swapped:
            return Abstained.NOTHING_TO_COMPARE
        return self._said(Reason.ANTONYM, "comparative")

    # -- time

    def _is_of_other_time(self, why: Compared | None) -> bool:
        one, other = self._one, self._other
        dates = [
            [each for each in side if isinstance(each.value, Date)]
            for side in (self._left, self._right)
        ]
        if all(dates) and (why is None or why.reason is not Reason.DATE):
            return True
        aspects = {one.aspect, other.aspect}
        changes = any(each.phase is not Phase.HOLDS for each in self._attributes)
        same_date = any(isinstance(a.value, Date) for a, _ in self._matched)
        measured = why is not None and why.reason in (Reason.NUMBER, Reason.QUANTITY)
        if aspects <= {Aspect.EVENT, Aspect.PAST_STATE} and measured:
            return not (same_date or self._is_origin)
        if Aspect.EVENT not in aspects or (changes and aspects != {Aspect.EVENT}):
            return False
        if aspects != {Aspect.EVENT}:
            return not self._is_origin
        if one.is_denied != other.is_denied and "nie" in (one.adverbs | other.adverbs):
            return False
        return not (same_date or self._is_once or self._is_origin)

    @property
    def _is_origin(self) -> bool:
        once = {"origin", "birth", "death", "founding"}
        return any(each.attribute in once for each in self._attributes)

    def _by_phase(self, why: Compared | None) -> Disagreement | None:
        """Return that one frame tells how what the other says began or ended."""
        phases = [
            {each.phase for each in side if each in self._attributes} for side in self._named
        ]
        ends = [Phase.ENDS in each for each in phases]
        begins = [Phase.BEGINS in each for each in phases]
        if any(each.is_denied for each in (self._one, self._other)):
            return None
        changed = ends if why is None or ends[0] != ends[1] else begins
        if changed[0] == changed[1] or (why is None and any(begins)):
            return None
        older = Older.SECOND if changed[0] else Older.FIRST
        return self._said(Reason.WORDS_OF_CHANGE, "change", Effect.FOLLOWS, older)

    def _share(self, one: Word, other: Word) -> bool:
        """Whether two phrases name the same thing."""
        return any(
            (a is one or _hangs_on(a, one, self._one))
            and (b is other or _hangs_on(b, other, self._other))
            for a, b in self._matched
        )

    def _same(self, one: Word, other: Word) -> bool:
        return any(a is one and b is other for a, b in self._matched)


_VALUES = (Reason.NUMBER, Reason.QUANTITY, Reason.DATE)
_VALUE_LINKS = frozenset({"", "at", "in", "on", "to", "for", "by", "with", "from", "of", "as"})


def _content(frame: Frame) -> list[Word]:
    return [each for each in frame.words if not _is_light(each, frame)]


def _is_light(word: Word, frame: Frame) -> bool:
    """Whether a word adds nothing: "be", "have", somebody unknown."""
    words = lexicon(frame.language)
    light = words.has(word.key, "light") or words.has(word.key, "counting")
    return (word.kind is Kind.PERSON and not word.key) or (light and word.kind is not Kind.NAME)


def _matches(
    mine: Sequence[Word], yours: Sequence[Word], language: str, rules: Rules
) -> Iterator[tuple[Word, Word]]:
    free = list(yours)
    for one in mine:
        for other in free:
            same = compare(one, other, language, rules).same is Same.YES and (
                (one.kind is Kind.VALUE) == (other.kind is Kind.VALUE)
            )
            if same or is_same_name(one, other):
                free.remove(other)
                yield one, other
                break


def _identifies(word: Word) -> bool:
    """Whether a word names one thing: a name, a person, a noun with "the"."""
    return word.is_definite and word.kind in (Kind.NAME, Kind.PERSON, Kind.NOUN)


def _names(word: Word, frame: Frame) -> bool:
    """Whether a number names what stands before it: "hall 3", "ticket 311"."""
    if not isinstance(word.value, Quantity) or word.value.dimension not in ("", "ordinal"):
        return False
    if word.link:
        return False
    head = _head(word, frame)
    return head is not None and head.kind in (Kind.NOUN, Kind.NAME) and head.end + 1 == word.start


def _head(word: Word, frame: Frame) -> Word | None:
    return frame.words[word.head] if word.head >= 0 else None


def _owner(word: Word, frame: Frame) -> Word | None:
    """Return the thing that a word is said of: its noun, or the subject."""
    head = _head(word, frame)
    if head is not None and head.kind in (Kind.NOUN, Kind.NAME):
        return head
    return _subject(frame)


def _hangs_on(word: Word, head: Word, frame: Frame) -> bool:
    at, steps = word, 0
    while at.head >= 0 and steps < len(frame.words):
        at, steps = frame.words[at.head], steps + 1
        if at is head:
            return True
    return False


def _is_modifier(word: Word, frame: Frame) -> bool:
    """Whether a word stands before the noun that it belongs to: "the Berlin office"."""
    head = _head(word, frame)
    return head is not None and head.kind in (Kind.NOUN, Kind.NAME) and word.link in ("", "of")


def _is_said(word: Word, frame: Frame) -> bool:
    """Whether a word is what the frame says of its subject."""
    head = _head(word, frame)
    return word.role is not Role.SUBJECT and (
        head is None
        or Role.PREDICATE in (word.role, head.role)
        or (word.kind is Kind.ADJECTIVE and word.start > head.end)  # "keep the bridge open"
    )


def _is_copula(frame: Frame) -> bool:
    return frame.verb >= 0 and lexicon(frame.language).has(frame.words[frame.verb].key, "copula")


def _is_identity(word: Word, frame: Frame) -> bool:
    """Whether a frame says who or what some definite thing is: "The treasurer is Maeve"."""
    if not _is_copula(frame) or word.link:
        return False
    if word.role not in (Role.SUBJECT, Role.COMPLEMENT):
        return False
    other_role = Role.COMPLEMENT if word.role is Role.SUBJECT else Role.SUBJECT
    return any(
        each.role is other_role and each.is_definite and each.kind is Kind.NOUN and not each.link
        for each in frame.words
    )


def _is_head_of_subject(word: Word, frame: Frame) -> bool:
    return word is _subject(frame)


def _subject(frame: Frame) -> Word | None:
    heads = {frame.verb, -1}
    return next(
        (e for e in frame.words if e.role is Role.SUBJECT and e.head in heads), None
    )


def _is_definite_object(word: Word, frame: Frame) -> bool:
    return word.role in (Role.COMPLEMENT, Role.SUBJECT) and word.is_definite and (
        word.kind in (Kind.NOUN, Kind.NAME)
    )


def _named(frame: Frame) -> frozenset[Named]:
    found = {each for word in frame.words for each in named_by(word, frame)}
    said = [e for e in frame.words if e.head == frame.verb and e.role is not Role.SUBJECT]
    if _is_copula(frame) and said and all(isinstance(each.value, Date) for each in said):
        found.add(Named("start", Phase.HOLDS, Values.NUMBER))
    return frozenset(found)


def _comparative(frame: Frame) -> tuple[Word, Word] | None:
    """Return the two things that a frame compares."""
    than = next((each for each in frame.words if each.link in ("than", "als")), None)
    subject = _subject(frame)
    if subject is not None and subject.kind is Kind.NOUN:
        names = (e for e in frame.words if e.kind is Kind.NAME and _head(e, frame) is subject)
        subject = next((each for each in names if not each.link), subject)
    return (subject, than) if than is not None and subject is not None else None
