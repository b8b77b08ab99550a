"""`concord review-answer` and the tool `review_answer`, in a whole system with local models."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from concord_client import AgentResult, AnswerReview, AsyncConcord, Concord, Event, Refused
from concord_embedded import Running
from concord_embedded import running as whole_system
from concord_testing.chat_endpoint import Body, ChatEndpoint, http, serving_chat
from concord_testing.command_line import CommandLine
from concord_testing.council import council_file, reviewing, synthesizing
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from typer.testing import Result

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def system(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[Running, ChatEndpoint]]:
    """A system with three reviewers, of which two are enough."""
    folder = tmp_path_factory.mktemp("system")
    async with serving_chat(reviewing) as endpoint:
        file = council_file(folder, endpoint.url, quorum=2)
        environ = {"DISSONANCE_MODELS_FILE": str(file), "DISSONANCE_LLM_SPACES": "default"}
        async with whole_system(folder / "data", environ=environ, grace=1.0) as live:
            yield live, endpoint


async def command(system: Running, *arguments: str, stdin: str | None = None) -> Result:
    """Run a command beside the system's own loop."""
    environ = {"CONCORD_URL": system.url, "CONCORD_API_KEY": system.keys["default"]}
    return await asyncio.to_thread(CommandLine(environ), *arguments, stdin=stdin)


async def test_the_command_reports_the_verdict_and_each_reviewer(
    system: tuple[Running, ChatEndpoint],
) -> None:
    """W4 D9 The report has scores, conflicts and what to mend; --json has the events."""
    live, endpoint = system
    endpoint.answer = lambda body: reviewing(body, score=4 if "two" in body["model"] else 8)
    asked = ("review-answer", "Is a permit needed?")
    shown = await command(live, *asked, "-", "--source", "§ 1", stdin="Always.")
    lines = await command(live, *asked, "Always.", "--source", "§ 1", "--json")

    assert (shown.exit_code, shown.stderr) == (0, "")
    for words in (
        "3 of 3 reviewers: approved",
        "two says APPROVE, and its scores come to 4.0 of 10.",
        "Conflict on coherence: 4.0 points apart",
        "No exception is named.",
        "8.00 of 10 by its criteria; 1.0 of 10 by its own count, which is not used",
    ):
        assert words in shown.stdout
    events = [json.loads(line) for line in lines.stdout.splitlines()]
    assert [int(each["number"]) for each in events] == [*range(1, len(events) + 1)]
    done = events[-1]["done"]["review"]["verdict"]
    assert done["status"] == "APPROVAL_STATUS_APPROVED"
    assert all(each["isCached"] for each in done["reviews"])


async def test_a_degraded_and_a_missed_quorum_are_told(
    system: tuple[Running, ChatEndpoint],
) -> None:
    """W4 D9 Who failed is named; without a verdict the command fails with the counts."""
    live, endpoint = system
    endpoint.answer = lambda body: http(401, b"{}") if "one" in body["model"] else reviewing(body)
    degraded = await command(live, "review-answer", "Degraded?", "Yes.", "--revisions", "1")
    missed = await command(live, "review-answer", "Missed?", "Yes.", "--quorum", "3")

    assert degraded.exit_code == 0
    assert "one (one:8b): no review, refused" in degraded.stderr
    assert "1 of 3 reviewers gave no review." in degraded.stdout
    assert missed.exit_code == 1
    assert "ERROR_REASON_QUORUM_MISSED" in missed.stderr
    assert "(expected 3, failed 1, quorum 3, succeeded 2)" in missed.stderr
    assert "approved" not in missed.stdout


async def test_criteria_are_given_as_they_are_weighed(
    system: tuple[Running, ChatEndpoint],
) -> None:
    """W4 D9 NAME=WEIGHT, and what is none is refused."""
    live, endpoint = system
    endpoint.answer = reviewing
    own = ("--criterion", "short=0.5", "--criterion", "kind=0.5")
    asked = ("review-answer", "Own?", "Yes.")
    good = await command(live, *asked, *own)
    bad = await command(live, *asked, "--criterion", "short")
    uneven = await command(live, *asked, *own[:2])

    assert "kind" in good.stdout
    assert bad.exit_code == 2
    assert "ERROR_REASON_FIELD_INVALID" in uneven.stderr


async def test_a_synthesis_is_reviewed_by_the_same_command(
    system: tuple[Running, ChatEndpoint],
) -> None:
    """W4 D10 `concord synthesize --review` prints both."""
    live, endpoint = system
    endpoint.answer = reviewing
    results = json.dumps([{"agent": "one", "theses": [{"claim": "A permit is needed."}]}])
    shown = await command(live, "synthesize", "Is it?", "--results", "-", "--review", stdin=results)

    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "1 theses" in shown.stdout
    assert "3 of 3 reviewers: approved" in shown.stdout


async def test_both_clients_have_the_verb(system: tuple[Running, ChatEndpoint]) -> None:
    """W4 D9 Reviewers are events as they answer, the verdict is returned; without one it raises."""
    live, endpoint = system
    endpoint.answer = lambda body: http(401, b"{}") if "one" in body["model"] else reviewing(body)
    heard: list[Event] = []
    asked = ("Both?", "Yes.")

    def called() -> AnswerReview:
        with Concord.connect(live.url, live.keys["default"]) as concord:
            return concord.review_answer(*asked, criteria={"short": 0.5, "kind": 0.5})

    async with AsyncConcord.connect(live.url, live.keys["default"]) as concord:
        found = await concord.review_answer(*asked, sources=["§ 1"], on_event=heard.append)
        same = await asyncio.to_thread(called)
        with pytest.raises(Refused) as refused:
            await concord.review_answer(*asked, quorum=3)

    assert (found.verdict.status, found.verdict.expected_count) == ("APPROVED", 3)
    assert [each.reviewer for each in found.verdict.reviews] == ["two", "three"]
    assert {each.review for each in heard if each.review} == {*found.verdict.reviews}
    assert [each.failed_reviewer for each in heard if each.failed_reviewer] == [
        *found.verdict.failed
    ]
    assert found.verdict.failed[0].failure == "REFUSED"
    assert [each.criterion for each in same.verdict.reviews[0].scores] == ["short", "kind"]
    assert refused.value.reason == "ERROR_REASON_QUORUM_MISSED"
    assert refused.value.metadata["succeeded"] == "2"


def written(body: Body) -> Any:
    """A model that synthesizes, or a reviewer."""
    return synthesizing(body) if body["model"].startswith("writer") else reviewing(body)


async def test_a_model_writes_the_synthesis_at_both_doors(
    system: tuple[Running, ChatEndpoint],
) -> None:
    """W3 W4 D8 `--by-model` and the argument `method`; who wrote it is shown, and who failed."""
    live, endpoint = system
    endpoint.answer = written
    async with AsyncConcord.connect(live.url, live.keys["default"]) as concord:
        permit = AgentResult("one", "A permit is needed.")
        said = await concord.synthesize("Verb?", results=[permit], by_model=True)
    results = [{"agent": "one", "text": "A permit is needed."}]
    asked = ("synthesize", "Written?", "--results", "-", "--by-model")
    shown = await command(live, *asked, "--review", stdin=json.dumps(results))
    endpoint.answer = lambda _: http(401, b"{}")
    failed = await command(live, *asked[:1], "Failed?", *asked[2:], stdin=json.dumps(results))
    headers = {"authorization": f"Bearer {live.keys['default']}"}
    arguments = {"question": "Tool?", "results": results, "method": "MODEL"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
        door = streamable_http_client(f"{live.http_url}/mcp/dialectic", http_client=web)
        async with Client(door) as agent:
            degraded = await agent.call_tool("synthesize", arguments)
            endpoint.answer = written
            whole = await agent.call_tool("synthesize", arguments)

    assert (said.is_by_model, said.degraded) == (True, "")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "Composed by: model writer" in shown.stdout
    assert "It depends." in shown.stdout
    assert "3 of 3 reviewers: approved" in shown.stdout
    assert failed.exit_code == 0
    assert "Composed by: deterministic" in failed.stdout
    assert "Degraded at theses: The provider local refuses the call: HTTP 401." in failed.stdout
    answer: dict[str, Any] = degraded.structured_content
    assert answer["method"] == "DETERMINISTIC"
    assert answer["degraded"]["failure"] == "REFUSED"
    assert whole.structured_content["method"] == "MODEL"
    assert "degraded" not in whole.structured_content


async def test_agents_have_the_tool(system: tuple[Running, ChatEndpoint]) -> None:
    """W3 D9 The verdict is the answer, and a missed quorum a refusal."""
    live, endpoint = system
    headers = {"authorization": f"Bearer {live.keys['default']}"}
    asked = {"question": "Tool?", "answer": "Yes."}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
        door = streamable_http_client(f"{live.http_url}/mcp/dialectic", http_client=web)
        async with Client(door) as agent:
            endpoint.answer = reviewing
            found = await agent.call_tool("review_answer", asked)
            endpoint.answer = lambda _: None
            missed = await agent.call_tool("review_answer", asked | {"question": "Again?"})

    answer: dict[str, Any] = found.structured_content
    assert (answer["status"], answer["average"]) == ("APPROVED", 8)
    assert [each["reviewer"] for each in answer["reviews"]] == ["one", "two", "three"]
    assert missed.is_error
    assert "ERROR_REASON_QUORUM_MISSED" in str(missed.content[0])
