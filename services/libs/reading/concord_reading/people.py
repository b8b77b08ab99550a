"""Whom pronouns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from concord_concepts.normal_form import fold

from concord_reading.frame import Kind, Passage, Role, Word


class Person(NamedTuple):
    """A pronoun's person."""

    name: str
    """"i" or "we" for the speaker, "you" for the addressee, else "he", "it" or "they"."""
    is_speaking: bool = False
    is_addressed: bool = False


@dataclass(frozen=True, slots=True)
class Antecedent:
    """What a pronoun of the next clause can mean."""

    words: Sequence[Word]
    is_plural: bool
    is_name: bool

    def fits(self, whom: Person) -> bool:
        """Whether a pronoun can mean it: "they" what is plural, "he" and "she" a name."""
        if self.is_plural:
            return whom.name == "they"
        return whom.name == "it" if not self.is_name else whom.name in ("he", "it")


def person(pronoun: str) -> Person | None:
    """Return the person of a folded pronoun, English or German; None for other words."""
    return _PERSONS.get(pronoun)


_SPELT = {
    Person("i", is_speaking=True): "i me my mine myself ich mich mir mein meine meinen meinem"
    " meiner meines",
    Person("we", is_speaking=True): "we us our ours wir uns unser unsere unseren unserem unserer",
    Person("you", is_addressed=True): "you your yours du dich dir dein deine deinen deinem deiner",
    Person("he"): "he him his she her hers er ihn ihm sie",
    Person("it"): "it its es",
    Person("they"): "they them their theirs ihnen",
}
_PERSONS = {word: whom for whom, spelt in _SPELT.items() for word in spelt.split()}


def person_words(
    pronoun: str, passage: Passage, before: Antecedent | None
) -> tuple[Word, ...] | None:
    """Return the words of whom a pronoun means, by who speaks and what stands before it."""
    whom = person(pronoun)
    if whom is None:
        return None
    if whom.is_speaking or whom.is_addressed:
        name = passage.speaker if whom.is_speaking else passage.addressee
        key = f"{whom.name}:{fold(name)}"
        return (Word(key, Kind.PERSON, Role.SUBJECT, is_definite=True),) if name else ()
    if before is None or not before.words or not before.fits(whom):
        return ()
    return tuple(before.words)
