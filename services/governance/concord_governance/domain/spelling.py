"""Normalizes a text, so that no unusual letters keep it from comparing equal (V3).

The look-alikes of Latin letters come from Unicode's confusables (UTS 39) in Cyrillic, Greek and
Armenian, with a few Latin ones; NFKD replaces widths, ligatures and mathematical letters.
"""

from __future__ import annotations

import re
import unicodedata

# Small letters suffice, as texts are casefolded before: Cyrillic, Greek, Armenian, and Latin ones,
# some with strokes that no normal form removes. After each letter stands its plain Latin letter.
_PAIRS = (
    "аa вb еe ѐe ёe гr һh іi їi јj кk ӏl мm нh оo рp ԛq ѕs сc тt уy үy хx ѡw ԝw ԁd ьb ѵv "
    "αa βb γy εe ηn ιi κk νv οo ρp σo ςc τt υu χx ωw ϲc ϳj "
    "օo սu ոn հh ցg զq ռn "
    "ɑa ɡg ıi ɩi ɪi ʟl ɴn ʀr ʏy ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ᴊj ᴋk ᴍm ᴏo ᴘp ꜱs ᴛt ᴜu ᴠv ᴡw ᴢz "
    "øo đd ħh łl ŧt ƅb ɓb ɗd ǝe əe ɛe ɨi ɵo ʋu"
)
_LOOK_ALIKE = str.maketrans({pair[0]: pair[1:] for pair in _PAIRS.split()})
_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Blank letters and symbols; all other invisible ones are recognized by their Unicode category."""


def plain(text: str) -> str:
    """Return a text normalized: without case, accents, widths, look-alikes or unseen letters."""
    wide = unicodedata.normalize("NFKD", re.sub(r"\s+", " ", text).casefold())
    seen = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", wide.casefold())
        if unicodedata.category(letter) not in {"Mn", "Me", "Cf", "Cc"} and letter not in _INVISIBLE
    )
    quoted = seen.translate(_LOOK_ALIKE).replace("’", "'").replace("ʼ", "'").replace("_", " ")
    return re.sub(r"\s+", " ", quoted)
