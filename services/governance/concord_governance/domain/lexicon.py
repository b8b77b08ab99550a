"""Words that a neutral proposal leaves out (V3), in English and German.

Stems match from a word's beginning, words match whole, phrases match as they stand. Texts are
compared without case, accents, look-alike width, and characters that nobody sees.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

_RECOMMENDING = (
    # English
    "recommend*", "advis*", "suggest approv*", "should", "shouldn't", "ought", "must", "mustn't",
    "need to", "needs to", "have to", "has to", "better to", "best", "wise", "wisely", "sensible",
    "advantageous", "beneficial", "worthwhile", "desirable", "obviously", "clearly", "of course",
    "undoubtedly", "certainly", "definitely", "no-brainer", "please approve", "please reject",
    "please accept", "correct choice", "right choice", "wrong choice", "superior", "inferior",
    "improve*", "improvement*",
    # German
    "empfehl*", "empfiehl*", "empfohlen*", "rate dazu", "raten dazu", "ratsam*", "sollte*",
    "sollst", "sollen", "soll", "muss", "musst", "müsst*", "müssen", "besser*", "beste*",
    "sinnvoll*", "vernünftig*", "vorteilhaft*", "lohnend*", "wünschenswert*", "offensichtlich*",
    "selbstverständlich*", "zweifellos*", "natürlich", "unbestreitbar*", "eindeutig*",
    "bitte genehmig*", "bitte bestätig*", "bitte ablehn*", "richtige wahl", "falsche wahl",
    "verbesser*",
)  # fmt: skip

_URGENT = (
    "urgent*", "immediate*", "instantly", "asap", "as soon as possible", "right away", "right now",
    "hurry", "quickly", "without delay", "time-critical", "critical", "last chance", "deadline",
    "before it is too late", "emergency", "emergencies", "act now",
    "dringend*", "dringlich*", "sofort*", "umgehend*", "unverzüglich*", "schnellstmöglich*",
    "so bald wie möglich", "eilig*", "eilt", "beeil*", "höchste zeit", "letzte chance",
    "ohne aufschub", "notfall*", "kritisch*", "frist", "bevor es zu spät ist",
)  # fmt: skip

_FEELING = (
    "unfortunate*", "sadly", "happy", "happily", "glad*", "delight*", "excit*", "afraid", "fear*",
    "worr*", "regret*", "sorry", "hope*", "hoping", "love*", "hate*", "terribl*", "horribl*",
    "wonderful*", "amazing*", "awful*", "great", "danger*", "harm*", "threat*", "disaster*",
    "catastroph*", "shame*", "guilt*", "proud*", "betray*", "suffer*", "painful*", "angr*",
    "leider", "bedauer*", "traurig*", "glücklich*", "freu*", "froh*", "angst*", "ängst*",
    "fürcht*", "sorge", "sorgen", "hoff*", "lieb*", "hass*", "schrecklich*", "furchtbar*",
    "wunderbar*", "großartig*", "toll*", "gefahr*", "gefähr*", "schaden", "schadet", "schädlich*",
    "bedroh*", "katastroph*", "schäm*", "schuldgefühl*", "stolz*", "verrat*", "leiden", "leidet",
    "schmerz*", "wütend*", "ärger*",
)  # fmt: skip

_PREFERRING = (
    "prefer*", "favor*", "favour*", "i want", "we want", "i would like", "we would like",
    "i'd like", "rather not", "would rather", "wish*", "ideally", "my choice", "i believe",
    "we believe", "i think", "we think", "in my opinion", "in our opinion", "i feel",
    "bevorzug*", "lieber", "am liebsten", "ich will", "wir wollen", "ich möchte", "wir möchten",
    "ich wünsche", "wünsch*", "idealerweise", "meine wahl", "ich glaube", "wir glauben",
    "ich denke", "wir denken", "meiner meinung", "unserer meinung", "ich finde", "wir finden",
)  # fmt: skip

LEXICON = {
    "recommendation": _RECOMMENDING,
    "urgency": _URGENT,
    "feeling": _FEELING,
    "preference": _PREFERRING,
}
"""What each word is left out for."""


def violations(texts: Iterable[str]) -> list[str]:
    """Return the words that are not neutral, as they are compared, each once, in order."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _pattern().finditer(plain(text)):
            found[match.group()] = None
    return list(found)


def plain(text: str) -> str:
    """Return a text as it is compared: no case, accents, widths or invisible characters."""
    wide = unicodedata.normalize("NFKD", text.casefold())
    seen = "".join(
        letter for letter in wide if unicodedata.category(letter) not in ("Mn", "Cf", "Cc")
    )
    return re.sub(r"\s+", " ", seen.replace("’", "'"))


@cache
def _pattern() -> re.Pattern[str]:
    parts = []
    for words in LEXICON.values():
        for word in words:
            stem = re.escape(plain(word.removesuffix("*"))).replace(r"\ ", " ")
            parts.append(stem + (r"\w*" if word.endswith("*") else ""))
    longest_first = sorted(parts, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")
