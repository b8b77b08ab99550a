"""How many loaded sentences the lexicon finds in a note, and how many neutral ones it refuses (V3).

The sentences of `framing_sentences/` were written after the lexicon and are kept apart from those
that it was written from (`services/governance/tests/framing_sentences`). Whoever changes the
lexicon because of one of them moves it there, and writes another.
"""

from collections.abc import AsyncIterator
from pathlib import Path

from concord_governance.domain.loaded_phrases import loaded_phrases

from tests.bench.run import Run
from tests.bench.table import Bar, Row

SENTENCES = Path(__file__).parent / "framing_sentences"


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields recall and false alarms; the same in a quick run."""
    del run
    found, missed = _refused("loaded")
    false, quiet = _refused("neutral")
    yield Row(
        "framing: loaded sentences refused (recall)",
        "share",
        (len(found) / len(found + missed),),
        bar=Bar(0.80, at_most=False),
        note=f"{len(found)} of {len(found + missed)}; a third is German",
    )
    yield Row(
        "framing: neutral sentences refused",
        "share",
        (len(false) / len(false + quiet),),
        bar=Bar(0.05),
        note=f"{len(false)} of {len(false + quiet)}; dates, places, people, tastes, corrections",
    )


def _refused(kind: str) -> tuple[list[str], list[str]]:
    """The sentences that are refused, and the others."""
    sentences = (SENTENCES / f"{kind}.txt").read_text("utf-8").splitlines()
    refused = [each for each in sentences if loaded_phrases(each)]
    return refused, [each for each in sentences if each not in refused]
