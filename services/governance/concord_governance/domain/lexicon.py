"""Words that a neutral proposal leaves out (V3), in English and German.

Stems match from a word's beginning, words match whole, phrases match as they stand; an umlaut is
also met as two letters. What takes more than a word to say stands in `pressing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from concord_governance.domain.pressing import INNOCENT, TURNS
from concord_governance.domain.spelling import mixed, plain, spaced, spellings

__all__ = ["LEXICON", "is_quiet", "plain", "violations"]

_RECOMMENDING = (
    # English
    "recommend*", "advis*", "suggest approv*", "should", "shouldn't", "ought", "must", "mustn't",
    "need to", "needs to", "have to", "has to", "better to", "best", "wise", "wisely", "sensible",
    "advantageous", "beneficial", "worthwhile", "desirable", "obviously", "clearly", "of course",
    "undoubtedly", "certainly", "definitely", "no-brainer", "please approve", "please reject",
    "please accept", "correct choice", "right choice", "wrong choice", "superior", "inferior",
    "improve*", "improvement*", "please", "kindly", "urge", "urges", "urged", "urging",
    "encourag*", "insist*", "implor*", "beg", "begs", "begging", "plead*", "paramount", "crucial*",
    "indispensabl*", "gotta", "go ahead", "feel free", "no reason to", "no reason not", "safely",
    "trust me", "trust us", "believe me", "count on you", "right thing to do", "the right thing",
    "do the right", "good idea", "bad idea", "great idea", "makes sense", "nothing to lose",
    "no downside", "risk-free", "harmless*", "common sense", "of great value", "foolish*", "fool",
    "fools", "idiot*", "stupid*", "silly", "unwise*", "reckless*", "irresponsib*", "insane",
    "nonsens*", "no sense", "overthink*", "if i were you", "thank you", "thanks", "grateful*",
    "appreciate", "appreciated", "perfectly fine", "perfectly safe", "totally fine", "saying no",
    "saying yes", "excellent*", "perfect choice", "perfect solution", "fantastic*", "brilliant*",
    # German
    "empfehl*", "empfiehl*", "empfohlen*", "rate dazu", "raten dazu", "ratsam*", "sollte*",
    "sollst", "sollen", "soll", "muss", "musst", "müsst*", "müssen", "besser*", "beste",
    "besten", "bester", "bestes", "bestem", "bestmöglich*",
    "sinnvoll*", "vernünftig*", "vorteilhaft*", "lohnend*", "wünschenswert*", "offensichtlich*",
    "selbstverständlich*", "zweifellos*", "natürlich", "unbestreitbar*", "eindeutig*",
    "bitte genehmig*", "bitte bestätig*", "bitte ablehn*", "richtige wahl", "falsche wahl",
    "verbesser*", "bitte", "unbedingt", "unerlässlich*", "unverzichtbar*", "unabdingbar*",
    "keinesfalls", "auf keinen fall", "auf jeden fall", "unter keinen umständen", "wärmstens",
    "gute idee", "schlechte idee", "spricht nichts dagegen", "nichts spricht dagegen",
    "kein risiko", "harmlos*", "ungefährlich*", "vertrau mir", "vertrauen sie", "ratschlag*",
    "rate ich", "raten wir", "rate ihnen", "rate dir", "legen nahe", "ans herz", "nur zu",
    "dumm", "dumme", "dummen", "dummer", "dummes", "dummheit*", "töricht*", "unklug*",
    "unvernünftig*", "leichtsinnig*", "verantwortungslos*", "narr", "narren", "ausgezeichnet*",
    "unsinn*", "sinnlos*", "an deiner stelle", "an ihrer stelle", "danke", "dankbar",
    "hervorragend*", "perfekte wahl", "dräng*",
)  # fmt: skip

_URGENT = (
    "urgent*", "immediate*", "instantly", "asap", "as soon as possible", "right away", "right now",
    "hurry", "quickly", "without delay", "time-critical", "critical", "last chance", "deadline",
    "before it is too late", "emergency", "emergencies", "act now",
    "at once", "time is running out", "time is short", "of the essence", "running out of time",
    "no time to", "the sooner", "hesitat*", "do not wait", "don't wait", "do not delay",
    "don't delay", "don't miss", "do not miss", "now or never", "overdue", "pressing",
    "cannot wait", "can't wait", "time to act",
    "before it's too late", "too late", "urgency", "vitally",
    "dringend*", "dringlich*", "sofort*", "umgehend*", "unverzüglich*", "schnellstmöglich*",
    "so bald wie möglich", "eilig*", "eilt", "beeil*", "höchste zeit", "letzte chance",
    "ohne aufschub", "notfall*", "kritisch*", "frist", "bevor es zu spät ist",
    "zu spät", "so schnell wie möglich", "so schnell es geht", "zeit drängt", "keine zeit",
    "jetzt oder nie", "zöger*", "überfällig*", "baldmöglichst", "auf der stelle", "zwingend*",
    "keinen aufschub", "es wird zeit", "an der zeit",
)  # fmt: skip

_FEELING = (
    "unfortunate*", "sadly", "happy", "happily", "glad*", "delight*", "excit*", "afraid", "fear*",
    "worr*", "regret*", "sorry", "hope*", "hoping", "love*", "hate*", "terribl*", "horribl*",
    "wonderful*", "amazing*", "awful*", "great", "danger*", "harm*", "threat*", "disaster*",
    "catastroph*", "shame*", "guilt*", "proud*", "betray*", "suffer*", "painful*", "angr*",
    "heartbreak*", "devastat*", "tragic*", "miserabl*", "dreadful*", "appalling*", "outrag*",
    "let me down", "let us down", "let her down",
    "let him down", "let them down",
    "leider", "bedauer*", "traurig*", "glücklich*", "freu*", "froh*", "angst*", "ängst*",
    "fürcht*", "sorge", "sorgen", "hoff*", "lieb*", "hass*", "schrecklich*", "furchtbar*",
    "wunderbar*", "großartig*", "toll*", "gefahr*", "gefähr*", "schaden", "schadet", "schädlich*",
    "bedroh*", "katastroph*", "schäm*", "schuldgefühl*", "stolz*", "verrat*", "leiden", "leidet",
    "schmerz*", "wütend*", "ärger*", "schlimm*", "entsetz*", "tragisch*", "fatal*", "verheerend*",
    "herzzerreißend*", "enttäusch*", "bereuen", "bereust", "im stich", "alles schief",
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


_ANSWERS = frozenset({"approv", "reject", "accept", "genehmig", "zustimm", "ablehn", "bestatig"})
_LONG = 4
"""Letters from which on a word is looked for inside a name, too."""


def violations(texts: Iterable[str]) -> list[str]:
    """Return the words that are not neutral, as they are compared, each once, in order."""
    found: dict[str, None] = {}
    for text in texts:
        for spelt in spellings(text):
            for words in _matches(spelt):
                found.setdefault(words)
        for word in (*mixed(text), *filter(_anywhere().search, spaced(text))):
            found.setdefault(word)
    return list(found)


def is_quiet(name: str) -> bool:
    """Return whether a name or id that somebody chose can stand in neutral words.

    A name need not keep words apart: none of the list's longer ones may be anywhere in it.
    """
    if violations([name]):
        return False
    run = re.sub(r"[^a-z]", "", plain(name))
    return not _anywhere().search(run)


def _matches(text: str) -> Iterable[str]:
    """Yield what is not neutral in a text as it is compared, in order."""
    read = INNOCENT.sub(lambda phrase: "-" * len(phrase.group()), text)
    found = [*_pattern().finditer(read), *TURNS.finditer(read)]
    for match in sorted(found, key=lambda match: match.start()):
        yield match.group().strip(" .,:;-")


@cache
def _pattern() -> re.Pattern[str]:
    parts = []
    for word in _listed():
        parts.append(_spelt(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else ""))
    longest_first = sorted(parts, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")


@cache
def _anywhere() -> re.Pattern[str]:
    words = {re.sub(r"[^a-z]", "", plain(word)) for word in _listed()} | _ANSWERS
    return re.compile("|".join(sorted(word for word in words if len(word) >= _LONG)))


def _listed() -> Iterable[str]:
    return (word for words in LEXICON.values() for word in words)


def _spelt(word: str) -> str:
    """Return a word's pattern: umlauts as one letter or as two."""
    letters = (
        f"{plain(letter)}e?" if letter in "äöü" else re.escape(plain(letter)) for letter in word
    )
    return "".join(letters).replace(r"\ ", " ")
