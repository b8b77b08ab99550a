"""Numbers that are spelt out in several words, or with a half, in figures: "four and a half"."""

from __future__ import annotations

import re

from concord_reading.lexicon import lexicon

_WORD = re.compile(r"[^\W\d_]+")
_HALF = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?P<word>once|twice|[^\W\d_]+mal)\b(?=\s+(?:an?|per|each|every|pro|je|im|am|in)\b)",
    re.IGNORECASE,
)
"""How often: "twice a year", "dreimal im Jahr"."""
_BOUNDS = {
    "en": {"not? more than": "at most", "not? (?:less|fewer) than": "at least"},
    "de": {"nicht mehr als": "höchstens", "nicht weniger als": "mindestens"},
}
"""A bound that denies nothing."""
_GAP = re.compile(r"[\s-]+")
_HUNDRED, _THOUSAND = 100, 1000


def in_figures(text: str, language: str) -> str:
    """Return a text with its numbers of several words, or with a half, in figures.

    Single words such as "four" stay. Bounds are told without a denial: "at most".
    """
    text = _german(text) if language == "de" else _english(text)
    for denied, bound in _BOUNDS[language].items():
        text = re.sub(rf"\b(?:{denied})\b", bound, text, flags=re.IGNORECASE)
    return _OFTEN.sub(lambda found: _often(found["word"], language), text)


def _often(word: str, language: str) -> str:
    """Return "3 Mal" for "dreimal"; what is none stays."""
    folded = word.casefold()
    if language == "en":
        return {"once": "1 times", "twice": "2 times"}.get(folded, word)
    number = _compound(folded.removesuffix("mal")) if folded.endswith("mal") else None
    return word if number is None else f"{number:g} Mal"


def _english(text: str) -> str:
    found, written = list(_WORD.finditer(text)), ""
    at = end = 0
    while at < len(found):
        number, last = _read(text, found, at)
        half = _HALF.match(text, found[last - 1].end()) if last > at else None
        if half or last > at + 1:
            written += text[end : found[at].start()] + (f"{number}.5" if half else f"{number}")
            end = half.end() if half else found[last - 1].end()
            last = next((i for i in range(last, len(found)) if found[i].start() >= end), len(found))
        at = max(last, at + 1)
    return written + text[end:]


def _read(text: str, found: list[re.Match[str]], begin: int) -> tuple[int, int]:
    """Return the number that begins at a word, and the place after its last one."""
    total = current = 0
    at, least, is_joined = begin, _THOUSAND, False
    while at < len(found):
        word = found[at].group().casefold()
        if at > begin and not _GAP.fullmatch(text, found[at - 1].end(), found[at].start()):
            break
        size = _sizes("en").get(word)
        if size is None or (size < _HUNDRED and size >= least):
            if word != "and" or is_joined or total + current < _HUNDRED:
                break
            is_joined = True  # "one hundred and forty"
            at += 1
            continue
        if size >= _THOUSAND:
            total, current, least = total + max(current, 1) * size, 0, _THOUSAND
        elif size == _HUNDRED:
            current, least = max(current, 1) * size, _HUNDRED
        else:  # "forty-two", and neither "two three" nor "twelve one"
            current, least = current + size, 10 if size >= 20 else 0
        is_joined = False
        at += 1
    return total + current, at - is_joined


def _german(text: str) -> str:
    def figures(found: re.Match[str]) -> str:
        word = found.group().casefold()
        if word in _sizes("de") or (number := _compound(word)) is None:
            return found.group()
        return f"{number:g}".replace(".", ",")

    return _WORD.sub(figures, text)


def _compound(word: str) -> float | None:
    """Return the number of "viereinhalb" or "zweihundertfünfzig"; None: it is none."""
    if word in ("anderthalb", "eineinhalb"):
        return 1.5
    if word.endswith("einhalb"):
        whole = _compound(word.removesuffix("einhalb"))
        return None if whole is None else whole + 0.5
    if word in _sizes("de"):
        return _sizes("de")[word]
    for name, size in (("tausend", _THOUSAND), ("hundert", _HUNDRED)):
        before, there, after = word.partition(name)
        if there:
            times = _compound(before) if before else 1
            rest = _compound(after.removeprefix("und")) if after else 0
            return None if times is None or rest is None else times * size + rest
    ones, there, tens = word.partition("und")
    one, ten = (_sizes("de").get(each) for each in (ones, tens))
    return ten + one if there and one and ten and one < 10 <= ten else None


def _sizes(language: str) -> dict[str, int]:
    words = lexicon(language)
    scales = {word: int(size) for word, size in words.scales.items()}
    return {**words.numbers, **scales, **({"ein": 1} if language == "de" else {})}
