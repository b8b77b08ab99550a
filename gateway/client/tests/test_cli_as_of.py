"""Reading as of another time: `--as-of` and `--as-known-at` on every command that reads."""

import inspect
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import concord.governance.v1
import concord.graph.v1
import concord.search.v1
import concord_client.cli
import pytest
import typer
from concord.dissonance.v1.dissonance_pb2 import ListConflictsResponse
from concord.graph.v1.graph_pb2 import FindPathResponse, GetNodeResponse, QueryNeighborsResponse
from concord.graph.v1.lineage_pb2 import GetLineageResponse
from concord.graph.v1.memory_pb2 import AddMemoryResponse, GetMemoryResponse
from concord.search.v1.search_pb2 import SearchResponse
from concord_client.cli.app import app
from concord_testing.command_line import CommandLine, Unique


def just_now() -> str:
    """The present, as it is written on the command line."""
    return datetime.now(UTC).isoformat()


@pytest.fixture
def chain(concord: CommandLine, unique: Unique) -> tuple[str, str, str]:
    """A memory, when only that was known, and the memory that replaced it from 2021 on."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"Quokkas of {old}", "--id", old, "--valid-from", "2020-01-01")
    then = just_now()
    concord.reply(
        AddMemoryResponse,
        *("add", f"Quokkas of {new}", "--id", new, "--supersedes", old),
        *("--valid-from", "2021-01-01"),
    )
    return old, new, then


def test_get_and_lineage(concord: CommandLine, chain: tuple[str, str, str]) -> None:
    """T3 T5 W4 Supersession as it held and as it was known; a chain that had not gone on yet."""
    old, new, then = chain

    def replaced(*options: str) -> bool:
        reply = concord.reply(GetMemoryResponse, "get", old, *options)
        return reply.memory.supersession.is_superseded

    assert replaced()
    assert not replaced("--as-of", "2020-06-01")
    assert not replaced("--as-known-at", then)
    assert concord("get", new, "--as-known-at", then).exit_code == 1
    known = concord.reply(GetLineageResponse, "lineage", old, "--as-known-at", then)
    assert [item.id for item in known.items] == [old]
    assert new in concord.done("lineage", old, "--as-of", "2020-06-01")


def test_what_was_not_known_yet_is_missed_at_that_time(
    concord: CommandLine, chain: tuple[str, str, str]
) -> None:
    """T3 G13 It is not denied for good, and not suggested as spelt like itself."""
    _, new, then = chain

    for command in (["get", new], ["lineage", new], ["neighbors", f"memory:{new}"]):
        missed = concord(*command, "--as-known-at", then)
        assert missed.exit_code == 1
        assert "in the space 'default' at the time asked about." in missed.stderr
        assert f"Spelt alike: {new}" not in missed.stderr


def test_lineage_says_what_holds_at_the_time_asked_about(
    concord: CommandLine, unique: Unique, chain: tuple[str, str, str]
) -> None:
    """T3 T5 What has not begun, or has ended, does not hold; the head of the chain neither."""
    old, new, _ = chain

    def notes(item: str, *options: str) -> dict[str, str]:
        lines = concord.done("lineage", item, *options).splitlines()
        found = (line.partition(f"  {each}  ") for line in lines for each in (old, new, ended))
        return {name.strip(): note.partition("  ")[0] for _, name, note in found if note}

    ended = unique("ended")
    concord.done("add", f"Emus of {ended}", "--id", ended, "--valid-until", "2999-01-01")

    assert notes(old) == {old: "superseded from 2021-01-01", new: "head: this holds"}
    then = {old: "head: this holds", new: "head: holds from 2021-01-01"}
    assert notes(old, "--as-of", "2020-06-01") == then
    assert notes(old, "--as-of", "2019-01-01")[old] == "head: holds from 2020-01-01"
    assert notes(ended) == {ended: "head: this holds"}
    assert notes(ended, "--as-of", "2999-01-01") == {ended: "head: held until 2999-01-01"}


def test_search(concord: CommandLine, chain: tuple[str, str, str]) -> None:
    """T3 S4 W4 What held, what was known, and the reason says as of when."""
    old, new, then = chain

    def found(*options: str) -> set[str]:
        reply = concord.reply(SearchResponse, "search", f"quokkas {old} {new}", *options)
        return {result.memory.id for result in reply.results} & {old, new}

    assert found() == {new}
    assert found("--as-of", "2020-06-01") == {old}
    assert found("--as-known-at", then) == {old}
    assert found("--as-of", "2019-01-01") == set()
    assert "As of 2020-06-01" in concord.done("search", f"quokkas {old}", "--as-of", "2020-06-01")


def test_walks_nodes_and_exports(concord: CommandLine, unique: Unique) -> None:
    """T3 G9 G10 G15 W4 Neighbours, paths, nodes and lines as they were known."""
    a, b = unique("A"), unique("B")
    before = just_now()
    concord.done("link", a, "KNOWS", b)
    unknown = ("--as-known-at", before)

    assert concord.reply(GetNodeResponse, "get", a).node.name == a
    assert concord("get", a, *unknown).exit_code == 1
    assert len(concord.reply(QueryNeighborsResponse, "neighbors", a).neighbors) == 1
    assert concord("neighbors", a, *unknown).exit_code == 1
    assert len(concord.reply(FindPathResponse, "path", a, b).paths) == 1
    assert concord("path", a, b, *unknown).exit_code == 1
    names = [json.loads(line).get("name") for line in concord.done("export").splitlines()]
    former = [json.loads(line) for line in concord.done("export", *unknown).splitlines()]
    assert a in names
    assert a not in [line.get("name") for line in former]


def test_a_time_that_is_none_is_refused(concord: CommandLine) -> None:
    """W4 The option names itself what it takes."""
    result = concord("search", "x", "--as-known-at", "yesterday")

    assert result.exit_code == 2
    assert "is no ISO 8601 time" in result.stderr


READS = {
    "get": {"GetMemory", "GetNode", "GetEdge"},
    "list": {"ListMemories", "ListNodes", "ListEdges"},
    "search": {"Search"},
    "integrative": {"IntegrativeSearch"},
    "health": {"AssessHealth"},
    "neighbors": {"QueryNeighbors"},
    "path": {"FindPath"},
    "follow": {"FollowRelations"},
    "lineage": {"GetLineage", "ListConflicts"},
    "conflict": {"GetConflict"},
    "history": {"GetMemoryHistory"},
    "relations": {"ListRelations"},
    "dialogue": {"ListDialogue"},
    "episodes": {"ListEpisodes"},
    "working": {"ListWorkingMemory"},
    "status": {"CountByType"},
    "export": {"ExportSpace"},
}
"""CommandLine that read, and the calls that take an instant for them."""

WITHOUT_A_COMMAND = {
    "FindSimilar": "for programs that hold a vector or a memory",
    "BatchGetRevisions": "for the index, which follows the feed by it",
}


def of_an_instant() -> Iterator[str]:
    """Every method of the contract whose request has `as_of`."""
    for package in (concord.graph.v1, concord.search.v1, concord.governance.v1):
        for found in iter_modules(package.__path__, f"{package.__name__}."):
            if found.name.endswith("_pb2"):
                services = import_module(found.name).DESCRIPTOR.services_by_name.values()
                methods = (method for service in services for method in service.methods)
                yield from (m.name for m in methods if "as_of" in m.input_type.fields_by_name)


def test_each_read_of_an_instant_has_a_command() -> None:
    """T3 W4 What the contract can answer as of a time, a command asks; or it is said why not."""
    asked = set().union(*READS.values())

    assert set(of_an_instant()) == asked | set(WITHOUT_A_COMMAND)


def test_each_command_that_reads_takes_both_times() -> None:
    """T3 W4 And only such a command: an option that nothing reads is not offered."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined] # a group
    offered = {
        name: {option for parameter in each.params for option in parameter.opts}
        for name, each in commands.items()
    }
    both = {"--as-of", "--as-known-at"}

    assert {name for name, options in offered.items() if both <= options} == set(READS)
    assert {name for name, options in offered.items() if both & options} == set(READS)


def test_no_command_asks_such_a_call_without_an_instant() -> None:
    """T3 W4 A request that may carry an instant stands in the code of a command that is listed."""
    callbacks = {each.name: each.callback for each in app.registered_commands if each.callback}
    listed = {inspect.getsourcefile(inspect.unwrap(callbacks[name])) for name in READS}
    folder = Path(concord_client.cli.__file__).parent
    now = {"add.py", "items.py", "actions.py", "item_words.py", "resolve.py"}  # as it is now
    now |= {"doctor.py", "review_conflict.py"}
    timed = re.compile(rf"\b({'|'.join(of_an_instant())})Request\(")

    modules = {path for path in folder.rglob("*.py") if path.parent.name != "demo"}
    asking = {path for path in modules if timed.search(path.read_text("utf-8"))}

    assert {path.name for path in asking if str(path) not in listed} == now


LONG_AGO = "1901-01-01"
OF_RECORD_TIME_ALONE = {"relations", "history"}


@pytest.mark.parametrize("command", READS)
def test_the_times_reach_the_answer(concord: CommandLine, unique: Unique, command: str) -> None:
    """T3 W4 Before anything was known, and before anything held, a command answers otherwise."""
    a, b, session = unique("A"), unique("B"), unique("s")
    own, other = unique("own"), unique("other")
    concord.done("add", f"{own} is red", "--id", own)
    concord.done("update", own, "--content", f"{own} is blue")
    concord.done("link", a, "KNOWS", b)
    concord.done("relation", unique("R"), "--many")
    concord.done("say", session, "Ada", "Hi.")
    concord.done("episode", "tried", "--reward", "1", "--session", session)
    concord.done("hold", "thought", "--session", session)
    concord.done("add", f"{own} is not blue", "--id", other)
    concord.done("link", f"memory:{other}", "CONTRADICTS", f"memory:{own}")
    (dispute,) = concord.reply(ListConflictsResponse, "conflicts", "--item", own).conflicts
    arguments = {
        "conflict": [dispute.id],
        "get": [own],
        "search": [own],
        "integrative": [own, "--node", a],
        "neighbors": [a],
        "path": [a, b],
        "follow": [a, "KNOWS"],
        "lineage": [own],
        "history": [own],
        "dialogue": [session],
        "episodes": ["--session", session],
        "working": ["--session", session],
    }.get(command, [])

    def answer(*times: str) -> tuple[int, str]:
        result = concord(command, *arguments, *times)
        return result.exit_code, re.sub(r"\d+ s ago|read .*", "", result.stdout)

    now = answer()
    assert now[0] == 0
    assert answer("--as-known-at", LONG_AGO) != now
    if command in OF_RECORD_TIME_ALONE:
        assert answer("--as-of", LONG_AGO) == now
    elif command not in {"get", "lineage", "conflict"}:  # they show what is named, and when it held
        assert answer("--as-of", LONG_AGO) != now
