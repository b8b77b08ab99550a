"""Cuts a German text into clauses, at pauses and joints before a word that begins one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from concord_reading.frame import Mood
from concord_reading.lexicon import lexicon
from concord_reading.tokens import Token, sentences_of

_MARKS: dict[Mood, set[str]] = {
    Mood.CONDITIONAL: {"wenn", "falls", "sofern"},
    Mood.PLANNED: {"plant", "plane", "planen", "will", "wollen"},
    Mood.WISHED: {"möchte", "möchten", "hofft", "hoffe", "hoffen", "wünsche"},
    Mood.REPORTED: {"laut", "angeblich", "behauptet", "behaupten"},
}


def clauses_of(text: str) -> Iterator[tuple[list[Token], Mood]]:
    """Yield the tokens of each clause, and its mood as its words and those around it show it."""
    classes = lexicon("de").words
    for sentence, end in sentences_of(text, lexicon("de")):
        parts = [part for part in _parts(sentence) if part]
        asks = [_asks(part) for part in parts]
        is_asked = "?" in end and not any(asks)
        depends = any(part[0].word in classes["condition"] for part in parts)
        follows_report = False
        for part, asking in zip(parts, asks, strict=True):
            is_asked = is_asked or asking
            spelt = [token.word for token in part]
            # "Ada hofft, dass ..."
            is_reported = follows_report and spelt[0] in classes["reporting"]
            is_reported = is_reported or lexicon("de").has_phrase("unasserted phrases", spelt)
            follows_report = is_reported or spelt[-1] in classes["reports"]
            mood = Mood.ASKED if is_asked else Mood.ASSERTED
            if not is_asked and (depends or is_reported):
                marks = (mood for mood, marks in _MARKS.items() if not marks.isdisjoint(spelt))
                mood = next(marks, Mood.SUPPOSED)
            yield part, mood


def _parts(sentence: Sequence[Token]) -> Iterator[list[Token]]:
    """Cut a sentence. The "Nein" of "Nein, ..." is an answer that denies nothing, and left out."""
    classes = lexicon("de").words
    joints, openers = classes["joint"], classes["opener"]
    part: list[Token] = []
    for token, following in zip_longest(sentence, sentence[1:]):
        joins, pauses = token.word in joints, not token.stem
        if not part and following and not following.stem and token.word in classes["interjection"]:
            continue
        opens = following is not None and following.word in openers | joints
        if ((joins or pauses) and opens) or (joins and token.word in openers) or token.word in "()":
            yield part
            part = []
        if not pauses and not (token.word in classes["and"] and not part):
            part.append(token)
    yield part


def _asks(part: Sequence[Token]) -> bool:
    """Whether a part begins as a question does: "kannst du", "wie"."""
    classes = lexicon("de").words
    if len(part) < 2 or part[0].word not in classes["question"]:
        return False
    is_auxiliary = part[0].word in classes["auxiliary"]
    return not is_auxiliary or part[1].word in classes["pronoun"]
