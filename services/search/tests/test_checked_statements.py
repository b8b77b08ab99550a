"""What an integrative search has checked against constitutive statements, and which it names."""

import asyncio
from collections.abc import Sequence

import pytest
from concord_chassis.call import deadline
from concord_search.ports.graph import Hydrated, Statement
from concord_search.ports.index import Place
from concord_search.ports.judges import CheckStatus, Compared, Verdict, Verdicts
from concord_search.usecases.check_statements import BUDGET, Check, CheckStatements
from concord_search.usecases.integrative_search import reason_of
from concord_search.usecases.progress import ANSWER_RESERVE
from search_lab import SPACE, plain_state

CLASH = Verdict(conflict_class=2, confidence=0.9, judged=True, is_of_text=False)


class Readers:
    """Judges to whom everything clashes; 20,000 characters are all that they read in the time."""

    async def verdicts(
        self,
        space: str,  # noqa: ARG002 - the port's, as the two below
        pairs: Sequence[Compared],
        seconds: float,  # noqa: ARG002
        *,
        use_models: bool,  # noqa: ARG002
    ) -> Verdicts:
        if sum(len(text) for text in {each.text for each in pairs}) > 20_000:
            return Verdicts(CheckStatus.TIMED_OUT)
        return Verdicts(CheckStatus.COMPLETE, [CLASH for _ in pairs])

    async def unread(self, _: str) -> int | None:
        return None


async def test_long_results_leave_the_others_judged() -> None:
    """S6 Beyond 20,000 characters the longest are left out, and counted as unjudged."""
    texts = ("a" * 18_000, "short", "b" * 2_500, "c" * 17_000)
    results = [Hydrated(plain_state(f"m{at}", at, text), object()) for at, text in enumerate(texts)]
    honest = Statement("edge-1", "agent VALUES honesty", ("agent", "VALUES", "honesty"))
    fair = Statement("edge-2", "agent VALUES peace", ("agent", "VALUES", "peace"))

    clashes, check = await CheckStatements(Readers())(SPACE, results, [honest, fair], False)

    assert [len(each) for each in clashes] == [0, 2, 2, 2]
    assert check == Check(CheckStatus.COMPLETE, pairs=8, judged=6)


class SlowReaders(Readers):
    """Judges that take twice the time that a check without models has."""

    async def verdicts(
        self, space: str, pairs: Sequence[Compared], seconds: float, *, use_models: bool
    ) -> Verdicts:
        await asyncio.sleep(min(seconds, 2 * BUDGET))
        if seconds < 2 * BUDGET:
            return Verdicts(CheckStatus.TIMED_OUT)
        return await super().verdicts(space, pairs, seconds, use_models=use_models)


async def test_models_get_the_time_that_they_take() -> None:
    """S6 Without models a check ends after 150 ms; with them, before the caller's deadline."""
    results = [Hydrated(plain_state("m", 1, "short"), object())]
    honest = Statement("edge-1", "agent VALUES honesty", ("agent", "VALUES", "honesty"))
    check = CheckStatements(SlowReaders())

    _, by_rules = await check(SPACE, results, [honest], False)
    _, by_models = await check(SPACE, results, [honest], True)
    deadline.enter(ANSWER_RESERVE + BUDGET)
    _, too_late = await check(SPACE, results, [honest], True)

    assert by_rules == Check(CheckStatus.TIMED_OUT, pairs=1)
    assert by_models == Check(CheckStatus.COMPLETE, pairs=1, judged=1)
    assert too_late == Check(CheckStatus.TIMED_OUT, pairs=1)


@pytest.mark.parametrize("stated_by", [(), ("m",)])
@pytest.mark.parametrize(
    ("query", "relation"),
    [("Where does Ada live?", "LIVES_IN"), ("Where was Ada born?", "BORN_IN"), ("Ada", "LIVES_IN")],
)
def test_the_statement_of_the_relation_that_matters_is_named(
    query: str, relation: str, stated_by: tuple[str, ...]
) -> None:
    """S6 Of several that a memory is near to, the one whose relation is asked for, else told."""
    statements = [
        Statement(at, f"Ada {at} Bremen", ("Ada", at, "Bremen"), stated_by)
        for at in ("BORN_IN", "LIVES_IN", "WORKS_IN")
    ]
    state = plain_state("m", 1, "Ada lives in Bremen.")

    said = reason_of(Place(0.5, 1.0, 1.0), state, statements, query)

    assert said.endswith(f'it rests on "Ada {relation} Bremen".')
