"""Dissonance with a model behind an endpoint: what it adds, and what its failing leaves."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.graph.v1 import conflict_pb2
from concord_testing.chat_endpoint import Answer, ChatEndpoint, completion, serving_chat
from dissonance_over_graph import Dissonant, dissonant
from governed_world import World, eventually
from grpc_health.v1 import health_pb2, health_pb2_grpc

NINE = "The corner shop opens at nine."
NOON = "Nobody gets into the corner shop before noon."
EXACT = ("CONTRADICTION", frozenset({"Ada LIVES_IN Berlin", "Ada LIVES_IN Paris"}))
BY_MODEL = ("CONTRADICTION", frozenset({NINE, NOON}))


def texts(body: dict[str, Any]) -> tuple[str, str]:
    """The two texts that were asked about."""
    data = json.loads(body["messages"][1]["content"])
    return data["first"]["text"], data["second"]["text"]


def honest(body: dict[str, Any]) -> bytes:
    """Finds that the two texts about the shop contradict one another."""
    first, second = texts(body)
    disagree = {first, second} == {NINE, NOON}
    words = (first.split()[-1], second.split()[-1]) if disagree else ("", "")
    return completion(
        json.dumps(
            {
                "relation": "contradiction" if disagree else "unsure",
                "earlier": "neither",
                "type": "factual",
                "first_words": words[0],
                "second_words": words[1],
            }
        )
    )


@asynccontextmanager
async def modelled(
    world: World, answer: Answer, **settings: object
) -> AsyncIterator[tuple[Dissonant, ChatEndpoint]]:
    """Every service, and a model that the space "one" may be shown to."""
    async with serving_chat(answer) as endpoint:
        told = {
            "llm_url": endpoint.url,
            "llm_model": "some-model",
            "llm_spaces": frozenset({"one"}),
            "llm_timeout": 2.0,
            "llm_attempts": 2,
        }
        chosen: dict[str, Any] = {**told, **settings}
        async with dissonant(world, follow=False, **chosen) as running:
            yield running, endpoint


async def disagree(works: Dissonant, space: str = "one") -> None:
    """Write what is decided exactly, and what only a model can say."""
    home = works.space(space)
    await home.declare("LIVES_IN")
    await home.edge("Ada", "LIVES_IN", "Berlin")
    await home.edge("Ada", "LIVES_IN", "Paris")
    await home.add(NINE)
    await home.add(NOON)


async def test_a_model_decides_what_the_exact_judges_leave_open(live: World) -> None:
    """D4 D11 The conflict names the model as its judge; the reply says what asking cost."""
    async with modelled(live, honest, llm_price=1_000) as (works, endpoint):
        await disagree(works)
        run = await works.space().detect()
        asked = len(endpoint.asked)

    assert run.said == {EXACT, BY_MODEL}
    assert run.summary.status == pb.CHECK_STATUS_COMPLETE
    covered = run.summary.coverage
    assert covered.judged_by["LLM"] == 1
    assert covered.model_calls == asked == 2
    assert covered.model_tokens == covered.model_micros > 0
    judges = {each.judge for each in run.conflicts}
    assert judges == {conflict_pb2.JUDGE_STRUCTURAL, conflict_pb2.JUDGE_LLM}


async def test_a_space_that_did_not_switch_it_on_is_shown_to_no_endpoint(live: World) -> None:
    """D11 Memories of another space never leave."""
    async with modelled(live, honest) as (works, endpoint):
        await disagree(works, "two")
        run = await works.space("two").detect()

    assert run.said == {EXACT}
    assert run.summary.status == pb.CHECK_STATUS_COMPLETE
    assert not endpoint.asked


async def is_told_dead(works: Dissonant) -> bool:
    """Return whether health tells that the model is dead, and that dissonance serves."""
    name = "concord.dissonance.v1.DissonanceService"
    health: Any = health_pb2_grpc.HealthStub(works.served.channel(None))
    asked = [health_pb2.HealthCheckRequest(service=each) for each in (name, f"{name}/LLM")]
    statuses = [(await health.Check(each)).status for each in asked]
    found = health_pb2.HealthCheckResponse
    return statuses == [found.SERVING, found.NOT_SERVING]


async def test_an_endpoint_that_fails_never_reads_as_no_conflicts(live: World) -> None:
    """D1 D11 The reply is degraded, with counts; what the exact judges found stands."""
    async with modelled(live, lambda _: 90.0, llm_timeout=0.5) as (works, _):
        await disagree(works)
        began = time.monotonic()
        before = await works.space().judges()
        run = await works.space().detect()
        after = await works.space().judges()
        await eventually(lambda: is_told_dead(works))

    assert before[conflict_pb2.JUDGE_LLM] == pb.JUDGE_STATE_READY
    assert after[conflict_pb2.JUDGE_LLM] == pb.JUDGE_STATE_DEAD
    assert after[conflict_pb2.JUDGE_LEXICAL] == pb.JUDGE_STATE_READY
    assert run.said == {EXACT}
    assert run.summary.status == pb.CHECK_STATUS_DEGRADED
    assert run.summary.coverage.skipped == {"LLM_UNAVAILABLE": 1}
    assert time.monotonic() - began < 60, "longer than the endpoint may take"


async def test_the_day_of_a_space_has_one_budget(live: World) -> None:
    """D11 What a check spends is in graph's records: the next one finds it spent."""
    async with modelled(live, honest, llm_day_calls=2) as (works, _):
        await disagree(works)
        await works.space().detect()
    async with modelled(live, honest, llm_day_calls=2) as (works, endpoint):
        await works.space().add("The corner shop is shut in the morning.")
        run = await works.space().detect()

    assert run.summary.status == pb.CHECK_STATUS_DEGRADED
    assert run.summary.coverage.skipped["LLM_BUDGET_SPENT"] >= 1
    assert not endpoint.asked


async def test_a_dry_run_says_what_a_model_would_cost(live: World) -> None:
    """D11 Nothing is asked; a check then asks no more, in both orders."""
    async with modelled(live, honest) as (works, endpoint):
        await disagree(works)
        dry = (await works.space().detect(dry_run=True)).summary.coverage
        asked_dry = len(endpoint.asked)
        real = (await works.space().detect()).summary.coverage

    assert asked_dry == 0
    assert dry.model_calls == real.model_calls == 2
    assert dry.model_tokens >= real.model_tokens > 0
