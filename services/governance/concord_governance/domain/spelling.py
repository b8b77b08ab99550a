"""How a text is compared, however it is spelt (V3): the ways in which one word can be written.

Letters that look like Latin ones are those of Unicode's confusables (UTS 39) in Cyrillic, Greek and
Armenian, with a few of Latin's own; widths, ligatures and mathematical letters fall to NFKD.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Small letters suffice, as texts are casefolded before: Cyrillic, Greek, Armenian, and Latin's own,
# some with strokes that no normal form takes off. Each is followed by what it is taken for.
_PAIRS = (
    "аa вb еe ѐe ёe гr һh іi їi јj кk ӏl мm нh оo рp ԛq ѕs сc тt уy үy хx ѡw ԝw ԁd ьb ѵv "
    "αa βb γy εe ηn ιi κk νv οo ρp σo ςc τt υu χx ωw ϲc ϳj "
    "օo սu ոn հh ցg զq ռn "
    "ɑa ɡg ıi ɩi ɪi ʟl ɴn ʀr ʏy ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ᴊj ᴋk ᴍm ᴏo ᴘp ꜱs ᴛt ᴜu ᴠv ᴡw ᴢz "
    "øo đd ħh łl ŧt ƅb ɓb ɗd ǝe əe ɛe ɨi ɵo ʋu"
)
_LOOK_ALIKE = str.maketrans({pair[0]: pair[1:] for pair in _PAIRS.split()})
_FOREIGN = ("CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "LISU", "DESERET", "OSAGE")
"""Alphabets that share no word with Latin letters. Greek does, in units and formulas."""
_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are blank; all other invisible ones are of a category of their own."""
_FIGURES = str.maketrans("034578@$€", "oeastbase")
_SPACED = re.compile(r"(?<!\w)(?:\w\W){3,}\w(?!\w)")
_WITH_FIGURES = re.compile(r"(?=\S*[a-z])(?=\S*[0-9@$€|!])[\w@$€|!]{3,}")


def plain(text: str) -> str:
    """Return a text as it is compared: no case, accents, widths, look-alikes or unseen letters."""
    wide = unicodedata.normalize("NFKD", re.sub(r"\s+", " ", text).casefold())
    seen = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", wide.casefold())
        if unicodedata.category(letter) not in {"Mn", "Me", "Cf", "Cc"} and letter not in _UNSEEN
    )
    quoted = seen.translate(_LOOK_ALIKE).replace("’", "'").replace("ʼ", "'").replace("_", " ")
    return re.sub(r"\s+", " ", quoted)


def spellings(text: str) -> Iterator[str]:
    """Yield a text as it is compared, then as it reads where words are cut or ciphered."""
    words = plain(text)
    yield words
    humps = plain(re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", text))
    if humps != words:
        yield humps
    for one in "il":
        if (letters := _WITH_FIGURES.sub(_Lettered(one), words)) != words:
            yield letters


def spaced(text: str) -> Iterator[str]:
    """Yield what single letters with gaps between them spell, without the gaps."""
    for run in _SPACED.finditer(plain(text)):
        yield re.sub(r"\W", "", run.group())


def mixed(text: str) -> Iterator[str]:
    """Yield the words that mix Latin letters with those of an alphabet that shares none with it."""
    for word in re.findall(r"\w+", unicodedata.normalize("NFKC", text)):
        names = [unicodedata.name(letter, "") for letter in word if letter.isalpha()]
        if any(name.startswith("LATIN") for name in names) and any(
            name.startswith(_FOREIGN) for name in names
        ):
            yield plain(word)


@dataclass(frozen=True)
class _Lettered:
    """Reads figures as the letters that they look like; `one` is what 1 stands for."""

    one: str

    def __call__(self, word: re.Match[str]) -> str:
        return re.sub("[1|!]", self.one, word.group().translate(_FIGURES))
