"""Reads the frames of a German text by rules over its tokens: there is no parser for it.

German writes nouns with capitals, puts its finite verb second and its participle last. What these
three facts do not show is left unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from concord_reading.frame import Aspect, Frame, Kind, Mood, Passage, Role, Unread, Word, acyclic
from concord_reading.german_clauses import clauses_of
from concord_reading.lexicon import Lexicon, lexicon, noun_key
from concord_reading.people import Antecedent, has_rival, person, person_word
from concord_reading.quantities import Date, Quantity, values
from concord_reading.tokens import Span, Token

_VERB_ENDINGS = ("t", "te", "ten", "en", "st", "rn", "ln", "f", "b", "g", "ß", "m", "k", "d", "h")
_ADJECTIVE_ENDINGS = ("e", "en", "er", "es", "em")
_LONGEST = 60
_OBJECTIVE = frozenset({"den", "dem", "einen", "einem"})
_UNNAMED = frozenset({"man", "niemand", "nichts", "alle", "alles", "jeder"})
"""Subjects that name nobody, where they are the first word."""
_HAVE = frozenset({"habe", "hast", "hat", "haben", "habt"})
_INSEPARABLE = ("ver", "be", "er", "ent", "zer", "emp", "miss")
"""Beginnings of verbs whose participles have no "ge"."""


def frames_of(text: str, passage: Passage) -> list[Frame]:
    """Return the frames of a text, in order."""
    found: list[Frame] = []
    before: Antecedent | None = None
    for tokens, mood in clauses_of(text):
        if len(tokens) > _LONGEST:  # the time that one takes grows with its square
            found.append(Frame((), -1, language="de", unread=Unread.TOO_LONG))
            continue
        reader = _Clause(text, tokens, mood, passage, before)
        frame = reader.frame()
        found.append(frame)
        before = reader.antecedent(frame) or before
    return found


class _Lead(NamedTuple):
    """What stands before a noun: its preposition and article."""

    link: str = ""
    is_definite: bool = False
    has_article: bool = False


@dataclass
class _Clause:
    text: str
    tokens: list[Token]
    mood: Mood
    """As german_clauses has it."""
    passage: Passage
    before: Antecedent | None
    words: list[Word] = field(default_factory=list)
    finite: int = -1
    """The place of the finite verb's token; -1: not found."""
    is_known: bool = True

    @property
    def lexicon(self) -> Lexicon:
        return lexicon("de")

    @cached_property
    def spelt(self) -> list[str]:
        """Its words, folded."""
        return [token.word for token in self.tokens]

    @cached_property
    def negations(self) -> list[int]:
        """The places of the tokens that deny it."""
        return [*self.lexicon.negations(self.spelt)]

    def frame(self) -> Frame:
        """Return what the clause says."""
        tokens = self.tokens
        self.finite = self._finite()
        self._read()
        verb = next((at for at, e in enumerate(self.words) if e.role is Role.PREDICATE), -1)
        spelt = {token.word for token in tokens}
        mood = self._mood()
        unread = None
        if mood is not Mood.ASSERTED:
            unread = Unread.NOT_ASSERTED
        elif self.finite < 0 or verb < 0:
            unread = Unread.NO_PREDICATE
        elif not self.is_known or not (
            any(each.role is Role.SUBJECT for each in self.words) or self._quantifier()
        ):
            unread = Unread.NO_SUBJECT
        last = tokens[-1].word
        return Frame(
            acyclic(list(self._with_heads(verb))),
            verb,
            last if last in self.lexicon.words["prefixes"] and len(tokens) > 1 else "",
            len(self.negations) % 2 == 1,
            mood,
            self._aspect(spelt),
            self._quantifier(),
            frozenset(spelt & self.lexicon.words["adverbs"]),
            self.lexicon.has_phrase("except phrases", self.spelt),
            "de",
            Span(tokens[0].start, tokens[-1].end),
            unread,
        )

    def antecedent(self, frame: Frame) -> Antecedent | None:
        """Return what a later pronoun can mean: the subject, where it is no pronoun."""
        subject = frame.subject
        if subject is None or subject.kind is Kind.PERSON:
            return None
        is_copula = self.spelt[self.finite] in self.lexicon.words["copula"]
        is_clear = is_copula or not has_rival(frame)
        # "Die Sonne scheint. Es ist warm."
        is_sure = is_clear and (subject.kind is Kind.NAME or self.spelt[0] == "das")
        return Antecedent(subject if is_sure else None)

    def _mood(self) -> Mood:
        first = self.tokens[0].word
        spelt = {token.word for token in self.tokens}
        if self.mood is not Mood.ASSERTED:
            return self.mood
        if {"im", "in", "einem"} & spelt and spelt & self.lexicon.words["fiction"]:
            return Mood.SUPPOSED
        if first in self.lexicon.words["subordinate"] or spelt & {"wäre", "würde", "hätte"}:
            return Mood.CONDITIONAL
        infinitive = self.tokens[-1].word.endswith("n")
        if (
            spelt & {"werde", "wirst", "wird", "werden"}
            and infinitive
            and not self.tokens[-1].word.startswith("ge")
        ):
            return Mood.PLANNED
        return Mood.ASSERTED

    def _finite(self) -> int:
        """Return the place of the finite verb: an auxiliary, or a verb behind the first phrase."""
        tokens, words = self.tokens, self.lexicon.words
        for at, token in enumerate(tokens):
            if at == 0 or self._is_capital(token) or not token.stem:
                continue
            if token.word in words["finite"]:
                return at
            bound = self.lexicon.function | words["prepositions"] | words["adverbs"]
            if token.word.startswith("ge") and at + 1 == len(tokens):
                continue  # a participle
            before = tokens[at - 1]
            is_first_person = before.word == "ich" and token.word.endswith("e")
            if token.word in bound or not (is_first_person or token.word.endswith(_VERB_ENDINGS)):
                continue
            if (
                before.word in words["determiner"]
                and at + 1 < len(tokens)
                and self._is_noun(at + 1)
            ):
                continue  # "die alte Pumpe", "die meisten Zimmer"
            behind_noun = self._is_capital(before) or before.word in words["subject pronoun"]
            if (
                behind_noun
                or (at > 1 and before.word in words["adverbs"])
                or before.word[0].isdecimal()
            ):
                return at
        return -1

    def _is_capital(self, token: Token) -> bool:
        return self.text[token.start].isupper()

    def _is_noun(self, at: int) -> bool:
        token = self.tokens[at]
        if not self._is_capital(token):
            return False
        known = self.lexicon.function | self.lexicon.words["prepositions"]
        known |= self.lexicon.words["adverbs"] | self.lexicon.words["quantifier all"]
        return at > 0 or token.word not in known

    def _is_copular(self) -> bool:
        finite = self.tokens[self.finite].word if self.finite >= 0 else ""
        return finite in self.lexicon.words["copula"]

    def _goes_on(self, at: int) -> bool:
        """Whether a name goes on: "Roswitha Pohl", but not "Merles Lehrer"."""
        tokens = self.tokens
        return self._is_noun(at) and not (at == 1 and tokens[0].word.endswith("s"))

    def _read(self) -> None:
        tokens = self.tokens
        ends = {value.begin: value for value in values(self.tokens, self.lexicon)}
        lead, at = _Lead(), 0
        while at < len(tokens):
            begin = at
            at += 1
            if value := ends.get(begin):
                at = max(at, value.end)
                self._add(tokens[begin:at], Kind.VALUE, begin, lead, value.what)
            elif self._is_noun(begin) and begin != self.finite and not self._leads(begin):
                while at < len(tokens) and self._goes_on(at) and at not in ends:
                    if lead.has_article and len(tokens[at].word) > 1:
                        break  # "der Chor Bad Wildungens", but "die Halle B"
                    at += 1
                is_noun = lead.has_article or lead.link in self.lexicon.words["definite"]
                kind = Kind.NOUN if is_noun else Kind.NAME
                lead = lead._replace(is_definite=lead.is_definite or not is_noun)
                self._add(tokens[begin:at], kind, begin, lead)
                lead = _Lead()
            else:
                lead = self._read_word(begin, lead)

    def _leads(self, at: int) -> bool:
        """Whether a token is a pronoun, a preposition or an article."""
        word, words = self.tokens[at].word, self.lexicon.words
        return person(word) is not None or word in words["prepositions"] | words["determiner"]

    def _read_word(self, at: int, lead: _Lead) -> _Lead:
        """Add a token that is no noun and no value; return what it leads."""
        token, words = self.tokens[at], self.lexicon.words
        is_definite = token.word in words["definite"]
        if at == self.finite:
            self._add([token], Kind.VERB, at, _Lead())
        if at == self.finite or not token.stem:
            return _Lead()
        if whom := person(token.word):
            if token.word in words["subject pronoun"] or whom.is_speaking or whom.is_addressed:
                self._person(token, at, lead.link)
            return lead._replace(is_definite=True)
        if token.word in words["particle"] and self._is_copular() and at + 1 == len(self.tokens):
            self._add([token], Kind.ADJECTIVE, at, _Lead())
            return _Lead()
        if token.word in ("mehr", "länger") and at - 1 in self.negations:
            return lead  # "no longer": the denial says it
        if token.word in words["prepositions"]:
            return _Lead(token.word, is_definite)
        if token.word in words["determiner"]:
            owns = token.word in ("des", "der") and at > 0 and self._is_noun(at - 1)
            return _Lead("of" if owns else lead.link, is_definite, has_article=True)
        if token.word in words["adverbs"]:
            self._add([token], Kind.ADVERB, at, _Lead())
        elif token.word not in self.lexicon.function and token.word not in words["prefixes"]:
            self._add([token], self._kind(at), at, _Lead(lead.link))
        return lead

    def _kind(self, at: int) -> Kind:
        tokens = self.tokens
        word = tokens[at].word
        if at + 1 < len(tokens) and self._is_noun(at + 1) and word.endswith(_ADJECTIVE_ENDINGS):
            return Kind.ADJECTIVE
        if at + 1 == len(tokens) and (word.endswith("en") or word.startswith("ge")):
            return Kind.VERB
        is_state = self.finite >= 0 and tokens[self.finite].word in self.lexicon.words["copula"]
        if at + 1 == len(tokens) and word.endswith("t") and not is_state:
            return Kind.VERB
        return Kind.ADJECTIVE

    def _person(self, token: Token, at: int, link: str) -> None:
        word = person_word(token.word, self.passage, self.before)
        if word is None:
            return
        role = self._role(at, link, Kind.PERSON)
        if role is Role.SUBJECT and not word.key:
            self.is_known = False
        self.words.append(
            replace(word, role=role, head=-1, link=link, start=token.start, end=token.end)
        )

    def _role(self, at: int, link: str, kind: Kind) -> Role:
        if kind is Kind.VERB:
            return Role.PREDICATE
        if link and link != "of":
            return Role.ADJUNCT
        if kind is Kind.ADVERB:
            return Role.ADJUNCT
        has_subject = any(each.role is Role.SUBJECT for each in self.words)
        has_subject = has_subject or self.tokens[0].word in _UNNAMED
        if at < self.finite:  # "Den Chor leitet Ida."
            return Role.COMPLEMENT if self.tokens[0].word in _OBJECTIVE else Role.SUBJECT
        things = (Kind.NOUN, Kind.NAME, Kind.PERSON)
        return Role.COMPLEMENT if has_subject or kind not in things else Role.SUBJECT

    def _add(
        self,
        tokens: Sequence[Token],
        kind: Kind,
        at: int,
        lead: _Lead,
        value: Quantity | Date | None = None,
    ) -> None:
        is_thing = kind in (Kind.NAME, Kind.NOUN)
        key = " ".join(noun_key(each.word) if is_thing else each.stem for each in tokens)
        role, span = self._role(at, lead.link, kind), (tokens[0].start, tokens[-1].end)
        self.words.append(Word(key, kind, role, -1, lead.link, lead.is_definite, value, *span))

    def _with_heads(self, verb: int) -> Iterator[Word]:
        """Yield the words, each with its head: the next noun, the noun before it, or the verb."""
        words = self.words
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else None
            near = following is not None and following.start - word.end <= 1
            things = (Kind.NOUN, Kind.NAME)
            if (
                word.kind in (Kind.ADJECTIVE, Kind.VALUE)
                and near
                and following is not None
                and following.kind in (*things, Kind.ADJECTIVE)
            ):
                yield replace(word, head=at + 1, role=following.role)
            elif (
                word.kind is Kind.NAME
                and near
                and following is not None
                and following.kind is Kind.NAME
                and self.text[word.end - 1] == "s"
            ):
                yield replace(word, head=at + 1, link="of")
            elif (
                isinstance(word.value, Quantity)
                and word.value.dimension in ("", "version")
                and at
                and words[at - 1].kind in things
                and word.start - words[at - 1].end <= 1
            ):  # "Halle 3", "Version 5.3.0"
                yield replace(word, head=at - 1, role=words[at - 1].role)
            elif (
                word.link
                and at
                and words[at - 1].kind in things
                and (word.link in ("of", "von", "vom") or word.start < self._finite_start)
            ):
                yield replace(word, head=at - 1, link="of", role=words[at - 1].role)
            elif at != verb:
                yield replace(word, head=verb)
            else:
                yield word

    @property
    def _finite_start(self) -> int:
        return self.tokens[self.finite].start if self.finite >= 0 else 0

    def _aspect(self, spelt: set[str]) -> Aspect:
        words, last = self.lexicon.words, self.tokens[-1].word
        participle = last.endswith(("t", "en")) and self.finite != len(self.tokens) - 1
        participle = participle and not self._is_capital(self.tokens[-1])
        if participle and spelt & _HAVE and last.startswith(_INSEPARABLE):
            return Aspect.EVENT
        if spelt & {"wurde", "wurden"}:
            return Aspect.EVENT
        if participle and spelt & words["perfect"] and ("ge" in last or last.endswith("rt")):
            moves = bool(spelt & {"bin", "bist", "ist", "sind", "seid"})
            return Aspect.CHANGE if moves and "worden" not in spelt else Aspect.EVENT
        if self.finite < 0:
            return Aspect.STATE
        finite = self.tokens[self.finite].word
        if finite in words["past be"]:
            return Aspect.PAST_STATE
        if not finite.endswith(("te", "ten")):
            return Aspect.STATE
        lasting = self.lexicon.has(self.tokens[self.finite].stem, "state")
        return Aspect.PAST_STATE if lasting else Aspect.EVENT

    def _quantifier(self) -> str:
        if self.lexicon.has_phrase("some phrases", self.spelt):
            return "some"
        return self.lexicon.quantifier(self.spelt)
