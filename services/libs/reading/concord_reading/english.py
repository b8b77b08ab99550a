"""Reads the frames of an English text from its parse.

The parse is spaCy's: universal part-of-speech tags and ClearNLP dependency labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from concord_concepts.normal_form import fold

from concord_reading.english_clauses import (
    SUBJECTS,
    colon_of,
    is_clause,
    mood_of,
    own_tokens,
    subject_of,
)
from concord_reading.english_words import (
    NAMED,
    bare,
    base_form,
    is_definite,
    is_its_letter,
    is_one_name,
    is_over,
    is_plural,
    key_of,
    kind_of,
    top,
)
from concord_reading.frame import Aspect, Frame, Kind, Mood, Passage, Role, Unread, Word, acyclic
from concord_reading.lexicon import Lexicon, lexicon
from concord_reading.people import Antecedent, has_rival, person, person_word
from concord_reading.quantities import Date, Quantity, values
from concord_reading.tokens import Span, Token

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Token as Parsed

_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "SYM", "PRON", "X", "AUX"})
_COMPLEMENTS = frozenset({"dobj", "attr", "acomp", "dative", "oprd", "agent"})
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)")
"""A date that the parser takes for three numbers."""
_LONGEST = 60
"""Tokens of the longest clause that is read; a longer one without a pause is no sentence."""


def frames_of(doc: Doc, passage: Passage) -> list[Frame]:
    """Return the frames of a parsed text, in order."""
    words = lexicon("en")
    found: list[Frame] = []
    before: Antecedent | None = None
    for sentence in doc.sents:
        verbs = [each for each in sentence if is_clause(each)]
        first: Antecedent | None = None
        for verb in verbs:
            clause = _Clause(verb, passage, words, first or before)
            frame = clause.frame()
            found.append(frame)
            first = first or clause.antecedent(frame)
        before = first
    return found


class _Clause:
    """One clause of a parse; `before`: what a pronoun can mean."""

    def __init__(
        self, verb: Parsed, passage: Passage, words: Lexicon, before: Antecedent | None
    ) -> None:
        self._verb, self._passage, self._lexicon, self._before = verb, passage, words, before
        self._tokens = list(own_tokens(verb))
        self._subject = subject_of(verb)
        self._colon = colon_of(verb) if self._subject is None else None
        if self._subject is not None and self._subject not in self._tokens:
            shared = list(own_tokens(self._subject))
            self._tokens = sorted({*self._tokens, *shared}, key=lambda each: each.i)

    def frame(self) -> Frame:
        """Return what it says."""
        first = next((each for each in self._tokens if not each.is_punct), self._tokens[0])
        span = Span(first.idx, self._tokens[-1].idx + len(self._tokens[-1]))
        mood = mood_of(self._verb, self._lexicon)
        words, subject_is_known = self._words()
        verb = next((at for at, each in enumerate(words) if each.role is Role.PREDICATE), -1)
        unread = None
        if len(self._tokens) > _LONGEST:
            unread = Unread.TOO_LONG
        elif mood is not Mood.ASSERTED:
            unread = Unread.NOT_ASSERTED
        elif not subject_is_known or not (
            any(each.role is Role.SUBJECT for each in words) or self._is_about_all()
        ):
            unread = Unread.NO_SUBJECT
        elif self._verb.pos_ not in {"VERB", "AUX"} and verb < 0 and self._colon is None:
            unread = Unread.NO_PREDICATE
        return Frame(
            acyclic(words),
            verb,
            next((fold(each.text) for each in self._verb.children if each.dep_ == "prt"), ""),
            self._is_denied(),
            mood,
            self._aspect(),
            self._quantifier(),
            self._adverbs(),
            self._has("except phrases"),
            "en",
            span,
            unread,
        )

    def _adverbs(self) -> frozenset[str]:
        found = {
            fold(each.text)
            for each in self._tokens
            if each.pos_ in {"ADV", "SCONJ"} or each.dep_ in {"advmod", "npadvmod"}
        }
        return frozenset(found | ({"used-to"} if is_over(self._verb) else set()))

    def antecedent(self, frame: Frame) -> Antecedent | None:
        """Return whom or what a later pronoun can mean: the subject's words."""
        subject = self._subject
        if subject is None or subject.pos_ == "PRON":
            return self._before
        are_many = is_plural(subject)
        is_sure = self._verb.lemma_ == "be" or are_many or not has_rival(frame)
        return Antecedent(frame.subject if is_sure else None, are_many)

    def _is_denied(self) -> bool:
        spelt = [fold(each.text).replace("’", "'") for each in self._tokens]
        denying = [e for e in self._lexicon.negations(spelt) if self._tokens[e].dep_ != "intj"]
        return len(denying) % 2 == 1

    def _aspect(self) -> Aspect:
        verb = self._verb
        helpers = {fold(each.text) for each in verb.children if each.dep_ in {"aux", "auxpass"}}
        copular = any(each.dep_ in {"attr", "acomp"} for each in verb.children)
        if is_over(verb):
            return Aspect.PAST_STATE
        if verb.tag_ == "VBG":
            lasting = self._lexicon.words["lasting"]
            return Aspect.STATE if verb.lemma_ in lasting else Aspect.EVENT
        if helpers & {"have", "has", "'ve", "'s"} and verb.tag_ in {"VBN", "VBD"}:
            return Aspect.CHANGE
        passive = any(each.dep_ == "auxpass" for each in verb.children)
        past = verb.tag_ in {"VBD"} or bool(helpers & {"was", "were", "had", "did", "got"})
        if not past:
            return Aspect.STATE
        if passive or not (copular or verb.lemma_ in self._lexicon.words["state"]):
            return Aspect.EVENT
        return Aspect.PAST_STATE

    def _is_about_all(self) -> bool:
        """Whether the subject is "everyone", "none" and the like."""
        return (
            self._subject is not None
            and self._subject.pos_ in {"PRON", "DET"}
            and bool(self._quantifier())
        )

    def _has(self, name: str) -> bool:
        """Whether it has a phrase of a class."""
        return self._lexicon.has_phrase(name, [bare(each) for each in self._tokens])

    def _quantifier(self) -> str:
        subject = self._subject
        if subject is None:
            return ""
        spelt = [
            fold(each.text)
            for each in self._tokens
            if each.i <= self._verb.i + 2 and each.dep_ != "intj"
        ]
        return "some" if self._has("some phrases") else self._lexicon.quantifier(spelt)

    def _words(self) -> tuple[list[Word], bool]:
        """Return the clause's words of content, and whether its subject is known."""
        groups = self._groups()
        place = {token.i: at for at, (tokens, _) in enumerate(groups) for token in tokens}
        words: list[Word] = []
        is_known = True
        for tokens, value in groups:
            root = top(tokens)
            role = self._role(root)
            word = self._meant(root) if root.pos_ == "PRON" else None
            if word is None:
                word = Word(
                    key_of(tokens, self._lexicon, value),
                    Kind.ADJECTIVE if self._is_state(root) else kind_of(tokens, value, root),
                    role,
                    is_definite=is_definite(root),
                    value=value,
                    lemma=base_form(root),
                )
            elif not word.key and root.dep_ != "poss":
                is_known = False
            head, link = self._link(root, place, tokens)
            start, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
            words.append(replace(word, role=role, head=head, link=link, start=start, end=end))
        return words, is_known

    def _groups(self) -> list[tuple[list[Parsed], Quantity | Date | None]]:
        """Return the tokens that are one word each: a value, a name of many words, any other."""
        spelt = [bare(each).replace("-", "–") for each in self._tokens]  # "-" stands for no month
        tokens = [Token(w, w, e.i, e.i + 1) for w, e in zip(spelt, self._tokens, strict=True)]
        found = values(tokens, self._lexicon)
        begins = {each.begin: each for each in found}
        groups: list[tuple[list[Parsed], Quantity | Date | None]] = []
        at = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.shape_ == "dddd" and (iso := _ISO.match(token.doc.text, token.idx)):
                part = [each for each in self._tokens[at:] if each.idx < iso.end()]
                groups.append((part, Date(*map(int, iso.groups()))))
                at += len(part)
                continue
            if value := begins.get(at):
                part = self._tokens[at : value.end]
                groups.append((part, value.what))
                at = value.end
                continue
            at += 1
            if token.text == "May" and fold(token.head.text) in {"in", "since", "until", "during"}:
                groups.append(([token], Date(month=5)))
                continue
            if token.dep_ == "nummod" and fold(token.text) == "one":
                groups.append(([token], Quantity(1, 0.5)))
                continue
            if groups and is_its_letter(groups[-1][0], token):
                groups[-1][0].append(token)
                continue
            if not self._is_content(token):
                continue
            if groups and groups[-1][1] is None and is_one_name(groups[-1][0], token):
                groups[-1][0].append(token)
            else:
                groups.append(([token], None))
        return groups

    def _is_content(self, token: Parsed) -> bool:
        if token.pos_ == "PRON":
            return person(fold(token.text)) is not None
        if self._is_state(token):
            return True
        if token.dep_ in {"aux", "auxpass", "neg", "det", "expl", "intj", "prt", "predet", "cc"}:
            return False
        return token.pos_ in _CONTENT and (
            token.pos_ == "PROPN"
            or fold(token.text) not in self._lexicon.function
            or token == self._verb
        )

    def _is_state(self, token: Parsed) -> bool:
        """Whether a particle says how a thing is: "The server is up"."""
        return (
            token.head == self._verb
            and token.head.lemma_ == "be"
            and token.dep_ in {"advmod", "prt", "acomp", "prep"}
            and not any(True for _ in token.children)
            and fold(token.text) in self._lexicon.words["particle"]
        )

    def _role(self, token: Parsed) -> Role:
        if self._colon is not None:
            return Role.SUBJECT if token.i < self._colon else Role.COMPLEMENT
        if token == self._verb:
            return Role.PREDICATE
        at = token
        while at.head not in (at, self._verb) and at != self._subject:
            at = at.head
        if at == self._subject or at.dep_ in SUBJECTS:
            return Role.SUBJECT
        if at.dep_ in {"xcomp"}:
            return Role.PREDICATE if at == token else Role.COMPLEMENT
        return Role.COMPLEMENT if at.dep_ in _COMPLEMENTS else Role.ADJUNCT

    def _link(self, token: Parsed, place: dict[int, int], own: Sequence[Parsed]) -> tuple[int, str]:
        """Return the place of the word that a token modifies, and its preposition."""
        link, at = "", token
        if at.dep_ in {"poss", "nmod"} and at.dep_ == "poss":
            link = "of"
        while at.head != at:
            at = at.head
            if at.pos_ == "ADP" and not link:
                link = fold(at.text)
            if at.i in place and at not in own:
                return place[at.i], link
        return -1, link

    def _meant(self, token: Parsed) -> Word | None:
        """Return the word that a pronoun stands for, its key empty where nobody knows; None: it is
        none."""
        before, subject = self._before, self._subject
        if token.dep_ == "poss" and subject is not None and subject.pos_ != "PRON":
            kind = Kind.NAME if subject.pos_ in NAMED else Kind.NOUN
            own = Word(key_of([subject], self._lexicon, None), kind, Role.SUBJECT)
            before = Antecedent(own, is_plural(subject))
        return person_word(fold(token.text), self._passage, before)
