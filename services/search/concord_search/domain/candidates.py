"""The index's answer to the ranking: one row per candidate memory, column by column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The turn before or after each candidate in its session; every array has shape (n,).

    `fusion`: its score as in `Candidates`, 0 if no branch found it; `asks`: it is a question.
    `items`: the index's own names, empty where there is none.
    """

    fusion: Floats
    asks: Bools
    items: Sequence[str] = ()


PASSAGE = 3
"""So many turns before and after a turn make its passage."""


@dataclass(frozen=True, slots=True)
class Talk:
    """The candidates' places in conversations. Every array has shape (n,) but for two.

    `kind`: number of `memory.Talk`; `session`: the index's own number of the session, 0 for none.
    `speaker_named`: the query names the speaker. `asks` and `says_when` as in `speech`. `window`
    and `passage`, shape (n, terms): which of the query's terms the candidate or its neighbours
    hold; the one turn on each side, and the `PASSAGE` turns.
    """

    kind: Ints
    session: Ints
    speaker_named: Bools
    asks: Bools
    says_when: Bools
    window: Bools
    passage: Bools
    before: Neighbour
    after: Neighbour


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one query, in the order of the index. Every array has shape (n,).

    They are memories, or edges (`is_edge`) where the query asks for these, too.

    `items`: the index's own names of the memories; `seqs`: the changes that made the scored states.
    `cosine`: raw, in [-1, 1], NaN if the embedder cannot read the query or the memory. `lexical`:
    the raw BM25 score, 0 for a memory that is not among the best of the branch of words. `fusion`:
    the sum of both branches' normalised scores, in [0, 2].
    `domain_match`: 1, .5 or 0 (spec S3).
    `shared_concepts` and `all_concepts`: the sizes of intersection and union with the query's.
    `coactivation`, in [0, 1]: how often it was read together with the session's memories; NaN
    without a session. `holds`, shape (n, terms): which of the query's terms each holds;
    `term_weights`, shape (terms,): their inverse document frequencies, and `rarest`: that of a term
    which a single memory holds. `lengths`: how many different terms each holds. `trust`: what the
    server established of each, as in `MemoryState`; `writers`: the index's own numbers of those who
    first wrote each, 0 for nobody.
    `held_until`: when it ceased to hold, `NEVER` if it has not. `names_from` and `names_until`: the
    time that its text names, both 0 for none.
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
    valid_from: Ints
    held_until: Ints
    names_from: Ints
    names_until: Ints
    coactivation: Floats
    is_head: Bools
    is_edge: Bools
    holds: Bools
    term_weights: Floats
    rarest: float
    lengths: Ints
    trust: Ints
    writers: Ints
    talk: Talk

    def __len__(self) -> int:
        return len(self.items)

    @property
    def has_words(self) -> bool:
        """Whether the query holds a word that is searched for."""
        return len(self.term_weights) > 0


_NO_FLOATS, _NO_INTS = np.zeros(0), np.zeros(0, dtype=np.int64)
_NO_BOOLS = np.zeros(0, dtype=np.bool_)
_NOBODY = Neighbour(_NO_FLOATS, _NO_BOOLS, ())
NO_CANDIDATES = Candidates(
    items=(),
    seqs=_NO_INTS,
    cosine=_NO_FLOATS,
    lexical=_NO_FLOATS,
    fusion=_NO_FLOATS,
    domain_match=_NO_FLOATS,
    shared_concepts=_NO_INTS,
    all_concepts=_NO_INTS,
    importance=_NO_FLOATS,
    access_count=_NO_INTS,
    last_access=_NO_INTS,
    created=_NO_INTS,
    valid_from=_NO_INTS,
    held_until=_NO_INTS,
    names_from=_NO_INTS,
    names_until=_NO_INTS,
    coactivation=_NO_FLOATS,
    is_head=_NO_BOOLS,
    is_edge=_NO_BOOLS,
    holds=_NO_BOOLS.reshape(0, 0),
    term_weights=_NO_FLOATS,
    rarest=1.0,
    lengths=_NO_INTS,
    trust=_NO_INTS,
    writers=_NO_INTS,
    talk=Talk(
        kind=_NO_INTS,
        session=_NO_INTS,
        speaker_named=_NO_BOOLS,
        asks=_NO_BOOLS,
        says_when=_NO_BOOLS,
        window=_NO_BOOLS.reshape(0, 0),
        passage=_NO_BOOLS.reshape(0, 0),
        before=_NOBODY,
        after=_NOBODY,
    ),
)
"""The candidates of a space that has no index yet."""
