"""`concord conflicts`, `conflict`, and where conflicts are shown, against a running system."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from concord.dissonance.v1.dissonance_pb2 import (
    CHECK_STATUS_COMPLETE,
    CheckDissonanceResponse,
    ListConflictsResponse,
    ResolveDissonanceResponse,
    ReviewConflictResponse,
)
from concord.graph.v1.conflict_pb2 import (
    CONFLICT_STATE_CONFIRMED,
    CONFLICT_STATE_DISMISSED,
    CONFLICT_STATE_EXCEPTION,
    CONFLICT_STATE_RESOLVED,
    Conflict,
    ConflictSide,
    GetConflictResponse,
    Span,
)
from concord_client.cli.render.conflict_page import whole
from concord_testing.command_line import CommandLine, Unique
from google.protobuf.json_format import Parse
from rich.console import Console


@pytest.fixture
def disputed(concord: CommandLine, unique: Unique) -> tuple[str, str, str]:
    """Two memories, and the id of the conflict that somebody says they are in."""
    first, second = unique("open"), unique("shut")
    concord.done("add", f"The bridge of {first} is open.", "--id", first)
    concord.done("add", f"The bridge of {first} is shut.", "--id", second)
    concord.done("link", f"memory:{first}", "CONTRADICTS", f"memory:{second}")
    listed = concord.reply(ListConflictsResponse, "conflicts", "--item", first)
    (found,) = listed.conflicts
    return first, second, found.id


def test_a_conflict_is_shown_wherever_its_sides_are(
    concord: CommandLine, disputed: tuple[str, str, str]
) -> None:
    """W4 D5 S4 The list, the conflict, both sides, their lineage and a search name it."""
    first, second, conflict = disputed

    shown = concord.done("conflict", conflict)
    assert f"memory:{first}" in shown
    assert "is shut." in shown
    assert "confirmed" in shown
    assert conflict in concord.done("conflicts", "--item", second)
    number = concord.reply(GetConflictResponse, "conflict", conflict).conflict.number
    assert f"\n{number} " in concord.done("conflicts", "--item", second)
    assert concord.done("conflict", str(number)) == shown
    assert conflict in concord.done("get", first)
    assert f"conflict with {second}" in concord.done("lineage", first)
    assert f"{second} says otherwise" in concord.done("search", f"bridge of {first}")


def test_an_edge_side_names_the_memory_that_states_it(concord: CommandLine, unique: Unique) -> None:
    """W4 D5 M1 Also where that memory names no source of its own."""
    who, said, relation = unique("Ada"), unique("said"), unique("LIVES_IN")
    concord.done("relation", relation, "--functional", "--temporal-class", "state")
    concord.done("add", f"{who} is in Bonn.", "--id", said, "--fact", f"{who}|{relation}|Bonn")
    concord.done("add", f"{who} is in Rome.", "--fact", f"{who}|{relation}|Rome")
    found = concord.reply(CheckDissonanceResponse, "check", who).conflicts[0]

    assert f"memory:{said}" in concord.done("conflict", found.id)


def test_a_review_changes_the_state_and_is_taken_back(
    concord: CommandLine, disputed: tuple[str, str, str]
) -> None:
    """W4 D5 Each review has its command, and `reopen` brings back what was before."""
    _, _, conflict = disputed

    def state(*arguments: str) -> int:
        return concord.reply(ReviewConflictResponse, *arguments).conflict.state

    assert state("dismiss", conflict, "--because", "another bridge") == CONFLICT_STATE_DISMISSED
    assert state("reopen", conflict) == CONFLICT_STATE_CONFIRMED
    assert state("except", conflict, "--because", "by day and by night") == CONFLICT_STATE_EXCEPTION
    assert "by day and by night" in concord.done("conflict", conflict)
    assert state("reopen", conflict) == CONFLICT_STATE_CONFIRMED
    assert state("reclassify", conflict, "nuance") == CONFLICT_STATE_CONFIRMED


def test_a_resolution_supersedes_one_side(
    concord: CommandLine, disputed: tuple[str, str, str]
) -> None:
    """W4 D6 The side that is named gives way; `reopen` takes its lineage back."""
    first, second, conflict = disputed

    reply = concord.reply(
        ResolveDissonanceResponse, "resolve", conflict, "--superseded", first, "--because", "seen"
    )
    assert reply.conflict.state == CONFLICT_STATE_RESOLVED
    assert reply.conflict.resolution.superseding_id == second
    assert "superseded from" in concord.done("lineage", first)

    concord.done("reopen", conflict)
    assert "superseded from" not in concord.done("lineage", first)


def test_a_check_finds_what_disagrees(concord: CommandLine, unique: Unique) -> None:
    """W4 D1 A check around a node records a conflict, once; a dry run records none."""
    city, one, other = unique("city"), unique("north"), unique("south")
    relation = unique("LIES_IN")
    concord.done("relation", relation, "--functional", "--temporal-class", "eternal")
    for value in (one, other):
        concord.done("add", f"{city} lies in {value}.", "--fact", f"{city}|{relation}|{value}")

    tried = concord.reply(CheckDissonanceResponse, "check", city, "--dry-run")
    found = concord.reply(CheckDissonanceResponse, "check", city)
    again = concord.reply(CheckDissonanceResponse, "check", city)

    assert tried.status == found.status == CHECK_STATUS_COMPLETE
    assert [len(each.conflicts) for each in (tried, found)] == [1, 1]
    assert not tried.conflicts[0].id
    assert again.coverage.recorded == 0
    read = concord.reply(GetConflictResponse, "conflict", found.conflicts[0].id)
    assert read.conflict.conflict_class == found.conflicts[0].conflict_class


def test_a_check_around_an_unknown_node_says_so(concord: CommandLine) -> None:
    """D1 A node that does not exist is told apart from one of which too little is known."""
    missed = concord("check", "nobody-of-this-name")

    assert missed.exit_code == 1
    assert "There is no node 'nobody-of-this-name'" in missed.stderr


def test_an_unknown_conflict_is_said_so(concord: CommandLine) -> None:
    """W4 G13 A misspelt id is a miss, for reading and for each review."""
    assert "There is no conflict 'nothing'" in concord("conflict", "nothing").stderr
    for command in (
        ("confirm", "nothing"),
        ("except", "nothing", "--because", "x"),
        ("resolve", "nothing"),
    ):
        result = concord(*command)
        assert result.exit_code == 1
        assert "NOT_FOUND" in result.stderr


_TOWNS = (
    "Bergen", "Calais", "Dover", "Esbjerg", "Faro", "Gdansk", "Hamburg", "Izmir", "Kiel", "Lisbon",
    "Malmo", "Naples", "Oslo", "Porto", "Quebec", "Riga", "Split", "Turku", "Utrecht", "Venice",
    "Yalta",
)  # fmt: skip


def _many(concord: CommandLine, tmp_path: Path, unique: Unique) -> str:
    """Import 21 pairs of texts around a node that disagree by their words; return the node."""
    node = unique("Ada")
    with (tmp_path / "many.jsonl").open("w") as file:
        for number in range(42):
            town = _TOWNS[number // 2]
            said = f"The harbour of {town} is {'not ' * (number % 2)}open on Sunday."
            fact = {"subject": node, "relation": f"SAID_{number}", "object": "it"}
            file.write(json.dumps({"content": said, "kind": "FACT", "facts": [fact]}) + "\n")
    concord.done("import", str(tmp_path / "many.jsonl"))
    return node


def test_many_findings_of_text_are_recorded_only_when_it_was_said_so(
    concord: CommandLine, tmp_path: Path, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W4 C1 Without a terminal it says how; on one it asks; and the run is taken back whole."""
    node = _many(concord, tmp_path, unique)
    refused = concord("check", node)
    in_json = concord("check", node, "--json")
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("concord_client.cli.commands.dissonance.check.sys", terminal)
    declined = concord("check", node, stdin="n\n")

    assert refused.exit_code == in_json.exit_code == declined.exit_code == 1
    assert refused.stdout.splitlines()[0].endswith("; 0 recorded.")
    assert "21 findings in texts were not recorded: that is more than 20." in refused.stderr
    assert "concord check --yes" in refused.stderr
    assert "negation: 21 findings, 0 recorded" in refused.stdout
    assert "... and 18 more that are not recorded." in refused.stdout
    read = Parse(in_json.stdout, CheckDissonanceResponse())
    assert (read.coverage.recorded, read.coverage.unrecorded) == (0, 21)
    assert "Record all 21 findings in texts?" in declined.stderr

    agreed = concord("check", node, stdin="y\n")
    assert agreed.exit_code == 0
    run = agreed.stdout.rpartition("concord dismiss --run ")[2].strip()
    assert concord.done("conflicts", "--run", run, "--json").count('"conflictClass"') == 21
    assert concord.done("dismiss", "--run", run) == f"Dismissed 21 conflicts of run {run}.\n"
    dismissed = concord.reply(
        ListConflictsResponse, "conflicts", "--run", run, "--state", "dismissed"
    )
    assert len(dismissed.conflicts) == 21
    assert concord.done("dismiss", "--run", run) == f"Dismissed 0 conflicts of run {run}.\n"
    concord.done("reopen", dismissed.conflicts[0].id)


def test_a_run_that_recorded_nothing_is_not_found(concord: CommandLine, unique: Unique) -> None:
    """W4 C1 A wrong id of a run is told apart from one of which nothing is left."""
    unknown = unique("run")
    for form in ((), ("--json",)):
        done = concord("dismiss", "--run", unknown, *form)

        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("LOOKUP_STATUS_NOT_FOUND: There is no run that recorded")


def test_yes_answers_beforehand(concord: CommandLine, tmp_path: Path, unique: Unique) -> None:
    """W4 C1 For scripts; a check that records nothing new then asks for nothing."""
    node = _many(concord, tmp_path, unique)
    recorded = concord.done("check", node, "--yes")

    assert recorded.splitlines()[0].endswith("; 21 recorded.")
    assert "negation: 21 findings, 21 recorded" in recorded
    assert "To dismiss them all: concord dismiss --rule negation" in recorded
    assert concord.done("check", node).splitlines()[0].endswith("; 0 recorded.")


def test_a_group_or_a_rule_is_dismissed(concord: CommandLine, unique: Unique) -> None:
    """W4 D5 A check names both; a group has what one memory made, a rule all that is left."""
    node = unique("Bo")
    for number, word in enumerate(("", "not ", "never ")):
        said = f"The {node}gate of {node} is {word}open on Sunday."
        concord.done("add", said, "--fact", f"{node}|SAID_{number}|it")
    shown = concord.done("check", node)
    (found, *_) = concord.reply(ListConflictsResponse, "conflicts").conflicts
    by_group = concord.done("dismiss", "--group", found.group_id)

    assert f"2 of these hang together: concord dismiss --group {found.group_id}" in shown
    assert found.group_id in concord.done("conflict", found.id)
    assert by_group == f"Dismissed 2 conflicts of group {found.group_id}.\n"
    for by in ("--rule", "--group"):
        nothing = concord("dismiss", by, "unheard-of")
        assert nothing.exit_code == 1
        assert "There is no finding in texts that nobody has reviewed" in nothing.stderr


def test_what_is_dismissed_is_named_once(concord: CommandLine) -> None:
    """W4 A conflict, a run, a rule or a group; an etag goes with a conflict."""
    for words in (
        (),
        ("c", "--run", "r"),
        ("--rule", "r", "--group", "g"),
        ("--run", "r", "--etag", "e"),
    ):
        assert concord("dismiss", *words).exit_code == 2


def test_a_space_says_whether_checks_compare_texts_by_themselves(concord: CommandLine) -> None:
    """W4 D7 C1 Off at first; set and shown by one command."""
    alone, both = "compare facts alone", "compare facts and texts"

    assert alone in concord.done("check-settings")
    assert both in concord.done("check-settings", "--text-findings")
    assert both in concord.done("check-settings")
    assert alone in concord.done("check-settings", "--no-text-findings")


def test_a_review_quotes_both_sides_and_marks_what_differs() -> None:
    """W4 D5 Bold where they disagree; underlined the words that the other side lacks."""
    said = ("Yes. The tower is 300 m high.", "The tower is 320 m high.")
    sides = [
        ConflictSide(id=each, statement=each, spans=[Span(start=len(each) - 24, end=len(each))])
        for each in said
    ]
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=200, color_system="standard")
    for part in whole(Conflict(id="c", number=7, first=sides[0], second=sides[1])):
        console.print(part)

    shown = out.getvalue()
    assert "\x1b[1;4m300\x1b[0m" in shown
    assert "\x1b[1;4m320\x1b[0m" in shown
    assert "\x1b[1;4mtower" not in shown
