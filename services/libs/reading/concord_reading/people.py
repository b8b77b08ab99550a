"""Whom pronouns mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from concord_concepts.normal_form import fold

from concord_reading.frame import Frame, Kind, Passage, Role, Word


class Person(NamedTuple):
    """A pronoun's person."""

    name: str
    """"i" or "we" for the speaker, "you" for the addressee, else "he", "it" or "they"."""
    is_speaking: bool = False
    is_addressed: bool = False


@dataclass(frozen=True, slots=True)
class Antecedent:
    """What a pronoun of the next clause can mean. `word`: None where that is not sure."""

    word: Word | None
    is_plural: bool = False

    def meant(self, pronoun: str, whom: Person) -> Word | None:
        """Return what a pronoun means: "they" what is plural, "he" and "she" a name."""
        if self.word is None or self.word.kind not in (Kind.NAME, Kind.NOUN):
            return None
        is_name = self.word.kind is Kind.NAME
        if is_name and pronoun in ("it", "es"):
            return None  # a name may be a person's
        names = ("they",) if self.is_plural else ("he", "it") if is_name else ("it",)
        return self.word if whom.name in names else None


def has_rival(frame: Frame) -> bool:
    """Whether a later pronoun may mean what is said of a subject: "Mira has a boat. It is red.",
    "Mira met Lena. She is ill." """
    is_name = frame.subject is not None and frame.subject.kind is Kind.NAME
    return any(
        each.kind is Kind.NAME or (each.kind is Kind.NOUN and not (is_name and each.is_definite))
        for each in frame.words
        if each.role is Role.COMPLEMENT
    )


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


def person_word(pronoun: str, passage: Passage, before: Antecedent | None) -> Word | None:
    """Return the word of whom a pronoun means, by who speaks and what stands before it; its key is
    empty where nobody knows. None: it is no pronoun."""
    whom = person(pronoun)
    if whom is None:
        return None
    nobody = Word("", Kind.PERSON, Role.SUBJECT, is_definite=True)
    if whom.is_speaking or whom.is_addressed:
        name = passage.speaker if whom.is_speaking else passage.addressee
        return replace(nobody, key=f"{whom.name}:{fold(name)}") if name else nobody
    found = before.meant(pronoun, whom) if before is not None else None
    return nobody if found is None else replace(found, is_definite=True, value=None, lemma="")
