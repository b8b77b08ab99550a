"""Document frequencies of terms, for their weights in a query."""

import numpy as np

from concord_search.domain.candidates import Floats, Ints

_LEAST = 1 << 14
_TERMS_A_PLACE = 4
_FEW = 1 << 11
"""Of so many terms no table is made, but a sorted list: most of many spaces are small."""


class DocumentFrequencies:
    """Counts by the last bits of a term, in a table much larger than the vocabulary.

    The few terms with equal last bits are counted together. A small space has no table: its terms
    are in one sorted list, as often as texts hold them.
    """

    def __init__(self, terms: Ints) -> None:
        """`terms`: the terms of all texts, one text after the other; 0 is no term."""
        self._sorted = np.sort(terms[terms > 0]) if len(terms) < _FEW else None
        if self._sorted is not None:
            self._room = _FEW - len(terms)
            return
        places = max(_LEAST, 1 << (len(terms) // _TERMS_A_PLACE).bit_length())
        self._mask = places - 1
        counts = np.bincount(terms[terms > 0] & self._mask, minlength=places)
        self._counts = counts.astype(np.int32)
        self._room = _TERMS_A_PLACE * places - len(terms)

    @property
    def nbytes(self) -> int:
        """The memory of the table or the list."""
        return self._counts.nbytes if self._sorted is None else self._sorted.nbytes

    @property
    def is_full(self) -> bool:
        """Whether the table has become too small for its terms."""
        return self._room < 0

    def add(self, terms: Ints) -> None:
        """Counts a text, whose terms are distinct."""
        self._room -= len(terms)
        if self._sorted is None:
            np.add.at(self._counts, terms & self._mask, 1)
        else:
            self._sorted = np.sort(np.concatenate([self._sorted, terms[terms > 0]]))

    def subtract(self, terms: Ints) -> None:
        """Removes a text from the counts."""
        if self._sorted is None:
            np.subtract.at(self._counts, terms & self._mask, 1)
        else:  # the terms of a text are distinct, so each goes once
            places = np.searchsorted(self._sorted, terms[terms > 0])
            self._sorted = np.delete(self._sorted, places)

    def weights(self, terms: Ints, texts: int) -> Floats:
        """The inverse document frequency of each term among `texts` texts."""
        return weight(self.counts(terms), texts)

    def counts(self, terms: Ints) -> Ints:
        """How many texts hold each term, or one of equal last bits."""
        if self._sorted is not None:
            after = np.searchsorted(self._sorted, terms, side="right")
            return after - np.searchsorted(self._sorted, terms)
        counted: Ints = self._counts[terms & self._mask].astype(np.int64)
        return counted


def weight(held_by: Ints | Floats, texts: int) -> Floats:
    """The inverse document frequency of terms that so many of `texts` texts hold.

    As BM25 has it: ln(1 + (n - df + .5)/(df + .5)).
    """
    return np.log1p((max(texts, 0) - np.minimum(held_by, texts) + 0.5) / (held_by + 0.5))
