"""Judges texts by what their sentences say; what cannot be read is not judged (D3, D4)."""

from __future__ import annotations

import re

from concord_concepts.normal_form import fold
from concord_reading.frame import Aspect, Frame, Role
from concord_reading.frame import Kind as WordKind
from concord_reading.lexicon import lexicon
from concord_reading.people import person
from concord_reading.tokens import tokens_of

from concord_dissonance.domain.judges.matching import Disagreement, Effect, disagreement
from concord_dissonance.domain.judges.structural import (
    are_apart,
    older_by_restating,
    older_by_stated_time,
)
from concord_dissonance.domain.sides import Kind, Rules, Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    ConflictType,
    Judge,
    Older,
    Reason,
    Verdict,
)

CONFIDENCE = 0.9
"""Of all findings of text: the least share of right ones that a check may record (D4). Too few are
found yet for a figure of each rule; `make bench ARGS=real-checks` prints the share."""
MOST_FRAMES = 40
"""Frames of a side that are compared; a longer text is a document."""
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_OWNS = Role.SUBJECT, "of"


def judge_texts(first: Side, second: Side, rules: Rules) -> Verdict | Abstention:
    """Judge two sides by the frames of their texts."""
    if (first.kind is Kind.PLAN) != (second.kind is Kind.PLAN):
        return Abstention(Abstained.NOT_ASSERTED)
    if first.frames.language != second.frames.language:
        return Abstention(Abstained.NOTHING_TO_COMPARE)
    if are_apart(first, second):
        return Abstention(Abstained.OTHER_TIME)
    if first.prose.split() == second.prose.split() and first.sources == second.sources:
        return Verdict(ConflictClass.NONE, Judge.LEXICAL, Reason.SAME_STATEMENT, 1.0)
    said: list[Verdict] = []
    missed: list[Abstained] = []
    for one in first.frames.asserted[:MOST_FRAMES]:
        for other in second.frames.asserted[:MOST_FRAMES]:
            owned = _is_somebodys(one, first) or _is_somebodys(other, second)
            if owned or one.things.isdisjoint(other.things):
                missed.append(Abstained.NO_COMPARABLE_SUBJECT)
                continue
            found = disagreement(one, other, rules)
            if isinstance(found, Abstained):
                missed.append(found)
            elif _reads_otherwise(one, first, other, second):
                missed.append(Abstained.OTHER_SCOPE)
            else:
                said.append(_verdict(found, first, second))
    if said:
        return said[0]
    return Abstention(max(missed, key=_NEAREST.index, default=_unread(first, second)))


def _reads_otherwise(one: Frame, first: Side, other: Frame, second: Side) -> bool:
    """Whether words that stand in no frame differ and may limit: "much", "that Bo bought"; or tell
    of the day of writing: "this week"."""
    words = lexicon(one.language).words
    spelt = _loose(one, first), _loose(other, second)
    limits = (spelt[0] ^ spelt[1]) - words["harmless"]
    limits |= (spelt[0] | spelt[1]) & words["deictic"]
    return bool(limits) or _is_labelled(one, first) or _is_labelled(other, second)


def _is_labelled(frame: Frame, side: Side) -> bool:
    """Whether a label stands before what it says: "TODO: the server is down"."""
    verb = frame.words[frame.verb].start if frame.verb >= 0 else 0
    return ": " in _SENTENCE_END.split(side.text[:verb])[-1]


def _loose(frame: Frame, side: Side) -> frozenset[str]:
    """Return the words between the first and the last of a frame that are neither in it nor a
    preposition of it."""
    links = {each.link for each in frame.words}
    if "used-to" in frame.adverbs:
        links.add("to")
    start, end = frame.span
    spelt = tokens_of(side.text[start:end], lexicon(frame.language))
    return frozenset(
        "can" if token.word in ("cannot", "ca") else token.word
        for token in spelt
        if token.word not in links
        and not any(e.start - start <= token.start < e.end - start for e in frame.words)
    )


def _is_somebodys(frame: Frame, side: Side) -> bool:
    """Whether nobody knows whose its subject is: "his office". "Our" is of those who remember."""
    owners = (
        person(fold(side.text[each.start : each.end]))
        for each in frame.words
        if each.kind is WordKind.PERSON and not each.key and (each.role, each.link) == _OWNS
    )
    return any(each is not None and each.name != "we" for each in owners)


def _unread(first: Side, second: Side) -> Abstained:
    if first.frames.frames and second.frames.frames:
        return Abstained.NOT_ASSERTED
    return Abstained.NOTHING_TO_COMPARE


def _verdict(found: Disagreement, first: Side, second: Side) -> Verdict:
    older, why = _older(found, first, second)
    conflict = ConflictClass.CONTRADICTION
    if found.effect is Effect.LIMITS:
        conflict, older = ConflictClass.NUANCE, Older.NEITHER
    elif older is not Older.NEITHER and not _denies_all_before(found, older):
        conflict = ConflictClass.EVOLUTION
    else:
        older = Older.NEITHER
    return Verdict(
        conflict,
        Judge.LEXICAL,
        why if conflict is ConflictClass.EVOLUTION else found.reason,
        CONFIDENCE,
        older,
        _type(conflict, found, first, second),
        first=(found.first.span,),
        second=(found.second.span,),
    )


def _denies_all_before(found: Disagreement, older: Older) -> bool:
    """Whether the later frame says that what the older one says never was."""
    later = found.second if older is Older.FIRST else found.first
    never = later.adverbs & lexicon(later.language).words["experience negation"]
    return found.reason is Reason.NEGATION and bool(never) and later.aspect is not Aspect.STATE


def _older(found: Disagreement, first: Side, second: Side) -> tuple[Older, Reason]:
    """Return the side with the former state, and the reason; arrival alone is never a reason."""
    if found.effect is Effect.FOLLOWS:
        return found.older, Reason.WORDS_OF_CHANGE
    changed = _older_by_words(_phrases(found.first, first), _phrases(found.second, second))
    if changed is not Older.NEITHER:
        return changed, Reason.WORDS_OF_CHANGE
    if (past := _older_by_tense(found.first, found.second)) is not Older.NEITHER:
        return past, Reason.WORDS_OF_CHANGE
    if (stated := older_by_stated_time(first, second)) is not Older.NEITHER:
        return stated, Reason.LATER_STATE
    return older_by_restating(first, second), Reason.RESTATED


def _older_by_tense(one: Frame, other: Frame) -> Older:
    was = [each.aspect is Aspect.PAST_STATE for each in (one, other)]
    if was[0] == was[1] or Aspect.EVENT in (one.aspect, other.aspect):
        return Older.NEITHER
    return Older.FIRST if was[0] else Older.SECOND


def _older_by_words(one: frozenset[str], other: frozenset[str]) -> Older:
    """Return the side with the former state: it says "used to", or the other one says "now"."""
    first = "former" in one or ("latter" in other and "latter" not in one)
    second = "former" in other or ("latter" in one and "latter" not in other)
    if first == second:
        return Older.NEITHER
    return Older.FIRST if first else Older.SECOND


def _phrases(frame: Frame, side: Side) -> frozenset[str]:
    words = lexicon(frame.language)
    spelt = [token.word for token in tokens_of(side.text[slice(*frame.span)], words)]
    classes = ("former", "latter")
    return frozenset(each for each in classes if words.has_phrase(f"{each} phrases", spelt))


def _type(conflict: ConflictClass, found: Disagreement, first: Side, second: Side) -> ConflictType:
    if conflict is ConflictClass.EVOLUTION or found.reason is Reason.DATE:
        return ConflictType.TEMPORAL
    words = lexicon(found.first.language)
    spelt = [
        {token.word for token in tokens_of(side.text[slice(*frame.span)], words)}
        for side, frame in ((first, found.first), (second, found.second))
    ]
    for name, kind in (("legal", ConflictType.LEGAL), ("method", ConflictType.METHODOLOGICAL)):
        if all(each & words.words[name] for each in spelt):
            return kind
    return ConflictType.FACTUAL


_NEAREST = (
    Abstained.NOTHING_TO_COMPARE,
    Abstained.NO_COMPARABLE_SUBJECT,
    Abstained.NO_COMPARABLE_ATTRIBUTE,
    Abstained.NOT_ASSERTED,
    Abstained.TOO_DIFFERENT,
    Abstained.UNDECLARED,
    Abstained.OTHER_SCOPE,
    Abstained.OTHER_TIME,
    Abstained.UNKNOWN_FILLERS,
)
"""Abstentions in order: the last one came nearest to a verdict."""
