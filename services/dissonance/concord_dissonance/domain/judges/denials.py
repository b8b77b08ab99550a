"""Finds where one text denies what another says: by a negated clause, or by "never"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concord_dissonance.domain.judges.finding import Finding
from concord_reading.clauses import Clause, Mood, Reading
from concord_reading.tokens import Token, content_of
from concord_dissonance.domain.verdicts import Older, Reason

_LEAST_TAKEN_UP = 0.5
"""Least share of a clause's content that its denial repeats."""
_LEAST_TOLD = 0.5
"""Least share of a denied experience that the other text tells of."""
_WELL_TOLD = 0.8
_FEWEST_AFFIRMED = 2


def denied_clauses(first: Reading, second: Reading) -> Iterator[Finding]:
    """Yield pairs of clauses: one asserts all that the other denies, and not much more."""
    for one in first.asserted:
        for other in second.beside(one):
            if one.is_denied_now == other.is_denied_now or not same_speaker(one, other):
                continue
            if _is_of_another_time(one, other) or _is_of_another_state(one, other):
                continue
            denying, said = (one, other) if one.is_denied_now else (other, one)
            denied = _denied(denying)
            if not denied or not denied <= said.content.keys():
                continue
            if denying.has("experience negation") and said.goes_on(denied):
                continue  # "never" until now, and going on now for the first time
            if len(denied) >= _LEAST_TAKEN_UP * len(said.content):
                yield Finding(Reason.NEGATION, "denial", one, other, _who_denies(one, other))


def denied_experiences(first: Reading, second: Reading) -> Iterator[Finding]:
    """Yield pairs of clauses: one denies an experience that the other text tells of."""
    for clause in first.clauses:
        if found := _affirmed(clause, second):
            pattern, affirmed = found
            yield Finding(Reason.NEGATION, pattern, clause, affirmed, Older.FIRST)
    for clause in second.clauses:
        if found := _affirmed(clause, first):
            pattern, affirmed = found
            yield Finding(Reason.NEGATION, pattern, affirmed, clause, Older.SECOND)


def experiences_denied(text: Reading) -> Iterator[tuple[Clause, set[str]]]:
    """Yield clauses that deny an experience, with its stems, or those of one alternative."""
    for clause in text.clauses:
        at, _ = _denies_experience(clause)
        if at is not None:
            yield from (
                (clause, part) for part in _parts(clause, at) if len(part) >= _FEWEST_AFFIRMED
            )


def _who_denies(one: Clause, other: Clause) -> Older:
    """Return which of two clauses denies an experience: for all the time before it was said."""
    if _denies_experience(one)[0] is not None:
        return Older.FIRST
    return Older.NEITHER if _denies_experience(other)[0] is None else Older.SECOND


def _is_of_another_time(one: Clause, other: Clause) -> bool:
    """Whether only one of two clauses tells of the past, or names a date."""
    return one.is_past != other.is_past or one.is_dated != other.is_dated


def _is_of_another_state(one: Clause, other: Clause) -> bool:
    """Whether two clauses name different states ("not down" and "up"), or one an exception."""
    excepts = one.has("except phrases") or other.has("except phrases")
    both = one.particles and other.particles
    return excepts or bool(both and one.particles.isdisjoint(other.particles))


def same_speaker(one: Clause, other: Clause) -> bool:
    """Whether the subject pronouns of two clauses can stand for the same person or thing."""
    return not one.pronoun or not other.pronoun or one.pronoun == other.pronoun


def _denied(clause: Clause) -> set[str]:
    """Return the denied stems: "and not" denies only the words after it, "but" ends a denial."""
    words, tokens = clause.words.words, clause.tokens
    at = clause.negations[0] if clause.negations else 0
    begin = at if at and tokens[at - 1].word in words["joint"] else 0
    buts = (i for i in range(at, len(tokens)) if tokens[i].word in words["but"])
    return set(content_of(tokens[begin : next(buts, len(tokens))], clause.words))


def _affirmed(clause: Clause, other: Reading) -> tuple[str, Clause] | None:
    """Return the pattern by which `other` tells of the experience that a clause denies, and its
    clause that tells most of it; None: it does not."""
    at, implied = _denies_experience(clause)
    if at is None:
        return None
    affirmed = [each for each in other.clauses if not each.is_negated and each.tokens]
    everything = {stem for each in affirmed for stem in each.content}
    best = max((_share(part, everything) for part in _parts(clause, at)), default=0.0)
    if best < _LEAST_TOLD:
        return None
    denied = set(content_of(clause.tokens[at:], clause.words))
    where = max(affirmed, key=lambda each: len(denied & each.content.keys()))
    if where.goes_on(denied):
        return None  # "never" until now, and going on now for the first time
    if implied:
        return "experience implied", where
    return "experience" if best >= _WELL_TOLD else "experience in part", where


def _denies_experience(clause: Clause) -> tuple[int | None, bool]:
    """Return where the denial of an experience begins, and whether "any" or "ever" alone shows it.

    A question can contain a denial if it says "I have", but not if it says "have I".
    """
    words, spelt = clause.words.words, [token.word for token in clause.tokens]
    for at in clause.negations:
        stated = {*spelt[max(0, at - 2) : at - 1]} & words["subject pronoun"]
        if clause.mood is Mood.QUESTION and not stated:
            continue
        if spelt[at] in words["experience negation"] or clause.has("perfect"):
            return at, False
    supposed = spelt[:1] and spelt[0] in words["condition"]
    if not supposed and not clause.negations and clause.has("polarity item"):
        for at, word in enumerate(spelt):
            claimed = clause.mood is Mood.ASSERTED or spelt[at - 1] in words["subject pronoun"]
            if claimed and word in words["perfect"] and words["polarity item"] & set(spelt[at:]):
                return at, True
    return None, False


def _parts(clause: Clause, at: int) -> Iterator[set[str]]:
    """Yield the stems that are denied, and those of each alternative ("neither A nor B")."""
    tokens = clause.tokens[at:]
    yield set(content_of(tokens, clause.words))
    for part in _alternatives(tokens, clause):
        stems = set(content_of(part, clause.words))
        if len(stems) >= _FEWEST_AFFIRMED:
            yield stems


def _alternatives(tokens: Sequence[Token], clause: Clause) -> Iterator[list[Token]]:
    part: list[Token] = []
    for token in tokens:
        if token.word in clause.words.words["or"]:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _share(part: set[str], everything: set[str]) -> float:
    affirmed = part & everything
    return len(affirmed) / len(part) if len(affirmed) >= _FEWEST_AFFIRMED else 0.0
