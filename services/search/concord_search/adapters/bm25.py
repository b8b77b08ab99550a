"""The lexical vector of a text, by Qdrant Edge's package, for the server, too."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import qdrant_edge as qdrant
from concord_concepts.stop_words import ENGLISH, GERMAN

from concord_search.adapters.spelling import parts, spelled

_WORD = re.compile(r"\w+")
_AMBIGUOUS = ENGLISH | {"bin", "den", "die", "dies", "gar", "hat", "man", "mir", "nun", "um", "war"}
_SURE = GERMAN - _AMBIGUOUS


class Bm25:
    """BM25's weights of a text: no stop words, English stems, k = 1.2, b = .75, length 256.

    The tokenizer leaves out English stop words; German ones are left out of German queries here.

    Scripts without English words are split into n-grams first: see `spelling`. The inverse document
    frequency is the engine's, over the points of one shard.
    """

    def __init__(self) -> None:
        model = qdrant.Bm25(qdrant.Bm25Config(language="english"))
        self._model = model
        self._is_stop_word = lru_cache(maxsize=1 << 10)(
            lambda word: not model.embed_query(word).indices
        )

    def of_document(self, text: str) -> qdrant.SparseVector:
        return self._model.embed_document(spelled(text, self._is_stop_word, every=True))

    def parts_of(self, text: str) -> Sequence[int]:
        said = parts(spelled(text, self._is_stop_word, every=False))
        return self._model.embed_query(" ".join(said)).indices if said else ()

    def of_query(self, text: str) -> qdrant.SparseVector | None:
        asked = _without_german(text)
        weights = self._model.embed_query(spelled(asked, self._is_stop_word, every=False))
        return weights if weights.indices else None

    def joined(
        self, weights: qdrant.SparseVector | None, more: Mapping[int, float]
    ) -> qdrant.SparseVector:
        made = dict(more)
        if weights is not None:
            made |= dict(zip(weights.indices, weights.values, strict=True))
        return qdrant.SparseVector([*made], [*made.values()])

    def terms_of(self, weights: qdrant.SparseVector) -> Sequence[int]:
        return weights.indices


def _without_german(query: str) -> str:
    """The query without German stop words, some of which are English words, if it is German."""
    words = [each.casefold() for each in _WORD.findall(query)]
    sure = sum(each in _SURE for each in words) + (words[:1] == ["was"])
    if not sure or sure <= sum(each in ENGLISH and each not in GERMAN for each in words):
        return query
    return _WORD.sub(lambda each: "" if _is_german(each[0]) else each[0], query)


def _is_german(word: str) -> bool:
    """Whether it is a German stop word; one in capitals is a name."""
    return word.casefold() in GERMAN and not (word.isupper() and len(word) > 1)
