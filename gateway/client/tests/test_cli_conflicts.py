"""`concord conflicts`, `conflict`, and where conflicts are shown, against a running system."""

from collections.abc import Callable

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
    GetConflictResponse,
)
from concord_testing.command_line import CommandLine

Unique = Callable[[str], str]


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
