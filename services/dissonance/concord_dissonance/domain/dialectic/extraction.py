"""Extracts theses from agents' and memories' texts; other texts are set aside, with the reason.

Sentences that contradict each other are taken first, so that an agent that contradicts itself
gives both theses; then those with a legal basis, then those with a number. Headings, lines of links
and replies such as "Sounds good, thanks!" are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from concord_reading.language import language_of
from concord_reading.lexicon import LANGUAGES, Lexicon, lexicon
from concord_reading.prose import SPAN, prose, running_text, without_links, without_quotations
from concord_reading.tokens import content_of, tokens_of

from concord_dissonance.domain.dialectic.contradictions import Clash, compare, compare_all, pairs_of
from concord_dissonance.domain.dialectic.legal import legal_references, numbered, states_basis
from concord_dissonance.domain.dialectic.phrases import PHRASES
from concord_dissonance.domain.dialectic.scoped import Scoped
from concord_dissonance.domain.dialectic.theses import (
    Batch,
    Claim,
    SetAside,
    Source,
    Thesis,
    WhyAside,
)
from concord_dissonance.domain.sides import Micros, Rules

Said = tuple[str, Micros | None, str]
"""A thesis' words, with its time and region."""
MOST_COMPARED = 40
"""Most sentences of a text that are compared."""
MOST_OF_A_TEXT = 3
"""Most theses from one text, but for sentences that contradict each other: all of them count."""
_BOUNDARY = re.compile(r"(?<=[.!?])[\"”“»)]*\s+(?=[\"„“«(]*[A-ZÄÖÜ0-9§])|\s*\n\s*")
_BULLET = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s+")
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d]\.|\b(?:Art|Abs|Nr|Ziff|Sec|No|Dr|Prof|vgl|bzw|ca|lit|Vol|St|Mr|Mrs)\.)$"
)
_WORD = re.compile(r"\w+")
_PAUSE = re.compile(r"[,;:()–—]")
_LEAST_CONTENT = 3
"""Words of content in a part of a sentence that says something without a verb that we know."""
_LONGEST_ABBREVIATED = 8
"""Last characters of a sentence that are searched, lest a long one be searched for each part."""


def extract(source: Source) -> Batch:
    """Return the theses of a source: every claim that it states, and up to three of its text."""
    batch = Batch(source.agent)
    own_words = own_words_of(source)
    for claim in source.claims:
        _add(batch, source, claim, own_words)
    sentences = [each for each in sentences_of(running_text(source.text)) if _has_content(each)]
    supposed = [each for each in sentences if PHRASES.supposes(each)]
    batch.set_aside += [SetAside(source.agent, each, WhyAside.SPECULATION) for each in supposed]
    for sentence in _foremost([each for each in sentences if each not in supposed]):
        claim = Claim(
            sentence,
            confidence=source.confidence,
            authority=source.authority,
        )
        _add(batch, source, claim, [sentence])
    return batch


def settled(source: Source, ruled: Batch, disputed: Set[int]) -> list[Thesis]:
    """Return those of a source's theses by rule that no model may drop.

    They are the source's claims, and the sentences whose places are disputed: so no model hides a
    contradiction.
    """
    stated = {each.text for each in source.claims}
    return [
        thesis
        for at, thesis in enumerate(ruled.theses, ruled.first)
        if at in disputed or thesis.claim in stated
    ]


def extend(source: Source, ruled: Batch, stays: Sequence[Thesis], said: Sequence[Claim]) -> Batch:
    """Return the theses of a source after a model has read it; `ruled` are those by rule.

    The model's theses, `said`, replace the sentences that are not in `stays`. Each needs a quote
    that the source states; if none has one, the theses by rule remain.
    """
    batch = Batch(source.agent, theses=[*stays], set_aside=[*ruled.set_aside])
    known = {_words_of(each.claim) for each in stays}
    for claim in said:
        if (words := _words_of(claim.text)) not in known:
            known.add(words)
            _add_said(batch, source, claim)
    if len(batch.theses) == len(stays):
        batch.theses = [*ruled.theses]
    return batch


def once(batch: Batch, known: set[Said]) -> Batch:
    """Return a batch without the theses that another memory states in the same words, of the same
    time and region; `known` are those of the memories before, and gains its own.

    Agents that say the same agree, and both are heard.
    """
    theses = []
    for thesis in batch.theses:
        said = _words_of(thesis.claim), thesis.valid_from, thesis.region
        if thesis.memory is None or said not in known:
            theses.append(thesis)
        if thesis.memory is not None:
            known.add(said)
    return replace(batch, theses=theses)


def own_words_of(source: Source) -> list[str]:
    """Return every text of a source."""
    claimed = [
        (each.text, *each.evidence, *each.legal_basis, each.context) for each in source.claims
    ]
    return [source.text, *(text for texts in claimed for text in texts)]


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, in order, in their own words."""
    found: list[str] = []
    for piece in _BOUNDARY.split(text):
        part = _BULLET.sub("", piece.strip(), count=1)
        if found and _goes_on(found[-1][-_LONGEST_ABBREVIATED:], part):
            found[-1] = f"{found[-1]} {part}"
        elif any(map(str.isalpha, part)):
            found.append(part)
    return found


def _goes_on(end: str, part: str) -> bool:
    """Whether a full stop ends no sentence, but an abbreviation or the day of "3. Mai"."""
    months = {month for language in LANGUAGES for month in lexicon(language).months}
    dated = end[-2:-1].isdecimal() and part.partition(" ")[0].casefold().strip(".,") in months
    return dated or _ABBREVIATED.search(end) is not None


def confidence_of(stated: float | None, supports: int) -> float:
    """Return a confidence as stated, else 1 - 0.5^(1 + n) for n pieces of support."""
    return 1 - 0.5 ** (1 + supports) if stated is None else stated


def _foremost(sentences: Sequence[str]) -> list[str]:
    """Return the sentences that become theses, in their order."""
    unique = [*{_words_of(each): each for each in reversed(sentences)}.values()][::-1]
    unique = unique[:MOST_COMPARED]
    scoped = [Scoped(Thesis("", each, 1.0)) for each in unique]
    denied = {
        at
        for found in compare_all(scoped, pairs_of(scoped), Rules())
        if isinstance(found, Clash)
        for at in (found.first, found.second)
    }
    ranked = sorted(range(len(unique)), key=lambda at: (at not in denied, -_weight(unique[at])))
    return [unique[at] for at in sorted(ranked[: max(MOST_OF_A_TEXT, len(denied))])]


def _has_content(sentence: str) -> bool:
    """Whether a sentence says enough to be understood alone.

    A part of it has three words of content, or two with an auxiliary ("Tea is hot"), or it names a
    number or code. Links and addresses are none.
    """
    text = without_quotations(prose(SPAN.sub(" 1 ", sentence)))
    words = lexicon(language_of(text))
    if any(map(str.isdecimal, text)):
        return len(_content(text, words)) >= _LEAST_CONTENT - 1
    for part in _PAUSE.split(text):
        spelt = {token.word for token in tokens_of(part, words)}
        has_verb = not spelt.isdisjoint(words.words["auxiliary"])
        if len(_content(part, words)) >= _LEAST_CONTENT - has_verb:
            return True
    return False


def _content(text: str, words: Lexicon) -> Set[str]:
    """Return the stems of the content that a text says in its own words."""
    return content_of(tokens_of(without_quotations(prose(text)), words), words).keys()


def _weight(sentence: str) -> int:
    return 2 * bool(legal_references(sentence)) + any(map(str.isdecimal, sentence))


def _add(batch: Batch, source: Source, claim: Claim, own_words: Sequence[str]) -> None:
    if PHRASES.supposes(claim.text):
        batch.set_aside.append(SetAside(source.agent, claim.text, WhyAside.SPECULATION))
        return
    bases = claim.legal_basis or tuple(legal_references(claim.text))
    stated = [each for each in bases if states_basis(own_words, each)]
    batch.set_aside += [
        SetAside(source.agent, each, WhyAside.UNSTATED_LEGAL_BASIS)
        for each in bases
        if each not in stated
    ]
    of_memory = source.memory.side if source.memory else None
    batch.theses.append(
        Thesis(
            source.agent,
            claim.text,
            confidence_of(claim.confidence, len(claim.evidence) + len(stated)),
            claim.evidence,
            tuple(stated),
            claim.context,
            claim.region or (of_memory.scope.get("region", "") if of_memory else ""),
            claim.valid_from or (of_memory.valid_from if of_memory else None),
            source.authority if claim.authority is None else claim.authority,
            source.memory,
        )
    )


def _add_said(batch: Batch, source: Source, claim: Claim) -> None:
    """Add a model's thesis if the source supports it; a model can only lower its confidence."""
    own_words = own_words_of(source)
    folded = [*map(_folded, own_words)]
    quotes: list[str] = []
    unsupported: list[str] = []
    for quote in claim.evidence:
        is_stated = any(_folded(quote) in words for words in folded)
        (quotes if is_stated else unsupported).append(quote)
    if not _states(own_words, claim.context):
        claim = replace(claim, context="")
    is_thesis = (
        bool(quotes)
        and _states(own_words, claim.text)
        and not _denies(claim.text, quotes, own_words)
    )
    batch.set_aside += [
        SetAside(source.agent, each, WhyAside.UNSUPPORTED)
        for each in (*unsupported, *([] if is_thesis else [claim.text]))
    ]
    if not is_thesis:
        return
    sure = confidence_of(source.confidence, len(quotes))
    if source.confidence is None and claim.confidence is not None:
        sure = min(sure, claim.confidence)
    _add(batch, source, replace(claim, evidence=tuple(quotes), confidence=sure), own_words)


def _states(own_words: Sequence[str], said: str) -> bool:
    """Whether the words of content of a model's text, in any form, stand in a source's own, and so
    do its statutes."""
    own = "\n".join(own_words)
    words = lexicon(language_of(own))
    is_said = _content(said, words) <= _content(own, words)
    return is_said and numbered(said) <= numbered(own)


def _denies(said: str, quotes: Sequence[str], own_words: Sequence[str]) -> bool:
    """Whether a model's text contradicts every sentence that it quotes for it."""
    folded = [*map(_folded, quotes)]
    quoted = [
        sentence
        for words in own_words
        for sentence in sentences_of(words)
        if any(each in _folded(sentence) for each in folded)
    ]
    claim = Scoped(Thesis("", said, 1.0))
    return bool(quoted) and all(
        isinstance(compare(claim, Scoped(Thesis("", each, 1.0)), Rules()), Clash) for each in quoted
    )


def _folded(text: str) -> str:
    return " ".join(without_links(text).split()).casefold()


def _words_of(text: str) -> str:
    """Return the words of a text, which it shares with what says the same in other signs."""
    return " ".join(_WORD.findall(text)).casefold()
