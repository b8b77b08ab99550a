"""What a word is in its frame: a thing, a value, what is said of a thing, what limits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concord_reading.frame import Aspect, Frame, Kind, Role, Word
from concord_reading.lexicon import lexicon
from concord_reading.quantities import Date, Quantity, Same

from concord_dissonance.domain.judges.attributes import Named, Phase, Values, named_by
from concord_dissonance.domain.judges.opposites import compare
from concord_dissonance.domain.sides import Rules


def content(frame: Frame) -> list[Word]:
    """Return the words that a frame is compared by."""
    return [each for each in frame.words if not is_light(each, frame)]


def is_light(word: Word, frame: Frame) -> bool:
    """Whether a word adds nothing: "be", "have", somebody unknown."""
    words = lexicon(frame.language)
    light = words.has(word.key, "light") or words.has(word.key, "counting")
    return (word.kind is Kind.PERSON and not word.key) or (light and word.kind is not Kind.NAME)


def matches(
    mine: Sequence[Word], yours: Sequence[Word], language: str, rules: Rules
) -> Iterator[tuple[Word, Word]]:
    """Yield the pairs of words that mean the same, each word once."""
    free = list(yours)
    for one in mine:
        for other in free:
            same = compare(one, other, language, rules).same is Same.YES and (
                (one.kind is Kind.VALUE) == (other.kind is Kind.VALUE)
            )
            if same:
                free.remove(other)
                yield one, other
                break


def identifies(word: Word) -> bool:
    """Whether a word names one thing: a name, a person, a noun with "the"."""
    return word.is_definite and word.kind in (Kind.NAME, Kind.PERSON, Kind.NOUN)


def is_naming(word: Word, frame: Frame) -> bool:
    """Whether a number tells which thing is meant: "hall 3", "ticket 311", "her first visit"."""
    if not isinstance(word.value, Quantity) or word.value.dimension not in ("", "ordinal"):
        return False
    if word.link:
        return False
    head = head_of(word, frame)
    if head is None or head.kind not in (Kind.NOUN, Kind.NAME):
        return False
    return head.end + 1 == word.start or word.value.dimension == "ordinal"


def head_of(word: Word, frame: Frame) -> Word | None:
    """Return the word that one modifies."""
    return frame.words[word.head] if word.head >= 0 else None


def hangs_on(word: Word, head: Word, frame: Frame) -> bool:
    """Whether a word modifies another, or what modifies it."""
    while word.head >= 0:
        word = frame.words[word.head]
        if word is head:
            return True
    return False


def is_modifier(word: Word, frame: Frame) -> bool:
    """Whether a word stands before the noun that it belongs to: "the Berlin office"."""
    head = head_of(word, frame)
    return head is not None and head.kind in (Kind.NOUN, Kind.NAME) and word.link in ("", "of")


def is_said(word: Word, frame: Frame) -> bool:
    """Whether a word is what the frame says of its subject."""
    head = head_of(word, frame)
    return word.role is not Role.SUBJECT and (
        head is None
        or Role.PREDICATE in (word.role, head.role)
        or (word.kind is Kind.ADJECTIVE and word.start > head.end)  # "keep the bridge open"
    )


def denies(frame: Frame) -> bool:
    """Whether a frame says that something does not hold now: "is not", "used to be"."""
    once = not frame.adverbs.isdisjoint(lexicon(frame.language).words["once"])
    return frame.is_denied != (once and frame.aspect is Aspect.PAST_STATE)


def is_copula(frame: Frame) -> bool:
    """Whether a frame says what or how something is."""
    return frame.verb >= 0 and lexicon(frame.language).has(frame.words[frame.verb].key, "copula")


def is_identity(word: Word, frame: Frame) -> bool:
    """Whether a frame says who or what some definite thing is: "The treasurer is Maeve"."""
    if not is_copula(frame) or word.link:
        return False
    if word.role not in (Role.SUBJECT, Role.COMPLEMENT):
        return False
    other_role = Role.COMPLEMENT if word.role is Role.SUBJECT else Role.SUBJECT
    return any(
        each.role is other_role and each.is_definite and each.kind is Kind.NOUN and not each.link
        for each in frame.words
    )


def verb_of(frame: Frame) -> Word | None:
    """Return a frame's verb."""
    return frame.words[frame.verb] if frame.verb >= 0 else None


def named_in(frame: Frame) -> frozenset[Named]:
    """Return the attributes that a frame names; "is on 5 May" names when something begins."""
    found = {each for word in frame.words for each in named_by(word, frame)}
    said = [e for e in frame.words if e.head == frame.verb and e.role is not Role.SUBJECT]
    if is_copula(frame) and said and all(isinstance(each.value, Date) for each in said):
        found.add(Named("start", Phase.HOLDS, Values.NUMBER))
    return frozenset(found)


def comparative(frame: Frame) -> tuple[Word, Word] | None:
    """Return the two things that a frame compares."""
    than = next((each for each in frame.words if each.link in ("than", "als")), None)
    subject = frame.subject
    if subject is not None and subject.kind is Kind.NOUN:
        names = (e for e in frame.words if e.kind is Kind.NAME and head_of(e, frame) is subject)
        subject = next((each for each in names if not each.link), subject)
    return (subject, than) if than is not None and subject is not None else None
