"""What it costs honest answers that each writer keeps places on the page (W9, decision 0117).

The questions on plain facts and on people's turns, with the candidates' writers drawn at random:
some persons', the others those of one agent or several. The floor is the same ranking as it is.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.domain.profiles import shipped
from concord_search.domain.ranking import Ranking
from concord_search.usecases.persons_first import persons_first
from concord_search.usecases.results import Ranked

from tests.bench.plain_facts import SEEDS, Figures, score
from tests.bench.run import Run
from tests.bench.table import Bar, Row
from tests.fitting.development import is_there, samples_of
from tests.fitting.samples import Sample

MIXES: Mapping[str, Sequence[float]] = {
    "half a person's": (0.5, 0.5),
    "a tenth a person's": (0.1, 0.9),
    "a person's alone": (1.0,),
    "two agents', half each": (0.0, 0.5, 0.5),
    "two agents', nine tenths and one": (0.0, 0.9, 0.1),
    "five agents'": (0.0, 0.2, 0.2, 0.2, 0.2, 0.2),
}
"""The share of persons, and that of each agent."""
LOST = 0.02
"""So much of any@1 may be lost."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """Of each mix the questions that persons answer, and those that agents do."""
    for profile in filter(lambda name: is_there(name, run.evaluation), ("plain", "people")):
        embedder = MiniLm()
        await embedder.open()
        samples = await samples_of(profile, run.evaluation, embedder, run.folder / profile)
        await embedder.close()
        for mix, shares in MIXES.items():
            found = [each for some in samples.own for each in _ranked(some, np.cumsum(shares))]
            for whose in ("a person", "agents"):
                asked = [pair for by, *pair in found if by == whose]
                if not asked:
                    continue
                before, after = np.mean(asked, axis=0).tolist()
                what = f"{profile}, {mix}: {len(asked)} answered by {whose}"
                least = Bar(round(before[0] - LOST, 4), at_most=False)
                yield Row(f"{what}, any@1", "share", (after[0],), floor=(before[0],), bar=least)
                yield Row(what, "share", tuple(after), floor=tuple(before))


def _ranked(sample: Sample, until: np.ndarray) -> Iterator[tuple[str, Figures, Figures]]:
    """Who answers a question, and its figures without and with places for each writer."""
    found = sample.found
    for seed in SEEDS if sample.right.any() else ():
        names = (f"{seed} {sample.conversation} {item}".encode() for item in found.items)
        drawn = [int.from_bytes(sha256(name).digest()[:4]) / 2**32 for name in names]
        writers = np.searchsorted(until, drawn, side="right")
        mixed = replace(found, writers=writers, trust=np.where(writers, 2, 3))
        ranking = Ranking(mixed, sample.facts, shipped())
        before = Ranked(None, ranking, ranking.order.tolist())  # type: ignore[arg-type] # unused
        right = writers[sample.right]
        if right.all() or not right.any():
            orders = map(np.array, (before.rows, persons_first(before).rows))
            without, with_it = (score(each, sample) for each in orders)
            yield ("agents" if right.all() else "a person"), without, with_it
