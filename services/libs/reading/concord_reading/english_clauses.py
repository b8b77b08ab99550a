"""What a parse of English shows of a clause: its tokens, its subject and its mood.

Labels are ClearNLP's, parts of speech universal ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from concord_concepts.normal_form import fold

from concord_reading.frame import Mood
from concord_reading.lexicon import Lexicon, lexicon

if TYPE_CHECKING:
    from spacy.tokens import Token as Parsed

SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
_CLAUSES = frozenset(
    {"ccomp", "advcl", "relcl", "acl", "csubj", "csubjpass", "pcomp", "parataxis", "xcomp"}
)


def is_clause(token: Parsed) -> bool:
    """Whether a token heads a clause: it is a sentence's root, or a verb with a subject of its own
    or beside another verb."""
    if token.dep_ == "ROOT":
        return True
    if token.dep_ == "conj" and token.pos_ in {"VERB", "AUX"}:
        return token.head.pos_ in {"VERB", "AUX"}
    if token.dep_ == "appos" and any(each.dep_ in SUBJECTS for each in token.children):
        return True
    return token.dep_ in _CLAUSES and token.dep_ != "xcomp"


def own_tokens(verb: Parsed) -> Iterator[Parsed]:
    """Yield the tokens of a clause in order, without those of other clauses in it."""
    inner = {
        token.i
        for each in verb.subtree
        if each != verb and is_clause(each)
        for token in each.subtree
    }
    return (each for each in verb.subtree if each.i not in inner and not each.is_space)


def subject_of(verb: Parsed) -> Parsed | None:
    """Return the head of a clause's subject; a verb beside another shares the other's."""
    at = verb
    while True:
        found = next((e for e in at.children if e.dep_ in {"nsubj", "nsubjpass"}), None)
        if found is not None or at.dep_ != "conj":
            break
        at = at.head
    if found is None:  # "There are 80 seats."
        expletive = any(each.dep_ == "expl" for each in verb.children)
        return next((e for e in verb.children if expletive and e.dep_ in {"attr", "dobj"}), None)
    return found


def colon_of(root: Parsed) -> int | None:
    """Return where a headline's colon stands: "Height of the parcel: 30 cm"; None: it is none."""
    if root.dep_ != "ROOT" or root.pos_ not in {"NOUN", "PROPN"}:
        return None
    found = [each.i for each in root.sent if each.text == ":"]
    if len(found) != 1:
        return None
    before = [e for e in root.sent if e.i < found[0] and e.pos_ in {"NOUN", "PROPN"}]
    return found[0] if len(before) > 1 else None


def _clause_above(token: Parsed) -> Parsed:
    at = token.head
    while at.dep_ != "ROOT" and not is_clause(at):
        at = at.head
    return at


def _is_aside(token: Parsed) -> bool:
    """Whether a clause only stands before or beside a comma: "Payroll is late, I checked"."""
    marked = any(each.dep_ == "mark" for each in token.children)
    comma = any(e.text in {",", ";", ":", "-", "–", "—"} for e in token.head.children)
    return not marked and comma and token.head.lemma_ not in lexicon("en").words["reports verbs"]


def mood_of(verb: Parsed, words: Lexicon) -> Mood:
    """Return whether a clause is asserted, going up to the clauses that it depends on."""
    at, mood = verb, _own_mood(verb, words)
    if mood is Mood.ASSERTED and _is_in_fiction(verb, words):
        return Mood.SUPPOSED
    while mood is Mood.ASSERTED and at.dep_ != "ROOT":
        above = at.head
        label = at.dep_
        if label == "conj":
            mood = _own_mood(above, words)
        elif label == "ccomp" and not _is_aside(at):
            mood = _reported(at, words)
        elif label in {"relcl", "acl", "pcomp", "csubj", "csubjpass"}:
            return Mood.SUPPOSED  # it tells which thing is meant, and claims little
        elif label == "advcl":
            marks = {fold(e.text) for e in at.children if e.dep_ in {"mark", "advmod"}}
            if not marks & words.words["factive joint"]:
                return Mood.CONDITIONAL
        at = _clause_above(at)
    return mood


def _is_in_fiction(verb: Parsed, words: Lexicon) -> bool:
    """Whether a clause tells of a dream or a book: "In the novel Ada is a spy"."""
    inside = (e for e in verb.children if e.dep_ == "prep" and fold(e.text) == "in")
    return any(
        fold(each.lemma_) in words.words["fiction"] for prep in inside for each in prep.children
    )


def _own_mood(verb: Parsed, words: Lexicon) -> Mood:
    sentence = verb.sent
    if sentence.text.rstrip("\"'”’) ").endswith("?"):
        return Mood.ASKED
    own = {fold(each.text) for each in own_tokens(verb)}
    if "according" in own or any(_is_source(each) for each in verb.children):
        return Mood.REPORTED
    helpers = [each for each in verb.children if each.dep_ in {"aux", "auxpass"}]
    spelt = {fold(each.text) for each in helpers}
    has_subject = subject_of(verb) is not None
    if verb.dep_ == "ROOT" and any(each.dep_ == "mark" for each in verb.children):
        return Mood.SUPPOSED
    if verb.tag_ == "VB" and not has_subject and not helpers:
        return Mood.ORDERED
    if verb.dep_ == "ROOT" and any(e.i < verb.i and e.tag_ in {"WP", "WRB"} for e in verb.children):
        return Mood.ASKED
    going = verb.lemma_ == "go" and any(e.dep_ == "xcomp" for e in verb.children)
    if spelt & words.words["future"] or (going and verb.tag_ == "VBG"):
        return Mood.PLANNED
    if spelt & words.words["supposing"]:
        return Mood.SUPPOSED
    if verb.lemma_ in words.words["wishing"] or own & words.words["doubting"]:
        return Mood.WISHED
    marks = {
        fold(e.text)
        for each in verb.children
        if each.dep_ == "advcl"
        for e in each.children
        if e.dep_ == "mark" or e.tag_ == "WRB"
    }
    if marks - words.words["reason joint"] - {"to"}:
        return Mood.CONDITIONAL
    return Mood.ASSERTED


def _is_source(clause: Parsed) -> bool:
    """Whether a clause may say who claims it: "As Bo put it, ..."."""
    return clause.dep_ == "advcl" and any(
        each.dep_ == "mark" and fold(each.text) == "as" for each in clause.children
    )


def _reported(clause: Parsed, words: Lexicon) -> Mood:
    """Return the mood of what somebody says or knows: "I know that ...", "I wonder if ..."."""
    verb, told = clause.head, words.words
    marks = {fold(each.text) for each in clause.children if each.dep_ in {"mark", "advmod"}}
    denied = any(words.negations([fold(each.text) for each in own_tokens(verb)]))
    if verb.lemma_ in told["reports verbs"]:
        return Mood.REPORTED
    if verb.lemma_ not in told["factive"] or denied or marks & {"if", "whether"}:
        return Mood.SUPPOSED
    return _own_mood(verb, words)
