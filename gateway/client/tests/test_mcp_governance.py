"""An agent takes part in its own governance over `concord mcp`: alone it decides nothing."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import concord_mcp
import pytest
from concord.governance.v1.proposal_pb2 import GetBriefingResponse
from concord_mcp.briefing import in_words
from concord_mcp.tools import PROFILES
from concord_testing.command_line import CommandLine
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

VALUE = {
    "upsert_edge": {
        "edge": {
            "source": {"name": "helper"},
            "relation": "VALUES",
            "target": {"name": "candour"},
            "edge_type": "EDGE_TYPE_CONSTITUTIVE",
        }
    }
}


def agent(environ: dict[str, str]) -> Client:
    """A client that starts `concord mcp`, as agents do."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "concord_client", "mcp", "--profile", "governance"],
        env=environ,
    )
    return Client(stdio_client(started))


async def told(client: Client, tool: str, **arguments: object) -> Any:
    """A tool's structured answer."""
    result: Any = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def faults(result: Any) -> list[str]:
    """The arguments that a refusal names."""
    assert result.is_error
    fields = json.loads(result.content[0].text)["error"]["fields"]
    return [each["argument"] for each in fields]


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """The reason why a tool refuses."""
    result: Any = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(json.loads(result.content[0].text)["error"]["reason"])


def test_one_of_what_waits_is_told_in_the_singular() -> None:
    """W3 V9 A proposal waits, two wait; a conflict is open, two are. Others are counted."""
    one = GetBriefingResponse(pending_count=1, review_count=1, potential_count=1)
    two = GetBriefingResponse(pending_count=2, review_count=2, confirmed_count=2)
    for shown in (one.proposals, one.reviews, two.proposals, two.reviews):
        shown.add(number=1, proposal_id="p", summary="It.")
    for conflicts in (one.conflicts, two.conflicts):
        conflicts.add(conflict_id="c", first_statement="Yes", second_statement="No")

    line, conflict, more = "- #1 p: It.", '- c : "Yes" against "No"', "- and 1 more"
    assert in_words(one).splitlines() == [
        *("1 proposal waits for consent:", line),
        *("1 proposal waits for the agent's review:", line),
        *("1 conflict is open:", conflict),
    ]
    assert in_words(two).splitlines() == [
        *("2 proposals wait for consent:", line, more),
        *("2 proposals wait for the agent's review:", line, more),
        *("2 conflicts are open:", conflict, more),
    ]


@pytest.mark.usefixtures("signers")
async def test_the_agent_signs_only_what_it_has_seen(environ: dict[str, str]) -> None:
    """W3 V6 Another digest than the proposal's signs nothing; a word is no consent."""
    async with agent(environ) as one:
        made = await told(one, "smf_propose", action=VALUE)
        other = await refused(one, "smf_approve", proposal_id=made["id"], digest="0" * 64)
        word = await refused(
            one, "smf_approve", proposal_id=made["id"], digest=made["digest"], consent_given="yes"
        )
        stands = await told(one, "smf_review", proposal_id=made["id"])
        gone = await told(
            one, "smf_reject", proposal_id=made["id"], digest=made["digest"], reason="No need."
        )

        creed = {"content": "I keep my word.", "edge_type": "EDGE_TYPE_CONSTITUTIVE"}
        kept = await told(one, "smf_propose", action={"add_memory": {"memory": creed}})
        agreed = await told(one, "smf_approve", proposal_id=kept["id"], digest=kept["digest"])

    assert (other, word) != ("", "")
    assert agreed["status"] == "PENDING"
    assert [(each["slot"], each["revoked"]) for each in agreed["consents"]] == [("AGENT", False)]
    assert "consents" not in stands
    assert gone["status"] == "REJECTED"


async def test_what_takes_consent_names_the_way(
    environ: dict[str, str], signers: CommandLine
) -> None:
    """W3 G5 An agent that may not change a thing alone is told how to propose it."""
    done = json.loads(signers.done(
        "propose", "set", "helper", "VALUES", "patience", "--constitutive", "--json"
    ))["proposal"]  # fmt: skip
    for slot in ("agent", "human"):
        signers.done("approve", str(done["number"]), "--as", slot, "--digest", done["digest"])
    async with agent(environ) as one:
        edge: Any = await one.call_tool(
            "get_edge", {"source": "helper", "relation": "VALUES", "target": "patience"}
        )
        by = {"content": "Haste is better.", "supersedes": [edge.structured_content["edge"]["id"]]}
        result: Any = await one.call_tool("add_memory", by)
    refusal = json.loads(result.content[0].text)["error"]

    assert refusal["reason"] == "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"
    assert refusal["next"] == "Propose it with smf_propose."


@pytest.mark.usefixtures("signers")
async def test_a_change_is_proposed_by_flat_arguments(environ: dict[str, str]) -> None:
    """W3 V1 As `add_memory` and `graph_add_edge` take them, by the names that agents know."""
    triple = {"from": "helper", "predicate": "VALUES", "to": "candour", "constitutive": True}
    async with agent(environ) as one:
        edge = await told(one, "smf_propose", **triple)
        memory = await told(
            one, "smf_propose", statement="I keep my word.", kind="insight", constitutive=True
        )
        shown = await told(one, "smf_review", proposal_id=edge["id"])
        blank: Any = await one.call_tool("smf_propose", triple | {"predicate": " "})
        both: Any = await one.call_tool("smf_propose", triple | {"content": "I am kind."})

    assert {each["level"] for each in (edge, memory)} == {"BILATERAL"}
    assert shown["action"]["upsert_edge"]["edge"]["relation"] == "VALUES"
    assert faults(blank) == ["predicate"]
    assert faults(both) == ["predicate"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"add_memory": {"content": "I keep my word."}}, 'no field named "content"'),
        ({"add_memory": {"memory": {"content": "x", "kind": "NOVEL"}}}, "Invalid enum value NOVEL"),
        ({"add_memry": {}}, 'no field named "add_memry"'),
        ({"type": "add_memory", "content": "x"}, "an object with one of upsert_edge"),
        ("add_memory", "an object with one of upsert_edge"),
    ],
)
@pytest.mark.usefixtures("signers")
async def test_a_wrong_action_is_told_with_what_is_wrong_and_an_example(
    environ: dict[str, str], action: object, said: str
) -> None:
    """W3 V1 The parser's own words; and the example that stands beside them works."""
    async with agent(environ) as one:
        result: Any = await one.call_tool("smf_propose", {"action": action})
        problem = json.loads(result.content[0].text)["error"]["fields"][0]["problem"]
        example = json.loads(problem.partition("For example: ")[2])
        made = await told(one, "smf_propose", action=example)

    assert said in problem
    assert made["level"] == "BILATERAL"


async def test_the_skill_names_what_there_is(signers: CommandLine) -> None:
    """W3 Its tools are those of the profile that it and the settings name."""
    examples = Path(concord_mcp.__file__).parents[1] / "examples"
    skill = (examples / "SKILL.md").read_text("utf-8")
    printed = json.loads(signers.done("mcp", "config"))["mcpServers"]["concord"]["args"]
    profile = re.search(r"the profile `(\w+)`", skill)
    assert profile
    named = {each.name for each in PROFILES["all"]} & {*re.findall(r"`(\w+)`", skill)}

    assert printed[-2:] == ["--profile", profile[1]]
    assert named <= {each.name for each in PROFILES[profile[1]]}
    assert {"end_session", "smf_propose", "forget_memory"} <= named


async def test_the_printed_settings_start_the_tools(
    environ: dict[str, str], signers: CommandLine
) -> None:
    """W3 `concord mcp config` prints a command that a client can start as it stands."""
    printed = json.loads(signers.done("mcp", "config", "--profile", "graph"))
    server = printed["mcpServers"]["concord"]
    arguments = ["-m", "concord_client", *server["args"]]
    started = StdioServerParameters(
        command=sys.executable, args=arguments, env=environ | server.get("env", {})
    )
    async with Client(stdio_client(started)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}

    assert server["args"][-3:] == ["mcp", "--profile", "graph"]
    assert "query_neighbors" in names
