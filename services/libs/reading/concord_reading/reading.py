"""Reads a text into clauses, each with its tokens, its negations and its mood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from unicodedata import category

from concord_concepts.normal_form import fold

from concord_reading.clauses import Clause, Mood, Reading
from concord_reading.lexicon import Lexicon, lexicon, phrases_at, telling_words
from concord_reading.prose import prose, without_quotations
from concord_reading.tokens import Token, has_phrase

_TOKEN = re.compile(
    r"(?P<number>\d{4}-\d\d-\d\d(?!\d)|\d+(?:[.,:/]\d+)*"
    r"(?:\.(?=\s(?i:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)))?)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)"
    r"|(?P<sign>[%€$£~°])"
    r"|(?P<end>[.!?]+(?=[\s\"”“'’)]|$)|[;\n])"
    r"|(?P<pause>[,:()–—]|(?<=\s)-+(?=\s))"
)
DEFAULT_LANGUAGE = "en"
_UMLAUTS = frozenset("äöü")
_NEGATED = re.compile(r"(.+)(n't)")


def read(text: str, *, plans: bool = False, language: str = "") -> Reading:
    """Read a text of any length, in linear time.

    `plans`: words of planning leave a clause asserted. `language`: empty: found by the words.
    """
    visible, places = _visible(text)
    visible = without_quotations(prose(visible))
    found = list(_TOKEN.finditer(visible))
    words = [fold(each.group()) for each in found if each.lastgroup == "word"]
    recognised = _language(words)
    language = language or recognised or DEFAULT_LANGUAGE
    sentences = _sentences(found, lexicon(language), places)
    clauses = [
        clause
        for number, (sentence, end) in enumerate(sentences)
        for clause in _clauses(number, sentence, end, lexicon(language), plans=plans)
    ]
    return Reading(language, tuple(clauses), is_language_known=bool(recognised))


def language_shown(text: str) -> bool:
    """Whether a text's words show its language."""
    return read(text).is_language_known


def language_of(*texts: str) -> str:
    """Return the language of the first text whose words show one; else the default one."""
    readings = map(read, texts)
    return next((each.language for each in readings if each.is_language_known), DEFAULT_LANGUAGE)


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Return the text without invisible characters, and the place of each other character."""
    if text.isascii() or not any(category(each) == "Cf" for each in text):
        return text, range(len(text) + 1)
    places = [at for at, each in enumerate(text) if category(each) != "Cf"]
    return "".join(text[at] for at in places), [*places, len(text)]


def _language(words: Sequence[str]) -> str:
    """Return the language with the most function words; empty if two have equally many."""
    counts = {
        language: sum(word in telling for word in words)
        for language, telling in telling_words().items()
    }
    counts["de"] += sum(not _UMLAUTS.isdisjoint(word) for word in words)
    best = max(counts, key=lambda each: counts[each])
    return best if sum(count == counts[best] for count in counts.values()) == 1 else ""


def _sentences(
    found: Sequence[re.Match[str]], words: Lexicon, places: Sequence[int]
) -> Iterator[tuple[list[Token], str]]:
    """Yield the tokens and the end mark of each sentence; a pause is a token without a stem."""
    sentence: list[Token] = []
    for each in found:
        start, end = places[each.start()], places[each.end() - 1] + 1
        if each.lastgroup == "end":
            yield sentence, each.group()
            sentence = []
        elif each.lastgroup == "pause":
            sentence.append(Token(each.group(), "", start, end))
        elif each.lastgroup == "word":
            sentence.extend(_words(each.group(), start, end, words))
        else:
            written = each.group().rstrip(".")
            sentence.append(Token(written, written, start, end))
    yield sentence, ""


def _words(written: str, start: int, end: int, words: Lexicon) -> Iterator[Token]:
    """Yield a word, or the two that an apostrophe joins."""
    word = fold(written).replace("’", "'")
    negated = _NEGATED.fullmatch(word)
    first, second = negated.groups() if negated else (word, "")
    if not negated and "'" in word:
        first, _, second = word.partition("'")
        second = f"'{second}"
    yield Token(first, words.stem(first), start, end)
    if second and second != "'s":
        yield Token(second, second, start, end)


def _clauses(
    number: int, sentence: Sequence[Token], end: str, words: Lexicon, *, plans: bool
) -> Iterator[Clause]:
    parts = [part for part in _parts(sentence, words) if part]
    asks = [_asks(part, words) for part in parts]
    whole = "?" in end and not any(asks)
    depends = any(part[0].word in words.words["condition"] for part in parts)
    questioned = wished = False
    for part, asking in zip(parts, asks, strict=True):
        questioned = questioned or asking
        mood = Mood.QUESTION if whole or questioned else Mood.ASSERTED
        reported = wished and part[0].word in words.words["reporting"]  # Ada hopes that ...
        wished = reported or _is_wished(part, words, plans=plans)
        if mood is Mood.ASSERTED and (depends or wished):
            mood = Mood.WISHED
        wished = wished or part[-1].word in words.words["reports"]
        yield Clause(tuple(part), mood, tuple(_negations(part, words)), words, number)


def _parts(sentence: Sequence[Token], words: Lexicon) -> Iterator[list[Token]]:
    """Cut a sentence at each pause or joint before a word that begins a clause. The "No" of
    "No, ..." is an answer that denies nothing, and is left out."""
    joints, openers = words.words["joint"], words.words["opener"]
    part: list[Token] = []
    for token, following in zip_longest(sentence, sentence[1:]):
        joins, pauses = token.word in joints, not token.stem
        paused = following is not None and not following.stem
        if not part and paused and token.word in words.words["interjection"]:
            continue
        opens = following is not None and following.word in openers | joints
        if ((joins or pauses) and opens) or (joins and token.word in openers) or token.word in "()":
            yield part
            part = []
        if not pauses and not (token.word in words.words["and"] and not part):
            part.append(token)
    yield part


def _asks(part: Sequence[Token], words: Lexicon) -> bool:
    """Whether a part begins as a question does: "can you", "how do I"."""
    if len(part) < 2 or part[0].word not in words.words["question"]:
        return False
    second = part[1].word
    first_is_auxiliary = part[0].word in words.words["auxiliary"]
    return second in words.words["pronoun"] if first_is_auxiliary else True


def _is_wished(part: Sequence[Token], words: Lexicon, *, plans: bool) -> bool:
    return has_phrase(part, words, "unasserted phrases") or (
        not plans and has_phrase(part, words, "plan phrases")
    )


def _negations(part: Sequence[Token], words: Lexicon) -> Iterator[int]:
    """Yield the places of negations; "with no" and "not only" deny no whole clause."""
    spelt = [token.word for token in part]
    skip = 0
    for at, word in enumerate(spelt):
        skip = max(skip, at + phrases_at(words.phrases["no negation phrases"], spelt, at))
        local = at > 0 and spelt[at - 1] in words.words["local prepositions"]
        if at >= skip and word in words.words["negation"] and not local:
            yield at
