"""What dissonance's own guards hold back: models that are asked, and what is made of their words.

Each probe puts pairs of texts to the judges, with a model behind a real endpoint that answers as it
is told. It returns whether the harm was done.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

from concord_chassis.observe.log import json_lines
from concord_dissonance.adapters.openai_judge.judge import OpenAiJudge
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import Kind, Micros, Rules, Side
from concord_dissonance.domain.statements import Coverage, Statement
from concord_dissonance.domain.verdicts import (
    LEAST_PRECISION,
    Abstained,
    Abstention,
    ConflictClass,
    Verdict,
)
from concord_dissonance.usecases.ask_models import AskModels, Said
from concord_dissonance.usecases.examine import Examination, note
from concord_models.budget import Budget, Cost
from concord_models.chat import ChatModel
from concord_models.endpoint import ModelEndpoint, RetryPolicy
from concord_testing.chat_endpoint import Body, ChatEndpoint, completion, serving_chat
from pydantic import SecretStr

JudgeProbe = Callable[[], Awaitable[bool]]


POLICY = RetryPolicy(timeout=5.0, budget=5.0, attempts=1, share=0.5)
ENOUGH = Cost(100, 1_000_000, 1_000_000)


class _Unlimited:
    """A day without a limit."""

    async def add(self, cost: Cost, limit: Cost | None = None) -> bool:
        del cost, limit
        return True


def _side(name: str, text: str, stated: int | None = None) -> Side:
    valid_from = None if stated is None else Micros(stated)
    return Side(name, Kind.FACT, text, valid_from=valid_from)


NINE = _side("a", "The corner shop opens at nine.")
NOON = _side("b", "Nobody gets into the corner shop before noon.")


def _contradiction(first: str, second: str) -> bytes:
    said = {"relation": "contradiction", "earlier": "neither", "type": "factual"}
    return completion(json.dumps(said | {"first_words": first, "second_words": second}))


def _texts(body: Body) -> tuple[str, str]:
    data = json.loads(body["messages"][1]["content"])
    return data["first"]["text"], data["second"]["text"]


def _agreeing(body: Body) -> bytes:
    first, second = _texts(body)
    return _contradiction(first.split()[0], second.split()[0])


def _fickle(body: Body) -> bytes:
    """Contradiction in one order, none in the other."""
    if _texts(body)[0] == NINE.text:
        return _agreeing(body)
    said = {"relation": "none", "earlier": "neither", "type": "factual"}
    return completion(json.dumps(said | {"first_words": "", "second_words": ""}))


async def _asked(
    answer: Callable[[Body], "bytes | None"], *, space: str = "named", budget: Cost = ENOUGH
) -> tuple[Said, Coverage, ChatEndpoint]:
    async with serving_chat(answer) as endpoint:
        door = ModelEndpoint(
            "judge", endpoint.url, SecretStr(""), POLICY, json_lines("test", level="critical")
        )
        model = OpenAiJudge(ChatModel(door, "some-model"))

        def spending(_: str) -> Budget:
            return Budget(budget, ENOUGH, _Unlimited(), micros_per_1000_tokens=0)

        models = AskModels([model], spending, frozenset({"named"}), clock=lambda: Micros(0))
        coverage = Coverage()
        try:
            open_ = [Abstention(Abstained.UNKNOWN_FILLERS)]
            (said,) = await models(models.begin(space, coverage), [(NINE, NOON)], open_)
        finally:
            await model.close()
        return said, coverage, endpoint


def _disagrees(said: Said) -> bool:
    return isinstance(said, Verdict) and said.conflict is ConflictClass.CONTRADICTION


async def another_space_is_judged() -> bool:
    """Judge a pair of a space that no operator named."""
    _, _, endpoint = await _asked(_agreeing, space="private")
    return bool(endpoint.asked)


async def a_model_changes_its_mind() -> bool:
    """Ask a model whose verdict depends on the order."""
    said, *_ = await _asked(_fickle)
    return _disagrees(said)


async def a_model_makes_words_up() -> bool:
    """Ask a model that quotes what nobody said."""
    said, *_ = await _asked(lambda _: _contradiction("The moon", "is cheese"))
    return _disagrees(said)


async def the_budget_is_spent() -> bool:
    """Ask where the budget has room for no call."""
    *_, endpoint = await _asked(_agreeing, budget=Cost())
    return bool(endpoint.asked)


async def a_model_is_dead() -> bool:
    """Ask a model that closes the line."""
    _, coverage, _ = await _asked(lambda _: None)
    return not coverage.is_degraded


async def a_pattern_guesses() -> bool:
    """Take what texts are judged to be less often rightly than a finding is."""
    pair = [_side("a", "The archive opens at nine.", 1), _side("b", "The archive opens at ten.", 2)]
    one, other = (Statement(each, each.id) for each in pair)
    said = judge(pair[0], pair[1], Rules())
    assert isinstance(said, Verdict)
    exam = Examination("s", [one, other], Rules())
    note(exam, one, other, replace(said, confidence=LEAST_PRECISION - 0.01))
    return bool(exam.findings)
