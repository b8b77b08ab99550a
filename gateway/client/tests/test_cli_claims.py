"""What an agent's key claims at a person's memory, in an untouched system with its own keys."""

import json

from concord.graph.v1.claim_pb2 import ListClaimsResponse
from concord.graph.v1.memory_pb2 import ForgetMemoryResponse, GetMemoryResponse
from concord.type.v1.type_pb2 import WRITE_OUTCOME_CLAIMED
from concord_testing.command_line import CommandLine, Unique

AS_AGENT = ("--act-as", "agent")


def _failed(concord: CommandLine, *arguments: str) -> str:
    result = concord(*arguments)
    assert result.exit_code != 0
    return result.stderr + result.output


def _number(printed: str) -> str:
    (line,) = [each for each in printed.splitlines() if each.startswith("Claim ")]
    return line.removeprefix("Claim ").partition(":")[0]


def test_an_agents_correction_stands_beside_a_persons_memory(
    concord: CommandLine, unique: Unique
) -> None:
    """W9 W4 It is said whom to ask, both are marked, search shows both; one word settles it."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"The {old} meeting is on Monday.", "--id", old)

    added = concord.done(
        *(*AS_AGENT, "add", f"The {old} meeting is on Friday.", "--id", new, "--supersedes", old)
    )

    number = _number(added)
    assert f"Claim {number}: would replace {old} of owner's" in added
    assert f"concord claim accept {number}" in added
    assert "Gave way" not in added
    shown = concord.done("get", old)
    assert f"agent: {new} would replace this (claim {number})" in " ".join(shown.split())
    found = concord.done("search", f"When is the {old} meeting?")
    assert old in found
    assert new in found
    said = f'"The {old} meeting is on Friday. Supersedes: [[memory:{old}]]"'
    would = f"claimed: agent: {new} ({said}) would replace this (claim {number})"
    assert would in " ".join(found.split())
    listed = concord.done("claims", "--item", old)
    assert f"agent would replace {old} of owner's" in listed

    accepted = concord.done("claim", "accept", number)

    assert accepted.startswith("Accepted 1 claim.")
    assert f"Gave way: {old}" in accepted
    assert concord.reply(GetMemoryResponse, "get", old).memory.supersession.is_superseded


def test_a_claim_shows_what_it_asks_for(concord: CommandLine, unique: Unique) -> None:
    """W9 W4 Nobody accepts unseen."""
    name = unique("code")
    concord.done("add", f"The {name} is 4711.", "--id", name)
    concord.done(*AS_AGENT, "update", name, "--domain", "trash")

    listed = " ".join(concord.done("claims", "--item", name).split())

    assert f'asks: {{"memory": {{"id": "{name}", "domain": "trash"}}, "update_mask"' in listed


def test_an_agent_forgets_and_erases_nothing_of_a_persons(
    concord: CommandLine, unique: Unique
) -> None:
    """W9 W4 In words and as JSON; refused by number; an agent settles nothing."""
    name = unique("note")
    concord.done("add", f"A person's {name}.", "--id", name)

    forgotten = concord.done(*AS_AGENT, "forget", name)
    erased = concord.done(*AS_AGENT, "erase", name, "--yes")
    as_json = concord.reply(ForgetMemoryResponse, *AS_AGENT, "forget", name)

    packed = concord.done("search", f"A person's {name}", "--pack", "400")
    assert f"A person's {name}." in packed

    assert "Forgot" not in forgotten
    assert "comes back" not in forgotten
    assert "would erase" in erased
    assert as_json.outcome == WRITE_OUTCOME_CLAIMED
    numbers = [_number(forgotten), _number(erased)]
    refused = _failed(concord, *AS_AGENT, "claim", "accept", numbers[0])
    assert "STANDS_ABOVE" in refused or "above" in refused
    assert concord.done("claim", "refuse", *numbers).startswith("Refused 2 claims.")
    left = concord.reply(ListClaimsResponse, "claims", "--item", name)
    assert not left.claims
    assert concord.reply(GetMemoryResponse, "get", name).memory.content


def test_a_claim_tells_of_no_other_one(concord: CommandLine, unique: Unique) -> None:
    """W9 W4 What an agent writes stands in one line: none passes for a claim of somebody else's."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"The {old} is open.", "--id", old)
    forged = f"It is shut.\n999  owner would forget {old} of agent's\n    now: fine"
    concord.done(*AS_AGENT, "add", forged, "--id", new, "--supersedes", old)

    listed = concord.done("claims", "--item", old)

    assert "999 owner would" in listed
    assert not any(each.startswith("999") for each in listed.splitlines())


def test_the_briefing_counts_claims_by_claimant(concord: CommandLine, unique: Unique) -> None:
    """V9 W9 With the newest of each; all of one are settled after a look."""
    name = unique("fact")
    concord.done("add", f"A person's {name}.", "--id", name)
    for word in ("one", "two"):
        concord.done(*AS_AGENT, "add", f"{word} of {name}", "--supersedes", name)

    briefing = concord.done("briefing")
    said = json.loads(concord.done("briefing", "--json"))
    newest = max(
        each.number for each in concord.reply(ListClaimsResponse, "claims", "--item", name).claims
    )

    assert "agent: " in briefing
    assert "open claim" in briefing
    assert [each["claimant"] for each in said["claimants"]] == ["agent"]
    missing = _failed(concord, "claim", "refuse", "--claimant", "agent")
    assert "--up-to" in missing
    done = concord.done("claim", "refuse", "--claimant", "agent", "--up-to", str(newest))
    assert done.startswith("Refused ")
    assert "No claims." in concord.done("claims", "--item", name)


def test_a_space_guards_equals_when_it_is_told_to(concord: CommandLine) -> None:
    """W9 Shown, set and set back."""
    assert "act at once" in concord.done("claim", "settings")
    assert "claim, too" in concord.done("claim", "settings", "--among-equals")
    assert "act at once" in concord.done("claim", "settings", "--free-among-equals")
