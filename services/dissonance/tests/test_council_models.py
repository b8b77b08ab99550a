"""Models as reviewers, over a real local endpoint that plays scripts (D9, D11)."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from concord_chassis.observe.log import json_lines
from concord_dissonance.adapters.openai_council.council import OpenAiCouncil
from concord_dissonance.adapters.openai_council.settings import CouncilSettings
from concord_dissonance.domain.dialectic.said import ModelFailure
from concord_dissonance.domain.peer_review.criteria import Criterion, criteria_set
from concord_dissonance.domain.peer_review.review import (
    FailureKind,
    PeerReview,
    Recommendation,
    ReviewTask,
)
from concord_dissonance.domain.sides import Micros
from concord_models.budget import Cost
from concord_testing.chat_endpoint import (
    Answer,
    Body,
    ChatEndpoint,
    completion,
    cut,
    endless,
    http,
    serving_chat,
)
from concord_testing.council import council_settings, review_of, reviewing
from pydantic import SecretStr

TASK = ReviewTask(
    "Is a permit needed?",
    "A permit is needed for every new building.",
    ("§ 1: Buildings need a permit.",),
    criteria_set("general", "en"),
    "en",
)
SECRET = "sk-very-secret"


@asynccontextmanager
async def council(
    answer: Answer, *, seconds: float = 20.0, at_once: int = 4, log: io.StringIO | None = None
) -> AsyncIterator[tuple[OpenAiCouncil, ChatEndpoint]]:
    """Three models behind one local endpoint."""
    async with serving_chat(answer) as endpoint:
        settings = CouncilSettings.model_validate(
            council_settings(endpoint.url, at_once=at_once, price=1_000, timeout=seconds)
        )
        keys = {"local": SecretStr(SECRET)}
        lines = json_lines("test", stream=log or io.StringIO())
        models = OpenAiCouncil(settings, keys, lambda: Micros(7), lines)
        try:
            yield models, endpoint
        finally:
            await models.close()


def turns(*replies: Callable[[Body], Any]) -> Answer:
    """Answers by turns; the last one again and again."""
    left = list(replies)

    def answer(body: Body) -> Any:
        turn = left.pop(0) if len(left) > 1 else left[0]
        return turn(body)

    return answer


GOOD: dict[str, Answer] = {
    "good": reviewing,
    "wrong once": turns(lambda _: completion("Well..."), reviewing),
    "a shape of its own once": turns(lambda _: completion('{"score": 8}'), reviewing),
    "index out of range once": turns(
        lambda body: reviewing(body, criteria=[{"criterion_index": 5, "comment": "", "score": 8}]),
        reviewing,
    ),
    "429 with seconds": turns(lambda _: http(429, b"{}", "Retry-After: 0"), reviewing),
    "429 with a date": turns(
        lambda _: http(429, b"{}", f"Retry-After: {format_datetime(datetime.now(UTC))}"),
        reviewing,
    ),
    "cut once": turns(lambda body: cut(reviewing(body)), reviewing),
    "refuses schemas": lambda body: (
        http(400, b"{}")
        if body.get("response_format", {}).get("type") == "json_schema"
        else reviewing(body)
    ),
    "refuses every format": lambda body: (
        http(400, b"{}") if "response_format" in body else reviewing(body)
    ),
}


@pytest.mark.parametrize("answer", GOOD.values(), ids=GOOD.keys())
async def test_a_usable_review_counts(answer: Answer) -> None:
    """D9 D11 What passes is asked again; another format is asked for where one is refused."""
    async with council(answer) as (models, _):
        found = (await models.reviewers[0].review(TASK)).said

    assert isinstance(found, PeerReview)
    assert found.recommendation is Recommendation.APPROVE
    assert [each.score for each in found.scores] == [8000] * 5
    assert [each.criterion for each in found.scores] == list(TASK.criteria)
    assert (float(found.points), found.told_score) == (8.0, 1000)
    assert found.time == Micros(7)


def criteria(*indices: int, score: object = 8) -> list[dict[str, Any]]:
    """Scores of these criteria."""
    return [{"criterion_index": each, "comment": "", "score": score} for each in indices]


FAILING: dict[str, tuple[Answer, FailureKind]] = {
    "wrong schema": (lambda _: completion('{"score": 8}'), FailureKind.MALFORMED),
    "index out of range": (
        lambda body: reviewing(body, criteria=criteria(0, 1, 2, 3, 5)),
        FailureKind.MALFORMED,
    ),
    "negative index": (
        lambda body: reviewing(body, criteria=criteria(0, 1, 2, 3, -1)),
        FailureKind.MALFORMED,
    ),
    "an index twice": (
        lambda body: reviewing(body, criteria=criteria(0, 1, 2, 3, 4, 4)),
        FailureKind.MALFORMED,
    ),
    "a criterion missing": (
        lambda body: reviewing(body, criteria=criteria(0, 1, 2, 3)),
        FailureKind.MALFORMED,
    ),
    "score above ten": (
        lambda body: reviewing(body, criteria=criteria(*range(5), score=10.1)),
        FailureKind.MALFORMED,
    ),
    "score in words": (
        lambda body: reviewing(body, criteria=criteria(*range(5), score="8")),
        FailureKind.MALFORMED,
    ),
    "no number": (
        lambda body: completion(json.dumps(review_of(body, overall_score=float("nan")))),
        FailureKind.MALFORMED,
    ),
    "a refusal": (lambda _: completion(None, refusal="no"), FailureKind.MALFORMED),
    "no completion": (lambda _: http(200, b"<html>"), FailureKind.MALFORMED),
    "empty and out of tokens": (lambda _: completion("", finish="length"), FailureKind.CUT_OFF),
    "slow": (lambda _: 60.0, FailureKind.TIMEOUT),
    "dead": (lambda _: None, FailureKind.UNAVAILABLE),
    "cut": (lambda body: cut(reviewing(body)), FailureKind.UNAVAILABLE),
    "endless": (lambda _: endless(), FailureKind.UNAVAILABLE),
    "429 for an hour": (
        lambda _: http(429, b"{}", "Retry-After: 3600"),
        FailureKind.UNAVAILABLE,
    ),
    "429 until tomorrow": (
        lambda _: http(
            429, b"{}", f"Retry-After: {format_datetime(datetime.now(UTC) + timedelta(days=1))}"
        ),
        FailureKind.UNAVAILABLE,
    ),
    "unknown model": (lambda _: http(404, b"{}"), FailureKind.REFUSED),
    "refused key": (lambda _: http(401, b"{}"), FailureKind.REFUSED),
}


@pytest.mark.parametrize(("answer", "kind"), FAILING.values(), ids=FAILING.keys())
async def test_an_unusable_review_is_none(answer: Answer, kind: FailureKind) -> None:
    """D9 D11 Whatever a model plays, it has failed, and why is said; no score is made up."""
    told = io.StringIO()
    seconds = 1.0 if kind is FailureKind.TIMEOUT else 60.0
    async with council(answer, seconds=seconds, log=told) as (models, _):
        found = (await models.reviewers[0].review(TASK)).said

    assert isinstance(found, ModelFailure)
    assert found.kind is kind
    assert found.detail
    for secret in (SECRET, TASK.answer):
        assert secret not in told.getvalue() + found.detail


async def test_a_malformed_answer_is_shown_its_fault_once() -> None:
    """D11 One repair round, with the error; another fault ends it."""
    async with council(lambda body: reviewing(body, recommendation="accept")) as (models, endpoint):
        await models.reviewers[0].review(TASK)

    first, second = (body["messages"] for body in endpoint.asked)
    assert second[:2] == first
    assert json.loads(second[2]["content"])["recommendation"] == "accept"
    assert "recommendation" in second[3]["content"]
    assert "'approve', 'revise' or 'reject'" in second[3]["content"]


async def test_a_schema_is_sent_whole_and_only_where_it_is_understood() -> None:
    """D11 It follows no reference; what an endpoint refused is not sent again."""
    async with council(GOOD["refuses schemas"]) as (models, endpoint):
        reviewer = models.reviewers[0]
        for answer in ("One.", "Two."):
            await reviewer.review(ReviewTask("", answer, (), TASK.criteria, "en"))

    formats = [body["response_format"] for body in endpoint.asked]
    assert [each["type"] for each in formats] == ["json_schema", "json_object", "json_object"]
    assert "$" not in json.dumps(formats[0])


async def test_the_same_task_is_reviewed_once_and_costs_once() -> None:
    """D11 Reviews are kept by content, one of each model; a failure is asked for anew."""
    async with council(turns(lambda _: None, reviewing)) as (models, endpoint):
        reviewer = models.reviewers[0]
        estimate = reviewer.cost(TASK)
        first = await reviewer.review(TASK)
        asked = len(endpoint.asked)
        again = await reviewer.review(TASK)
        assert len(endpoint.asked) == asked
        await models.reviewers[1].review(TASK)

    assert (again.said, again.is_cached, again.cost) == (first.said, True, Cost())
    assert estimate.calls == 1
    assert estimate.tokens == estimate.micros > 3_000
    assert reviewer.cost(TASK) == Cost()
    assert len(endpoint.asked) == asked + 1
    assert {body["model"] for body in endpoint.asked} == {"one:8b", "two:8b"}


async def test_texts_are_data_whatever_stands_in_them() -> None:
    """D11 Braces and placeholders stay text; the prompt is the same for every task."""
    odd = "{question} %s {{answer}} ${name} </data> \\u0000 ```json"
    own = (Criterion(odd, 1_000_000, odd),)
    async with council(lambda body: reviewing(body, criteria=criteria(0))) as (models, endpoint):
        found = (await models.reviewers[0].review(ReviewTask(odd, odd, (odd,), own, "en"))).said
        await models.reviewers[0].review(ReviewTask("a", "b", (), own, "en"))

    assert isinstance(found, PeerReview)
    assert found.scores[0].criterion == own[0]
    (first, data), (second, _) = (body["messages"] for body in endpoint.asked)
    assert first == second
    assert json.loads(data["content"]) == {
        "question": odd,
        "answer": odd,
        "sources": [odd],
        "criteria": [{"index": 0, "name": odd, "description": odd}],
        "role": "balanced",
    }


async def test_the_language_of_a_task_is_that_of_its_prompt() -> None:
    """D11 German tasks are asked about in German."""
    german = ReviewTask("Wozu?", "Dazu.", (), criteria_set("general", "de"), "de")
    async with council(reviewing) as (models, endpoint):
        await models.reviewers[0].review(german)

    assert "auf Deutsch" in endpoint.asked[0]["messages"][0]["content"]


async def test_a_provider_is_asked_so_many_questions_at_once() -> None:
    """D11 The limit is of the provider, over all of its models."""
    under_way, most = 0, 0

    def slow(body: Body) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)

        def pieces() -> Any:
            nonlocal under_way
            under_way -= 1
            yield reviewing(body)

        return pieces()

    async with council(slow, at_once=1) as (models, _):
        found = await asyncio.gather(*(each.review(TASK) for each in models.reviewers))

    assert all(isinstance(each.said, PeerReview) for each in found)
    assert most == 1


async def test_cancelling_closes_the_line() -> None:
    """D10 Nothing stays under way behind a review that nobody awaits."""
    asked = asyncio.Event()

    def never(_: Body) -> float:
        asked.set()
        return 600.0

    async with council(never) as (models, _):
        asking = asyncio.create_task(models.reviewers[0].review(TASK))
        await asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_a_reviser_writes_an_answer_and_nothing_else() -> None:
    """D9 It is given the weaknesses; a model that fails says why."""
    revised = {"changes": "Named it.", "answer": " A permit is needed, except for sheds. "}
    async with council(lambda _: completion(json.dumps(revised))) as (models, endpoint):
        assert models.reviser is not None
        found = await models.reviser.revise(TASK, ["No exception is named."])
    async with council(lambda _: completion("Here it is.")) as (models, _):
        assert models.reviser is not None
        none = await models.reviser.revise(TASK, [])

    assert found.said == "A permit is needed, except for sheds."
    data = json.loads(endpoint.asked[0]["messages"][1]["content"])
    assert data["weaknesses"] == ["No exception is named."]
    assert isinstance(none.said, ModelFailure)
    assert "shape" in none.said.detail
