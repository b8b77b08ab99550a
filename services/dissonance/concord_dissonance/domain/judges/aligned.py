"""Two frames side by side: the words that they share, and those that are left over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from concord_reading.frame import Aspect, Frame, Kind, Role, Word
from concord_reading.lexicon import Lexicon, lexicon
from concord_reading.quantities import Date

from concord_dissonance.domain.judges.attributes import Named, named_by
from concord_dissonance.domain.judges.places import (
    content,
    hangs_on,
    head_of,
    is_copula,
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
    def is_origin(self) -> bool:
        """Whether both frames tell what happens once to a thing: its birth, its founding."""
        verbs = ((e, frame) for frame in self.frames for e in frame.words if e.kind is Kind.VERB)
        named = (one for verb, frame in verbs for one in named_by(verb, frame))
        return any(each.attribute in _ONCE and each in self.attributes for each in named)

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
        """Whether both frames have one subject, or one is the other's "by ..."."""
        subjects = [each.subject for each in self.frames]
        found = [
            (pair[side], pair[1 - side])
            for side, subject in enumerate(subjects)
            for pair in self.matched
            if pair[side] is subject
        ]
        return (
            all(there is subjects[0] or there is subjects[1] for _, there in found)
            or any(there.link in ("by", "von") for _, there in found)
            or all(map(is_copula, self.frames))
        )

    # -- what is left over

    def is_covered(self, *compared: Word) -> bool:
        """Whether the frames say the same but for the compared words.

        Each word, preposition and adverb of one stands in the other. Words of an attribute that
        both name are free, and when it changed.
        """
        left = (
            each
            for words, frame in ((self.left, self.one), (self.right, self.other))
            for each in words
            if not (any(each is one for one in compared) or self._is_free(each, frame))
        )
        return not any(left) and self._links_agree(compared) and self._adverbs_agree(compared)

    def hang_alike(self, one: Word, other: Word) -> bool:
        """Whether two words have one preposition, or those of verbs of a shared attribute."""
        heads = head_of(one, self.one), head_of(other, self.other)
        return one.link == other.link or (
            not self.same(*heads)
            and all(
                head is not None and not self.attributes.isdisjoint(named_by(head, frame))
                for head, frame in zip(heads, self.frames, strict=True)
            )
        )

    def _links_agree(self, compared: Sequence[Word]) -> bool:
        pairs = [*self.matched, compared] if compared else self.matched
        return all(
            not {Role.SUBJECT, Role.PREDICATE}.isdisjoint((one.role, other.role))
            or self.hang_alike(one, other)
            for one, other in pairs
        )

    def _adverbs_agree(self, compared: Sequence[Word]) -> bool:
        words = self.lexicon
        free = words.words["negation"] | words.words["neutral"] | words.words["former"]
        there = (*compared, *(one for one, _ in self.matched))
        shown = {part for each in there for part in each.key.split()}
        differing = (self.one.adverbs ^ self.other.adverbs) - free - words.words["once"]
        return all(words.stem(each) in shown for each in differing)

    def _is_free(self, word: Word, frame: Frame) -> bool:
        """Whether a word tells when a value changed, names the attribute, or adds nothing."""
        if isinstance(word.value, Date) and word.role is Role.ADJUNCT:
            other = self.other if frame is self.one else self.one
            return frame.aspect in (Aspect.EVENT, Aspect.CHANGE) and other.aspect is Aspect.STATE
        if word.key == "use" and "used-to" in frame.adverbs:
            return True
        is_own_name = frame.language == "en" and word.kind is Kind.NAME
        if not (is_own_name and word.role is Role.SUBJECT):
            shared = {each.attribute for each in self.attributes}
            if any(each.attribute in shared for each in named_by(word, frame)):
                return True
        is_plain = any(self.lexicon.has(word.key, name) for name in ("neutral", "once"))
        return is_plain and word.kind is Kind.ADVERB
