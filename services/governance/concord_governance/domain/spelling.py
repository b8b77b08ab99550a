"""How a text is compared, however its letters are written (V3).

Letters that look like Latin ones are those of Unicode's confusables (UTS 39) in Cyrillic, Greek and
Armenian, with a few of Latin's own; widths, ligatures and mathematical letters fall to NFKD.
"""

from __future__ import annotations

import re
import unicodedata

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
_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are blank; all other invisible ones are of a category of their own."""


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
