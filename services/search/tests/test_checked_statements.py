"""What an integrative search has checked against constitutive statements."""

from collections.abc import Sequence

from concord_search.ports import Compared, Hydrated, Statement, Verdict, Verdicts
from concord_search.usecases.check_statements import Check, CheckStatements, CheckStatus
from search_lab import SPACE, plain_state

CLASH = Verdict(conflict_class=2, confidence=0.9, judged=True)


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
        """Raises `TimeoutError`."""
        if sum(len(text) for text in {each.text for each in pairs}) > 20_000:
            raise TimeoutError
        return Verdicts([CLASH for _ in pairs])

    async def close(self) -> None:
        """Closes nothing."""


async def test_long_results_leave_the_others_judged() -> None:
    """S6 Beyond 20,000 characters the longest are left out, and counted as unjudged."""
    texts = ("a" * 18_000, "short", "b" * 2_500, "c" * 17_000)
    results = [Hydrated(plain_state(f"m{at}", at, text), object()) for at, text in enumerate(texts)]
    honest = Statement("edge-1", "agent VALUES honesty", ("agent", "VALUES", "honesty"))
    fair = Statement("edge-2", "agent VALUES peace", ("agent", "VALUES", "peace"))

    clashes, check = await CheckStatements(Readers())(SPACE, results, [honest, fair], False)

    assert [len(each) for each in clashes] == [0, 2, 2, 2]
    assert check == Check(CheckStatus.COMPLETE, pairs=8, judged=6)
