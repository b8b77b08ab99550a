"""A text as the tokenizer of words should see it: in any script, one spelling a word.

That tokenizer splits at all but letters and digits, and stems English. It knows no word of a
language without blanks, and takes a script's marks for blanks. So a run of another script than the
Latin one becomes its n-grams of characters, without a dictionary: pairs of syllables and ideographs
(Han, kana, Hangul, Thai, Devanagari, ...), runs of four letters of alphabets (Cyrillic, Greek,
Arabic, Hebrew, ...), and each ideograph and each sign such as an emoji by itself. They are written
in digits, which the stemmer leaves alone.

Compounds are found by their parts without a dictionary, too: `parts`.
"""

import re
from collections.abc import Callable, Iterator
from unicodedata import category, normalize

MARK = "ɣ"
"""Begins a made word and joins its parts: a letter for the tokenizer, and of no word."""

SYLLABLES, LETTERS = 2, 4
"""The length of an n-gram: of syllables and ideograms, and of an alphabet's letters."""

_ALPHABETS = re.compile("[\u0370-\u08ff\u10a0-\u10ff\u1c80-\u1cbf\u1f00-\u1fff]")
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_OTHER_SCRIPT = re.compile("[^\\s\x00-\u036f\u1e00-\u1eff\u2000-\u20cf\u3000-\u3004\u3008-\u3020]+")
"""A run without the Latin script's letters, its marks and the commonest punctuation."""

PART = 4
"""The least letters of a part of a long word that is found by itself, and of the rest."""

_LONG_WORD = re.compile(r"(?<!\w)[a-z]{9,30}(?!\w)")
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d+(?:\.\d+)+)(?!\w)")
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=[^\W\d_]{2})", re.IGNORECASE)
_SHORT_NAME = re.compile(r"\b[A-Z]{2,4}\b")
_SMALL = re.compile("[a-z]")
_UMLAUTS = str.maketrans(
    {**dict(zip("äöüÄÖÜ", ("ae", "oe", "ue", "Ae", "Oe", "Ue"), strict=True)), "ß": "ss"}
)
_WITH_UMLAUT = re.compile(r"\w*[äöüÄÖÜ]\w*")


def spelled(text: str, is_stop_word: Callable[[str], bool], *, every: bool) -> str:
    """The text for the tokenizer.

    `every`: with all spellings by which a query may ask (of an indexed text), or with one.
    """
    if not text.isascii():
        text = _OTHER_SCRIPT.sub(lambda run: _grams(run[0], every=every), normalize("NFKC", text))
        if every:  # "Björn" is also asked for as "Bjorn"
            text = _WITH_UMLAUT.sub(lambda word: f"{word[0]} {_plain(word[0])}", text)
        text = _plain(text.translate(_UMLAUTS))
    if "'" in text or "’" in text:
        text = _ELIDED.sub("", text)
    if "." in text:
        text = _VERSION.sub(lambda found: _version(found, every=every), text)
    if _SMALL.search(text) or " " not in text:  # a text all in capitals says nothing by them
        text = _SHORT_NAME.sub(lambda found: _name(found[0], is_stop_word), text)
    return text


def parts(text: str) -> list[str]:
    """The beginnings and ends of a spelled text's long words, each once: of compounds."""
    words = {*_LONG_WORD.findall(text.lower())}
    return [
        part
        for word in sorted(words)
        for size in range(PART, len(word) - PART + 1)
        for part in (word[:size], word[-size:])
        if size - part.endswith(("e", "s")) >= PART  # the stemmer takes these off
    ]


def _plain(text: str) -> str:
    """The text without marks upon letters: "café" is "cafe"."""
    return "".join(each for each in normalize("NFD", text) if category(each) != "Mn")


def _version(found: re.Match[str], *, every: bool) -> str:
    """A version by parts and as one word; in an indexed text as each that it belongs to, too."""
    parts = found[1].split(".")
    lengths = range(2, len(parts) + 1) if every else [len(parts)]
    words = [MARK + MARK.join(parts[:length]) for length in lengths]
    return " ".join([*([found[0]] if every else []), found[1], *words])


def _name(word: str, is_stop_word: Callable[[str], bool]) -> str:
    """A name that without its capitals would be a stop word: IT."""
    return f"{MARK}{word}" if is_stop_word(word.lower()) else word


def _grams(run: str, *, every: bool) -> str:
    made = (
        MARK + MARK.join(str(ord(each)) for each in gram) for gram in _each_gram(run, every=every)
    )
    return f" {' '.join(made)} "


def _each_gram(run: str, *, every: bool) -> Iterator[str]:
    """The n-grams of each word; a sign is a word."""
    for word in _words(run):
        size = LETTERS if _ALPHABETS.match(word[0]) else SYLLABLES
        starts = range(max(1, len(word) - size + 1))
        yield from ("".join(word[start : start + size]).casefold() for start in starts)
        if size == SYLLABLES and len(word) > 1:
            yield from (each for each in word if every or _IDEOGRAPH.match(each))


def _words(run: str) -> Iterator[list[str]]:
    """The words of a run, each as its letters with their marks; signs alone."""
    word: list[str] = []
    for each in run:
        kind = category(each)
        if word and kind[0] == "M":
            word[-1] += each
            continue
        if kind[0] in "LN":
            if word and bool(_ALPHABETS.match(word[0])) != bool(_ALPHABETS.match(each)):
                yield word
                word = []
            word.append(each)
            continue
        if word:
            yield word
            word = []
        if kind == "So":
            yield [each]
    if word:
        yield word
