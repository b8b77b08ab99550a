"""Two frames side by side: the words that they share, and those that are left over."""

from __future__ import annotations

from functools import cached_property

from concord_reading.frame import Aspect, Frame, Kind, Role, Word
from concord_reading.lexicon import Lexicon, lexicon
from concord_reading.quantities import Date

from concord_dissonance.domain.judges.attributes import Named, named_by
from concord_dissonance.domain.judges.places import (
    content,
    hangs_on,
    head_of,
    is_definite_object,
    is_light,
    matches,
    named_in,
    verb_of,
)
from concord_dissonance.domain.sides import Rules

_ONCE = frozenset({"origin", "birth", "death", "founding"})
"""Attributes of what happens once to a thing."""


class Aligned:
    """Two frames of one language; `matched`: the words that mean the same, in pairs.

    `left` and `right`: the other words of content of the first frame, and of the second.
    """

    def __init__(self, one: Frame, other: Frame, rules: Rules) -> None:
        self.one, self.other, self.rules = one, other, rules
        mine, yours = content(one), content(other)
        self.matched = list(matches(mine, yours, one.language, rules))
        in_both = {id(each) for pair in self.matched for each in pair}
        self.left = [each for each in mine if id(each) not in in_both]
        self.right = [each for each in yours if id(each) not in in_both]

    @property
    def frames(self) -> tuple[Frame, Frame]:
        """Both frames."""
        return self.one, self.other

    @property
    def lexicon(self) -> Lexicon:
        """The words of their language."""
        return lexicon(self.one.language)

    def same(self, one: Word | None, other: Word | None) -> bool:
        """Whether a word of the first frame means what one of the second does."""
        return any(a is one and b is other for a, b in self.matched)

    def share(self, one: Word, other: Word) -> bool:
        """Whether two phrases name the same thing."""
        return any(
            (a is one or hangs_on(a, one, self.one))
            and (b is other or hangs_on(b, other, self.other))
            for a, b in self.matched
        )

    @cached_property
    def named(self) -> tuple[frozenset[Named], frozenset[Named]]:
        """The attributes that each frame names."""
        return named_in(self.one), named_in(self.other)

    @cached_property
    def attributes(self) -> frozenset[Named]:
        """The attributes that both frames name, each with all its phases."""
        one, other = ({each.attribute for each in side} for side in self.named)
        return frozenset(e for side in self.named for e in side if e.attribute in one & other)

    @property
    def attributes_agree(self) -> bool:
        """Whether no attribute is named, or only by one frame, or one by both."""
        return not all(self.named) or bool(self.attributes)

    @property
    def same_verb(self) -> bool:
        """Whether the frames have one verb, or only say what something is."""
        verbs = verb_of(self.one), verb_of(self.other)
        light = all(each is not None and is_light(each, self.one) for each in verbs)
        return light or self.same(*verbs)

    @property
    def is_once(self) -> bool:
        """Whether both frames tell what happened to the same definite thing."""
        things = [a for a, b in self.matched if is_definite_object(a) and is_definite_object(b)]
        aspects = {self.one.aspect, self.other.aspect}
        return aspects == {Aspect.EVENT} and len(things) > 1

    @property
    def is_origin(self) -> bool:
        """Whether both frames tell what happens once to a thing: its birth, its founding."""
        return any(each.attribute in _ONCE for each in self.attributes)

    @property
    def has_same_date(self) -> bool:
        """Whether both frames name one date."""
        return any(isinstance(a.value, Date) for a, _ in self.matched)

    def subjects_match(self) -> bool:
        """Whether both frames are about the same subject."""
        return all(
            any(word is pair[side] for pair in self.matched)
            for side, frame in enumerate(self.frames)
            if (word := frame.subject) is not None and not is_light(word, frame)
        )

    def same_doer(self) -> bool:
        """Whether the subject of each frame is the other's, or in the passive its object."""
        for side, frame in enumerate(self.frames):
            subject = frame.subject
            pair = next((each for each in self.matched if each[side] is subject), None)
            there = pair[1 - side] if pair is not None else None
            does = there is None or there.role is Role.SUBJECT or there.link in ("", "by", "von")
            if not does:
                return False
        return True

    # -- what is left over

    def uncovered(
        self, one: Word | None = None, other: Word | None = None
    ) -> tuple[list[Word], list[Word]]:
        """Return the words left over on each side that may limit what its frame says.

        `one` and `other` are what is compared. More about a definite thing limits nothing, unless
        each side says its own: "the train to Bern", "the train to Basel".
        """
        mine = self._limiting(0, self.left, one)
        yours = self._limiting(1, self.right, other)
        if mine and not yours and all(self._says_more(each, 0) for each in mine):
            mine = []
        elif yours and not mine and all(self._says_more(each, 1) for each in yours):
            yours = []
        return mine, yours

    def _limiting(self, side: int, words: list[Word], pivot: Word | None) -> list[Word]:
        frame = self.frames[side]
        return [
            each
            for each in words
            if each is not pivot
            and not (pivot is not None and self._belongs(each, pivot, frame))
            and not self._is_free(each, frame)
        ]

    def _belongs(self, word: Word, pivot: Word, frame: Frame) -> bool:
        """Whether a word is part of the phrase of the compared one, which is no verb."""
        if pivot.role is Role.PREDICATE or (word.kind is Kind.VERB and self._verbs_differ):
            return False
        governs = hangs_on(pivot, word, frame) and word.role is not Role.SUBJECT
        return governs or hangs_on(word, pivot, frame)

    @cached_property
    def _verbs_differ(self) -> bool:
        """Whether each frame has a verb of its own that names no shared attribute."""
        return all(
            any(each.kind is Kind.VERB and not self._is_free(each, frame) for each in words)
            for words, frame in ((self.left, self.one), (self.right, self.other))
        )

    def _is_free(self, word: Word, frame: Frame) -> bool:
        """Whether a word tells when or why, names the attribute, or adds nothing."""
        if word.role is Role.ADJUNCT and (
            isinstance(word.value, Date) or self._tells_why(word, frame)
        ):
            return True
        happened = frame.aspect in (Aspect.EVENT, Aspect.CHANGE) and word.role is Role.ADJUNCT
        if happened and self.lexicon.has(self.lexicon.stem(word.key), "time words"):
            return True
        is_own_name = frame.language == "en" and word.kind is Kind.NAME
        if not (is_own_name and word.role is Role.SUBJECT):
            shared = {each.attribute for each in self.attributes}
            if any(each.attribute in shared for each in named_by(word, frame)):
                return True
        plain = word.kind is Kind.ADVERB and not self.lexicon.has(word.key, "limiting")
        return plain or self.lexicon.has(word.key, "neutral")

    def _tells_why(self, word: Word, frame: Frame) -> bool:
        while word.head >= 0 and word.role is Role.ADJUNCT and not word.link:
            word = frame.words[word.head]
        return word.role is Role.ADJUNCT and word.link in self.lexicon.words["reasons"]

    def _says_more(self, word: Word, side: int) -> bool:
        """Whether a word only says more of a definite thing that both frames name."""
        head = head_of(word, self.frames[side])
        if head is None or word.kind in (Kind.VERB, Kind.VALUE):
            return False
        shared = any(head is pair[side] for pair in self.matched)
        return (shared and head.is_definite) or self._says_more(head, side)
