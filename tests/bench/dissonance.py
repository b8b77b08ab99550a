"""How right the judges of dissonance are that need no model.

Precision, recall and coverage are printed for each set of pairs, with the confusion of classes.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence

from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.verdicts import Abstention, ConflictClass, Verdict

from tests.bench import dissonance_pairs as sets
from tests.bench.dissonance_pairs import Labelled, PairSet
from tests.bench.run import Run
from tests.bench.table import Bar, Row

CONTRADICTION = ConflictClass.CONTRADICTION
NO_CONFLICT = (None, ConflictClass.NONE)
LEAST_PRECISION = {"sick", "breaking_nli", "cad_snli", "decode"}
LEAST_RECALL = {"sick": 0.75, "breaking_nli": 0.30}
Outcome = tuple[Labelled, Verdict | Abstention]


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields the figures; a quick run leaves none out, for all of it takes a minute."""
    folder = run.evaluation
    if not folder.is_dir():
        print(f"SKIPPED: no data at {folder}", flush=True)
        return
    for pairs in sets.texts(folder):
        for row in _contradictions(pairs.name, _judge(pairs)):
            yield row
    for masked, bar in ((False, 0.90), (True, 0.80)):
        pairs = sets.turns(folder, masked=masked)
        for row in _classes(pairs.name, _judge(pairs), bar):
            yield row
    yield _false_alarms("beam, pairs at random: findings", _judge(sets.random_turns(folder)), None)
    for declared, undeclared in sets.facts(folder):
        for row in _facts(declared, undeclared):
            yield row


def _judge(pairs: PairSet) -> list[Outcome]:
    return [(pair, judge(pair.first, pair.second, pairs.rules)) for pair in pairs.pairs]


def _class(said: Verdict | Abstention) -> ConflictClass | None:
    return None if isinstance(said, Abstention) else said.conflict


def _contradictions(name: str, judged: Sequence[Outcome]) -> Iterator[Row]:
    found = [pair for pair, said in judged if _class(said) is CONTRADICTION]
    right = sum(pair.wanted is CONTRADICTION for pair in found)
    there = sum(pair.wanted is CONTRADICTION for pair, _ in judged)
    bar = Bar(0.95, at_most=False) if name in LEAST_PRECISION else None
    note = f"{right} of {len(found)}; {_confusion(judged)}"
    yield Row(
        f"{name}: contradictions, precision",
        "share",
        (right / max(1, len(found)),),
        bar=bar,
        note=note,
    )
    recall = Bar(LEAST_RECALL[name], at_most=False) if name in LEAST_RECALL else None
    yield Row(
        f"{name}: contradictions, recall",
        "share",
        (right / there,),
        bar=recall,
        note=f"{right} of {there}; {_coverage(judged)}",
    )


def _classes(name: str, judged: Sequence[Outcome], bar: float) -> Iterator[Row]:
    """Of pairs that are known to disagree: what a caller learns, and what a check records."""
    right = sum(_class(said) is pair.wanted for pair, said in judged)
    yield Row(
        f"{name}: evolution against contradiction",
        "share",
        (right / len(judged),),
        bar=Bar(bar, at_most=False),
        note=f"{right} of {len(judged)}; {_confusion(judged)}; {_coverage(judged)}",
    )
    sure = [(pair, said) for pair, said in judged if isinstance(said, Verdict)]
    recorded = sum(_class(said) is pair.wanted for pair, said in sure)
    yield Row(
        f"{name}: rightly recorded by a check",
        "share",
        (recorded / len(judged),),
        note=f"{recorded} of {len(judged)}; of {len(sure)} recorded; {_confusion(sure)}",
    )


def _facts(declared: PairSet, undeclared: PairSet) -> Iterator[Row]:
    judged = _judge(declared)
    bar = None if declared.name == "wikidata12k" else Bar(0.99, at_most=False)
    note = f"{_confusion(judged)}; undeclared F1 {_f1(_judge(undeclared)):.3f}"
    yield Row(f"{declared.name}: typed facts, F1", "share", (_f1(judged),), bar=bar, note=note)
    quiet = [(pair, said) for pair, said in judged if sets.is_coexisting(pair, declared.rules)]
    if quiet:
        yield _false_alarms(f"{declared.name}: coexisting values flagged", quiet, Bar(0.01))


def _f1(judged: Sequence[Outcome]) -> float:
    """F1 of the pairs that disagree, each with its class."""
    found = [(pair, said) for pair, said in judged if _class(said) not in NO_CONFLICT]
    right = sum(_class(said) is pair.wanted for pair, said in found)
    there = sum(pair.wanted is not None for pair, _ in judged)
    return 2 * right / max(1, len(found) + there)


def _false_alarms(what: str, judged: Sequence[Outcome], bar: Bar | None) -> Row:
    flagged = [said for _, said in judged if isinstance(said, Verdict)]
    found = [said for said in flagged if said.conflict is not ConflictClass.NONE]
    note = f"{len(found)} of {len(judged):,}"
    return Row(what, "share", (len(found) / len(judged),), bar=bar, note=note)


def _confusion(judged: Sequence[Outcome]) -> str:
    counts = Counter((_short(pair.wanted), _short(_class(said))) for pair, said in judged)
    return ", ".join(f"{wanted}→{got} {n:,}" for (wanted, got), n in sorted(counts.items()))


def _short(conflict: ConflictClass | None) -> str:
    return "-" if conflict in NO_CONFLICT or conflict is None else conflict.name[:4]


def _coverage(judged: Sequence[Outcome]) -> str:
    reasons = Counter(said.reason.name for _, said in judged if isinstance(said, Abstention))
    commonest = ", ".join(f"{name} {count:,}" for name, count in reasons.most_common(3))
    return f"coverage {1 - reasons.total() / len(judged):.2f}; abstained: {commonest}"
