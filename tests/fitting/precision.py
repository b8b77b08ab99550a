"""Counts how often each pattern of the lexical judge is right, and writes `precision.txt`.

`python -m tests.fitting.precision [FILE]`; the data is where the benchmarks' setting says. A
pattern is right if the sentences that it spoke up at contradict; of what one person said, if the
class is.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from concord_dissonance.domain.judges.finding import Finding
from concord_dissonance.domain.judges.lexical import findings_in, verdict_on
from concord_reading.lexicon import LANGUAGES
from concord_dissonance.domain.sides import Rules
from concord_dissonance.domain.verdicts import ConflictClass, Reason

from tests.bench import dissonance_pairs as sets
from tests.bench.__main__ import DATA_DEFAULT, DATA_SETTING
from tests.bench.dissonance_pairs import Labelled

FILE = (
    Path(__file__).parents[2]
    / "services/dissonance/concord_dissonance/domain/language/lexicon/precision.txt"
)
LEAST_FOUND = 10
"""A pattern that was found less often is not written, so what it finds does not count."""
HEAD = """\
# By pattern: how often it was right, of how often it was found, on development data; an "event" is
# what goes on at some moment. `python -m tests.fitting.precision` wrote this. The first two are
# exact, and not measured.
[patterns]
declared 1 1
same 1 1
"""
NO_DISAGREEMENT = (Reason.CONTAINED, Reason.SAME_VALUE)


def _found(pair: Labelled, *, followed: bool) -> Iterator[Finding]:
    """The first finding of each pattern."""
    sides = (pair.first, pair.second)
    known = {each.reading.language for each in sides if each.reading.is_language_known}
    seen: set[str] = set()
    for language in known or LANGUAGES:
        one, other = (each.read_in(language) for each in sides)
        for each in findings_in(one, other, Rules(), followed=followed):
            if (
                isinstance(each, Finding)
                and each.reason not in NO_DISAGREEMENT
                and each.pattern not in seen
            ):
                seen.add(each.pattern)
                yield each


def counted(data: Path) -> dict[str, tuple[int, int]]:
    """By pattern: how often it was right, and how often it was found."""
    right, found = Counter[str](), Counter[str]()
    for pair_set in sets.texts(data):
        for pair in pair_set.pairs:
            for each in _found(pair, followed=False):
                found[each.pattern] += 1
                right[each.pattern] += pair.wanted is ConflictClass.CONTRADICTION
    for masked in (False, True):
        for pair in sets.turns(data, masked=masked).pairs:
            for each in _found(pair, followed=True):
                said = verdict_on(each, pair.first, pair.second)
                found[each.pattern] += 1
                right[each.pattern] += said is not None and said.conflict is pair.wanted
    return {name: (right[name], times) for name, times in found.items() if times >= LEAST_FOUND}


def main(file: Path, data: Path) -> int:
    """Counts and writes."""
    rows = [f"{name} {right} {of}\n" for name, (right, of) in sorted(counted(data).items())]
    file.write_text(HEAD + "".join(rows), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(
        main(
            Path(sys.argv[1]) if sys.argv[1:] else FILE,
            Path(os.environ.get(DATA_SETTING) or DATA_DEFAULT),
        )
    )
