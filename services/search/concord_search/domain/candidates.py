"""What the index hands to the ranking: one row per candidate memory, column by column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one query, best fused score first. Every array has shape (n,).

    `items` are the index's own names of the memories, `seqs` the states they were scored in.
    `cosine` is raw, in [-1, 1]; `lexical` is the raw BM25 score, at least 0; `fusion` is the sum
    of both branches' normalised scores, in [0, 2]. `domain_match` is 1, .5 or 0 (spec S3).
    `shared_concepts` and `all_concepts` are the sizes of intersection and union with the query's.
    Times are microseconds; `importance` is a number in [0, 1].
    """

    items: Sequence[str]
    seqs: Ints
    cosine: Floats
    lexical: Floats
    fusion: Floats
    domain_match: Floats
    shared_concepts: Ints
    all_concepts: Ints
    importance: Floats
    access_count: Ints
    last_access: Ints
    created: Ints
    is_head: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.items)
