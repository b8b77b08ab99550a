"""The confidence bands of a ranking's results, each by its memory's profile (spec S5).

`confidence` has the formula, `profiles` reads the fitted numbers from `fitted.json`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from concord_search.domain.confidence import COMPARED, Band, evidence, rarest
from concord_search.domain.memory import Talk
from concord_search.domain.profiles import Profiles
from concord_search.domain.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Certainty:
    """A result's confidence band, whether it is a question, and whether it lacks rare terms.

    `lacks_rarest`: it holds not all of the query's `confidence.RAREST` rarest terms.
    """

    band: Band
    asks: bool = False
    lacks_rarest: bool = False


def certainties(ranking: Ranking, rows: Sequence[int], profiles: Profiles) -> dict[int, Certainty]:
    """The certainty of some rows; each is compared with the best of all rows, not of its page."""
    found = ranking.found
    compared = list(dict.fromkeys([*ranking.order[:COMPARED].tolist(), *rows]))
    shown = evidence(found, ranking.scores, ranking.composite, compared)
    bands: dict[int, Band] = {}
    for talk in {Talk(int(found.talk.kind[row])) for row in rows}:
        confidence = profiles.of(talk).confidence
        for row, band in zip(compared, confidence.bands(shown), strict=True):
            if found.talk.kind[row] == talk:
                bands[row] = band
    held = rarest(found)
    asks = found.talk.asks
    return {row: Certainty(bands[row], bool(asks[row]), bool(held[row] < 1)) for row in rows}
