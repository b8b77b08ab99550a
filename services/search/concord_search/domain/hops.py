"""Questions over several hops: "Where does Ada's sister live?" (spec S11).

What is read is possession, in English and German: "Ada's sister's boss", "the sister of Ada",
"Kaspars Chefin", "die Chefin der Schwester von Kaspar"; and the one word for the last hop that
stands next to it: "live", "wohnt". A question that holds more than this is not read.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from concord_concepts import normalise
from concord_concepts.stop_words import STOP_WORDS

from concord_search.domain.stated import words_of

FEWEST_HOPS, MOST_HOPS = 2, 3
"""One hop is a plain fact, which a search finds; of four, no question was ever seen."""

_LONGEST_NAME = 3
_LONGEST_PHRASE = 2
_TOKEN = re.compile(r"(\w+(?:-\w+)*)(['’](?:s\b|(?!\w)))?")
_CLAUSE_END = re.compile(r"[.,;:?!](?=\s|$)|\n")
_ARTICLES = frozenset({"the", "a", "an", "der", "die", "das", "dem", "den", "des"})
_LINKS = frozenset({"of", "von", "vom"})
_GENITIVES = frozenset({"der", "des"})
_ASKS_FOR_A_SUBJECT = frozenset({"who", "wer"})
_BEFORE = frozenset({"has", "have", "had", "is", "are", "was", "hat", "hatte", "ist", "war"})
_AFTER = frozenset(
    {"in", "at", "for", "on", "with", "from", "an", "am", "auf", "aus", "bei", "für", "im", "mit"}
)
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


@dataclass(frozen=True, slots=True)
class Chain:
    """A reading of a question: from a node along what each of 2 or 3 words names."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    owns: bool
    """Whether it ends in 's, or in an apostrophe alone."""

    @property
    def folded(self) -> str:
        return self.text.casefold()

    @property
    def is_functional(self) -> bool:
        """Whether it names nothing that a hop could be."""
        return self.folded in STOP_WORDS and not _is_known(self.folded)


@dataclass(frozen=True, slots=True)
class _Name:
    """What may be a node's name: the tokens from `start` to `end`. `owns`: what follows is its."""

    text: str
    start: int
    end: int
    owns: bool
    is_genitive: bool = False


def chains(question: str) -> list[list[Chain]]:
    """The readings of a question, those that exclude one another together, the likeliest first."""
    found = []
    for clause in _CLAUSE_END.split(question):
        tokens = [_Token(each[1], bool(each[2])) for each in _TOKEN.finditer(clause)]
        for at in range(len(tokens)):
            read = (_chain(tokens, name) for name in _names(tokens, at))
            if some := [each for each in read if each is not None]:
                found.append(some)
    return found


def means(relation: str, words: str) -> bool:
    """Whether a relation's name says what a hop's words say: HAS_SISTER what "sister" does."""
    named = _named(relation)
    return _stem(named) == _stem(words) or named in _known().get(_stem(words), ())


def spelt(words: str) -> str:
    """A hop's words as relations are usually spelt."""
    return words.upper().replace(" ", "_").replace("-", "_")


def _names(tokens: Sequence[_Token], at: int) -> Iterator[_Name]:
    """What may be the name of the node where a chain starts, by the token that says so."""
    token, before = tokens[at], tokens[at - 1] if at else None
    if token.folded in STOP_WORDS or (before and before.owns):
        return
    if token.owns:
        for size in range(min(_LONGEST_NAME, at + 1), 0, -1):
            said = tokens[at + 1 - size : at + 1]
            if not any(each.folded in STOP_WORDS for each in said):
                yield _Name(_joined(said), at + 1 - size, at + 1, owns=True)
    elif token.folded.endswith("s") and _is_noun(tokens, at + 1):
        for text in (token.text[:-1], token.text):  # "Kaspars Chefin"
            yield _Name(text, at, at + 1, owns=True, is_genitive=True)
    elif before and before.folded in _LINKS:
        for size in range(_LONGEST_NAME, 0, -1):
            said = tokens[at : at + size]
            is_whole = len(said) == size and not any(each.owns for each in tokens[at:][: size + 1])
            if is_whole and all(each.text[0].isupper() for each in said[1:]):
                yield _Name(_joined(said), at, at + size, owns=False)
    elif before and _is_known(before.folded) and token.text[0].isupper() and token.text[-1] == "s":
        yield _Name(token.text[:-1], at, at + 1, owns=False, is_genitive=True)  # "Schwester Adas"


def _is_noun(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a token may name what the token before has: a known word, or spelt as a noun."""
    if at >= len(tokens):
        return False
    is_name = tokens[at - 1].text[0].isupper() and tokens[at].text[0].isupper()
    return is_name or _is_known(tokens[at].folded)


def _chain(tokens: Sequence[_Token], name: _Name) -> Chain | None:
    """The chain that starts at a name; None if the question does not read so."""
    hops, end, owns = list[str](), name.end, name.owns
    while owns and (size := _phrase(tokens, end)):
        hops.append(_joined(tokens[end : end + size]).casefold())
        end += size
        owns = tokens[end - 1].owns
    if owns:
        return None
    start = name.start
    if name.is_genitive and not hops:
        hops.append(tokens[start - 1].folded)
        start -= 1
    while (link := _link(tokens, start)) is not None:
        size = _phrase_before(tokens, link)
        if not size:
            return None
        said = _joined(tokens[link - size : link]).casefold()
        hops += [said] if said not in _named_itself() else []
        start = link - size
    if not hops:
        return None
    last = _last_hop(tokens, start, end)
    if last is None:
        return None
    words = (*hops, *last)
    return Chain(name.text, words) if FEWEST_HOPS <= len(words) <= MOST_HOPS else None


def _last_hop(tokens: Sequence[_Token], start: int, end: int) -> Sequence[str] | None:
    """The word next to a possession that says what is asked of it: none if nothing is, or its name.

    None if the question asks who does it: such a hop leads the other way.
    """
    after = next((at for at in range(end, len(tokens)) if not tokens[at].is_functional), None)
    before = next((at for at in range(start - 1, -1, -1) if not tokens[at].is_functional), None)
    places = [at for at in (after, before) if at is not None]
    known = [at for at in places if _phrase_in_words(tokens, at) is not None]
    if not places:
        return ()
    at = (known or places)[0]
    if at == before and at and tokens[at - 1].folded in _ASKS_FOR_A_SUBJECT:
        return None
    said = _phrase_in_words(tokens, at) or tokens[at].folded
    return () if said in _named_itself() else (said,)


def _link(tokens: Sequence[_Token], start: int) -> int | None:
    """Where the word stands that makes what starts here belong to a noun before; None: nowhere."""
    at = start - 1
    while at > 0 and tokens[at].folded in _ARTICLES:
        at -= 1
    if at > 0 and tokens[at].folded in _LINKS:
        return at
    is_genitive = start > 1 and tokens[start - 1].folded in _GENITIVES
    return start - 1 if is_genitive and _is_known(tokens[start - 2].folded) else None


def _phrase(tokens: Sequence[_Token], at: int) -> int:
    """How many tokens from here on name a hop; 0: none."""
    if at >= len(tokens) or tokens[at].is_functional:
        return 0
    for size in range(_LONGEST_PHRASE, 1, -1):
        said = tokens[at : at + size]
        is_one = len(said) == size and not any(each.owns for each in said[:-1])
        if is_one and _is_known(_joined(said).casefold()):
            return size
    return 1


def _phrase_before(tokens: Sequence[_Token], end: int) -> int:
    """How many tokens up to here name a hop; 0: none."""
    for size in range(min(_LONGEST_PHRASE, end), 1, -1):
        if _is_known(_joined(tokens[end - size : end]).casefold()):
            return size
    return int(end > 0 and not tokens[end - 1].is_functional)


def _phrase_in_words(tokens: Sequence[_Token], at: int) -> str | None:
    """The known words of a hop at a token; None: not known."""
    said = _joined(tokens[at : at + _phrase(tokens, at)]).casefold()
    return said if _is_known(said) else None


def _joined(tokens: Sequence[_Token]) -> str:
    return " ".join(each.text for each in tokens)


def _named(relation: str) -> str:
    """What a relation's name says, without what does not count."""
    words = list(words_of(relation))
    while len(words) > 1 and words[0] in _BEFORE:
        del words[0]
    while len(words) > 1 and words[-1] in _AFTER:
        del words[-1]
    return " ".join(words)


def _stem(words: str) -> str:
    """A word without its ending, as "lives" and "living" have one; several as they are."""
    return words if " " in words else _ENDING.sub("", normalise(words))


def _is_known(words: str) -> bool:
    return _stem(words) in _known()


@cache
def _known() -> Mapping[str, Collection[str]]:
    """The names of relations, by the stem of each word for them in `hop_words.txt`."""
    known: dict[str, set[str]] = {}
    for words, others in _lines():
        for each in words:
            known.setdefault(_stem(each), set()).update(words, others)
    return known


@cache
def _named_itself() -> Collection[str]:
    """The words that ask for a node's own name: those of the last line."""
    return frozenset(_lines()[-1][0])


@cache
def _lines() -> Sequence[tuple[Sequence[str], Sequence[str]]]:
    text = files("concord_search").joinpath("hop_words.txt").read_text("utf-8")
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            words, _, others = line.partition(": ")
            found.append((words.split(", "), others.split(", ") if others else []))
    return found
