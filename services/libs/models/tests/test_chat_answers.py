"""What servers that speak chat completions really answer is read, over a local one (D11)."""

import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any, Literal

import pytest
from concord_chassis.observe.log import json_lines
from concord_models.chat import ChatModel, Question
from concord_models.endpoint import EndpointRefused, EndpointUnavailable, ModelEndpoint, RetryPolicy
from concord_testing.chat_endpoint import Answer, Body, ChatEndpoint, completion, http, serving_chat
from pydantic import BaseModel, ConfigDict, SecretStr

KEY = "sk-a1b2c3d4e5f6"
TEXT = "My sister keeps bees behind the old mill."


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


class Colour(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    colour: Literal["red", "dark blue"]
    moods: list[Mood]


GOOD = '{"colour": "red", "moods": ["calm"]}'
RED = Colour(colour="red", moods=[Mood.CALM])


@asynccontextmanager
async def asking(
    answer: Answer, log: io.StringIO | None = None
) -> AsyncIterator[tuple[Callable[[], Any], ChatEndpoint]]:
    """Yield a function that asks a local server once, within two attempts."""
    policy = RetryPolicy(timeout=5, budget=10, attempts=2, first_wait=0.01, longest_wait=0.02)
    lines = json_lines("test", stream=log or io.StringIO())
    async with serving_chat(answer) as endpoint:
        model = ChatModel(
            ModelEndpoint("test endpoint", endpoint.url, SecretStr(KEY), policy, lines), "m"
        )
        question = Question("Name a colour.", {"text": TEXT}, Colour, 50)
        try:
            yield lambda: model.ask(question, lambda colour: colour), endpoint
        finally:
            await model.close()


def reply(message: dict[str, Any], **more: Any) -> bytes:
    """Return a completion whose parts are given."""
    choice = {"message": message, "finish_reason": "stop"} | more.pop("choice", {})
    return http(200, json.dumps({"choices": [choice], **more}).encode())


READ = {
    "thoughts": completion(f"<think>\nred or {GOOD}?\n</think>\n\n{GOOD}"),
    "thoughts without a beginning": completion(f'It could be {{"colour": 1}}.</think>{GOOD}'),
    "prose around a fence": completion(f"Here you are:\n```json\n{GOOD}\n```\nAnything else?"),
    "prose with braces": completion(f"By {{the rules}} it is {GOOD}."),
    "the same object twice": completion(f"{GOOD}\n{GOOD}"),
    "capitals": completion('{"colour": "RED", "moods": ["Calm"]}'),
    "parts": reply(
        {"content": [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": GOOD}]}
    ),
    "usage is null": reply({"content": GOOD}, usage=None),
    "no total": reply({"content": GOOD}, usage={"total_tokens": None, "prompt_tokens": 3}),
    "another end": reply({"content": GOOD}, choice={"finish_reason": "eos"}),
    "no end": reply({"content": GOOD}, choice={"finish_reason": None}),
    "two choices": http(
        200, json.dumps({"choices": [{"message": {"content": GOOD}}] * 2}).encode()
    ),
}


@pytest.mark.parametrize("answer", READ.values(), ids=READ.keys())
async def test_an_answer_is_read_whatever_stands_around_it(answer: bytes) -> None:
    """D11 Thoughts, prose, fences, parts, letters and what a server leaves out do not matter."""
    async with asking(lambda _: answer) as (ask, endpoint):
        answered = await ask()

    assert answered.value == RED
    assert len(endpoint.asked) == 1


NOT_READ = {
    "two answers": completion(GOOD + '{"colour": "dark blue", "moods": []}'),
    "no object": completion("Red, I think."),
    "another colour": completion('{"colour": "green", "moods": []}'),
    "only thoughts": completion(f"<think>{GOOD}</think>"),
    "braces without end": completion("{" * 5_000),
    "one more field": completion('{"colour": "red", "moods": [], "id": "x"}'),
}


@pytest.mark.parametrize("answer", NOT_READ.values(), ids=NOT_READ.keys())
async def test_what_is_no_single_answer_is_none(answer: bytes) -> None:
    """D11 What holds no answer of the shape, or two that differ, is never taken for one."""
    async with asking(lambda _: answer) as (ask, endpoint):
        with pytest.raises(EndpointUnavailable):
            await ask()

    assert len(endpoint.asked) == 2  # it was shown its defect once


async def test_tokens_are_counted_where_there_is_no_total() -> None:
    """D11 Without a total, the tokens of question and answer count."""
    usage = {"total_tokens": None, "prompt_tokens": 30, "completion_tokens": 12}
    async with asking(lambda _: reply({"content": GOOD}, usage=usage)) as (ask, _):
        assert (await ask()).tokens == 42


def refusing(*parameters: str, message: str | None = None) -> Answer:
    """Answer, but refuse these parameters with 400, as the message says."""

    def answer(body: Body) -> bytes:
        for name in parameters:
            if name in body:
                said = {"message": message or f"Unsupported parameter: '{name}'."}
                return http(400, json.dumps({"error": said}).encode())
        return completion(GOOD)

    return answer


@pytest.mark.parametrize(
    ("parameters", "message", "left"),
    [
        (["max_tokens"], None, {"max_completion_tokens", "temperature", "response_format"}),
        (["temperature"], None, {"max_tokens", "response_format"}),
        (["max_tokens", "temperature"], None, {"max_completion_tokens", "response_format"}),
        (["max_tokens", "max_completion_tokens"], None, {"temperature", "response_format"}),
        (["response_format", "temperature"], "bad request", set()),
    ],
)
async def test_a_refused_parameter_is_left_out(
    parameters: list[str], message: str | None, left: set[str]
) -> None:
    """D11 A server that refuses a parameter is asked without it, and is not asked with it again."""
    async with asking(refusing(*parameters, message=message)) as (ask, endpoint):
        assert (await ask()).value == RED
        tried = len(endpoint.asked)
        await ask()

    assert set(endpoint.asked[-1]) - {"model", "messages"} == left
    assert len(endpoint.asked) == tried + 1


REASONS = {
    "OpenAI's form": ({"error": {"message": "No such model: 'm'."}}, "(No such model: 'm')"),
    "a text": ({"error": "model 'm' not found, try pulling it"}, "(model 'm' not found, try"),
    "a detail": ({"detail": "the queue is closed"}, "(the queue is closed)"),
}


@pytest.mark.parametrize(("body", "shown"), REASONS.values(), ids=REASONS.keys())
async def test_the_endpoint_s_own_reason_is_told_and_logged(body: object, shown: str) -> None:
    """D11 Why an endpoint refuses is in the error, and in the log."""
    log = io.StringIO()
    async with asking(lambda _: http(404, json.dumps(body).encode()), log) as (ask, _):
        with pytest.raises(EndpointUnavailable) as refused:
            await ask()

    assert shown in str(refused.value)
    assert shown in log.getvalue()


UNTOLD = {
    "a word of the text": {"error": {"message": "no: Sister"}},
    "the text": {"error": {"message": f"Bad content: {TEXT[3:]}"}},
    "a key": {"error": {"message": f"Incorrect API key provided: {KEY}. Find yours."}},
    "a masked key": {"error": {"message": "Incorrect API key provided: a1b2c***e5f6"}},
    "a page": None,
}


@pytest.mark.parametrize("body", UNTOLD.values(), ids=UNTOLD.keys())
async def test_neither_text_nor_key_is_told_or_logged(body: object) -> None:
    """D11 W6 A reason that repeats the text is dropped, a key in it is masked."""
    log = io.StringIO()
    sent = json.dumps(body).encode() if body else f"<html>{TEXT} {KEY}</html>".encode()
    async with asking(lambda _: http(422, sent), log) as (ask, _):
        with pytest.raises(EndpointRefused) as refused:
            await ask()

    for words in (str(refused.value), log.getvalue()):
        assert "422" in words
        assert not any(secret in words for secret in ("bees", "Sister", "a1b2c", "e5f6", "html"))
