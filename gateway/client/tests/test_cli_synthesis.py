"""`concord synthesize` against a running system."""

import json
from pathlib import Path

from concord_testing.command_line import CommandLine, Unique


def test_results_and_memories_are_synthesized_and_kept(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W4 D8 D10 The report names each thesis, and what is open; --json has the events."""
    mine = unique("mine")
    concord.done("add", f"The {mine} permit is not required.", "--id", mine)
    results = tmp_path / "results.json"
    said = {"claim": f"The {mine} permit is required.", "confidence": 0.9}
    results.write_text(json.dumps([{"agent": "lawyer", "theses": [said]}]))
    command = ("synthesize", "Is it?", "--results", str(results), "--memory", f"memory:{mine}")

    shown = concord.done(*command, "--keep", "--amend")
    assert "2 theses, 1 contradictions, 1 unresolved" in shown
    assert "not resolved" in shown
    assert "lawyer" in shown
    assert f"It amends {mine}." in shown
    events = [json.loads(line) for line in concord.done(*command, "--json").splitlines()]
    assert [int(each["number"]) for each in events] == [*range(1, len(events) + 1)]
    assert events[-1]["done"]["synthesis"]["unresolved"] == [0]
    rest = concord.done("synthesize", "--resume", events[0]["runId"], "--after", "2", "--json")
    assert [json.loads(line) for line in rest.splitlines()] == events[2:]
    over = concord("synthesize", "--resume", events[0]["runId"], "--after", str(len(events)))
    assert (over.exit_code, "it is over" in over.stderr) == (1, True)


def test_what_cannot_be_synthesized_is_told_in_a_line(concord: CommandLine, tmp_path: Path) -> None:
    """W4 A run that failed fails the command with its reason and what it is about; a bad
    file is named."""
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    for arguments, said in (
        (
            ("--memory", "nothing"),
            "ERROR_REASON_ITEM_NOT_FOUND: There is no such item (item_id nothing).",
        ),
        (("--memory", "nothing", "--json"), "ERROR_REASON_ITEM_NOT_FOUND"),
        (("--results", str(broken)), "broken.json is no list"),
        (("--resume", "nothing"), "no longer kept (nothing)."),
        ((), "ERROR_REASON_FIELD_INVALID"),
    ):
        result = concord("synthesize", *arguments)
        assert result.exit_code == 1
        assert said in result.stderr
