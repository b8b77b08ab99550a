"""The confidence bands of a ranking's results, each by its memory's profile (spec S5).

`confidence` has the formula, `profiles` reads the fitted numbers from `fitted.json`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from concord_search.domain.candidates import Bools, Candidates
from concord_search.domain.confidence import COMPARED, Band, evidence, rarest
from concord_search.domain.memory import Talk
from concord_search.domain.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Certainty:
    """A result's confidence band, whether it is a question, and whether it lacks rare terms.

    `lacks_rarest`: it holds not all of the query's `confidence.RAREST` rarest terms.
    """

    band: Band
    asks: bool = False
    lacks_rarest: bool = False


def certainties(ranking: Ranking, rows: Sequence[int]) -> dict[int, Certainty]:
    """The certainty of some rows; each is compared with the best of all rows, not of its page."""
    found = ranking.found
    compared = list(dict.fromkeys([*ranking.order[:COMPARED].tolist(), *rows]))
    shown = evidence(found, ranking.scores, ranking.composite, compared)
    kinds = found.talk.kind[compared].tolist()
    profiles = ranking.profiles
    bands = {kind: profiles.of(Talk(kind)).confidence.bands(shown) for kind in {*kinds}}
    asks = found.talk.asks[compared].tolist()
    lacks = (rarest(found)[compared] < 1).tolist()
    read = are_read(found, compared)
    worded = have_words(ranking, compared)
    return {
        row: Certainty(
            bands[kinds[at]][at] if read[at] and worded[at] else Band.LOW,
            asks[at],
            lacks[at],
        )
        for at, row in enumerate(compared)
    }


def are_read(found: Candidates, rows: Sequence[int]) -> list[bool]:
    """Whether the embedder reads both the query and each row.

    Nothing is sure without: the bands' promise was fitted on texts that it reads.
    """
    return [not each for each in np.isnan(found.cosine[rows]).tolist()]


def have_words(ranking: Ranking, rows: Sequence[int]) -> list[bool]:
    """Whether the embedder knows a word of the query, or each row shares a searched one.

    Nothing is sure without: a made-up word is near to whatever is spelled like it.
    """
    shares: Bools = np.any(ranking.found.holds[rows], axis=1)
    return [ranking.query.knows_words or each for each in shares.tolist()]
