"""The examples, run on a real system in the same process."""

import json
from pathlib import Path
from typing import Any

import agent_loop
import bring_together
import concord_client
import openai_tools
import pytest
from concord_testing.chat_endpoint import Body, completion, http, serving_chat
from openai import AsyncOpenAI


def test_an_agent_recalls_what_was_said_before(tmp_path: Path) -> None:
    """W4 Each turn is found by the next; what was corrected is not."""
    with concord_client.embedded(tmp_path / "data") as concord:
        agent_loop.turn(concord, agent_loop.repeat, "Ada lives in Bonn.", "talk")
        told = agent_loop.turn(concord, agent_loop.repeat, "Where does Ada live?", "talk")
        assert "Ada lives in Bonn." in told

        agent_loop.correct(concord, "Ada lives in Bonn.", "Ada lives in Rome.")
        told = agent_loop.turn(concord, agent_loop.repeat, "So where does Ada live now?", "talk")
        assert "Ada lives in Rome." in told
        assert "Bonn" not in told

        agent_loop.correct(concord, "The quarterly tax form is due.", "It is due in May.")
        told = agent_loop.turn(concord, agent_loop.repeat, "So where does Ada live now?", "talk")
        assert "Ada lives in Rome." in told


def test_answers_are_brought_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """W4 D10 What contradicts is told on the way, the synthesis is a memory; without models there
    is no review, in our words."""
    asked, said = "Is it open?", {"one": "The bridge is open.", "two": "The bridge is not open."}
    with concord_client.embedded(tmp_path / "data") as concord:
        text = bring_together.bring_together(concord, asked, said)
        found = concord.search(asked, kinds=["INSIGHT"]).results
        unreviewed = bring_together.give(concord, asked, "It is.")

    assert "The bridge is not open." in text
    assert [each.memory.content for each in found] == [text]
    assert "The bridge is open" in capsys.readouterr().out
    assert unreviewed.startswith("Not reviewed: ")


def calling(name: str, **arguments: str) -> bytes:
    """A completion that calls a tool."""
    call = {"id": "c", "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)}}  # fmt: skip
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
             "choices": [choice]}  # fmt: skip
    return http(200, json.dumps(whole).encode())


async def test_a_model_remembers_and_corrects_by_tools(tmp_path: Path) -> None:
    """W4 Against a server that speaks the API; a refusal reaches the model in our words."""

    def model(body: Body) -> bytes:
        told: list[Any] = [each for each in body["messages"] if each["role"] == "tool"]
        last: Any = json.loads(told[-1]["content"]) if told else None
        match len(told):
            case 0:
                return calling("remember", content="Ada lives in Bonn.")
            case 1:
                return calling("correct", memory_id=last["id"], content="Ada lives in Rome.")
            case 2:
                return calling("remember", content="")
            case 3:
                assert last["error"] == "ERROR_REASON_FIELD_INVALID"
                return calling("forget_everything")
            case 4:
                assert "no tool" in last["error"]
                return calling("recall", question="Where does Ada live?")
        return completion(last[0]["content"].partition("\n")[0])

    async with (
        serving_chat(model) as endpoint,
        concord_client.embedded_async(tmp_path / "data") as concord,
        AsyncOpenAI(base_url=endpoint.url, api_key="none", max_retries=0) as client,
    ):
        said = await openai_tools.answer(client, "m", concord, "Where does Ada live?")

    assert said == "Ada lives in Rome."
    assert [each["function"]["name"] for each in endpoint.asked[0]["tools"]] == [
        "recall",
        "remember",
        "correct",
    ]
