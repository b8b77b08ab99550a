"""`concord add`, `get`, `link` and `lineage` against a running system."""

import json
from pathlib import Path

import pytest
from concord.graph.v1.graph_pb2 import GetEdgeResponse, GetNodeResponse, UpsertEdgeResponse
from concord.graph.v1.lineage_pb2 import AddLineageResponse, GetLineageResponse
from concord.graph.v1.memory_pb2 import AddMemoryResponse, GetMemoryResponse, ListMemoriesResponse
from concord.search.v1.search_pb2 import SearchResponse
from concord.type.v1 import type_pb2
from concord_testing.command_line import CommandLine, Unique


def test_add_tells_the_id_and_get_shows_the_text(concord: CommandLine, unique: Unique) -> None:
    """W4 M1 What was added is read back by the id that was told."""
    result = concord.done("add", f"Tea is at four. {unique('x')}")
    memory_id = result.removeprefix("Remembered ").strip()

    shown = concord.done("get", memory_id)

    assert "Tea is at four." in shown
    assert memory_id in shown


def test_add_tells_of_a_ghost_that_it_made(concord: CommandLine, unique: Unique) -> None:
    """W4 G13 A misspelt id is named, with what the link waits for; one that is there is not."""
    there, typo = unique("there"), unique("typo")
    concord.done("add", f"Tea is at four. {there}", "--id", there)

    result = concord.done("add", f"No tea. {typo}", "--supersedes", there, "--amends", typo)
    again = concord.done("add", f"No tea at all. {typo}", "--supersedes", there)

    assert f"There is no memory {typo} yet" in " ".join(result.split())
    assert f"no memory {there}" not in result + again


def test_add_takes_every_option(concord: CommandLine, unique: Unique) -> None:
    """W4 M1 Each option of `add` reaches the stored memory."""
    own = unique("office")
    reply = concord.reply(
        AddMemoryResponse,
        *("add", f"Our office is in Hamburg. {own}", "--id", own, "--kind", "Observation"),
        *("--domain", "work.office", "--tag", "a", "--tag", "b", "--concept", "office"),
        *("--importance", "high", "--valid-from", "2024-02-29", "--source", "Ada"),
        *("--valid-until", "2030-01-01T12:00:00+02:00", "--external-id", f"ext:{own}"),
        *("--category", "places", "--session", "s-1", "--property", "floor=3"),
        *("--property", "floor plan=yes", "--derived-from", "memory:a/b", "--derived-from", "c"),
    )

    memory = reply.memory
    assert reply.created
    assert reply.token
    assert memory.id == own
    assert memory.kind == type_pb2.MEMORY_KIND_OBSERVATION
    assert memory.domain == "work.office"
    assert list(memory.tags) == ["a", "b"]
    assert list(memory.concepts) == ["office"]
    assert memory.importance == type_pb2.IMPORTANCE_HIGH
    assert memory.valid_from.ToJsonString() == "2024-02-29T00:00:00Z"
    assert memory.valid_until.ToJsonString() == "2030-01-01T10:00:00Z"
    assert [source.speaker for source in memory.sources] == ["Ada"]
    assert [list(source.memory_ids) for source in memory.sources] == [["a/b", "c"]]
    assert dict(memory.properties) == {"floor": 3, "floor plan": "yes"}
    assert (memory.external_id, memory.category, memory.session_id) == (
        f"ext:{own}",
        "places",
        "s-1",
    )


def test_add_reads_standard_input(concord: CommandLine, unique: Unique) -> None:
    """W4 "-" stands for standard input."""
    own = unique("piped")
    concord.done("add", "-", "--id", own, stdin=f"Line one of {own}\nline two\n")

    found = concord.reply(GetMemoryResponse, "get", own)

    assert found.memory.content == f"Line one of {own}\nline two"


def test_adding_the_same_again_is_one_memory(concord: CommandLine, unique: Unique) -> None:
    """M5 The second time tells that it was known."""
    first = concord.done("add", unique("same"))
    second = concord.done("add", unique("same"))

    assert first.startswith("Remembered ")
    assert second == first.replace("Remembered ", "Known already: ")


def test_a_replacement_shows_in_lineage_and_at_the_replaced(
    concord: CommandLine, unique: Unique
) -> None:
    """T1 T5 `--supersedes` makes the old one give way, and `lineage` marks the head."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"The office is in Hamburg {old}", "--id", old)
    concord.done("add", f"The office is in Bremen {old}", "--id", new, "--supersedes", old)

    shown = concord.done("lineage", old)
    reply = concord.reply(GetLineageResponse, "lineage", f"memory:{new}")

    assert [(item.id, item.is_head) for item in reply.items] == [(old, False), (new, True)]
    assert f"○  {old}  superseded from" in shown
    assert f"●  {new}  head: this holds" in shown
    assert f"└ supersedes {old}" in shown
    assert f"superseded by  {new}" in concord.done("get", old)


@pytest.mark.parametrize("relation", ["deprecates", "amends", "contradicts"])
def test_add_states_the_other_relations_too(
    concord: CommandLine, unique: Unique, relation: str
) -> None:
    """M3 T1 Each lineage option makes its edge in the same write."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"One thing {old}", "--id", old)
    concord.done("add", f"Another thing {new}", "--id", new, f"--{relation}", old)

    reply = concord.reply(GetLineageResponse, "lineage", old)

    assert [edge.relation for edge in reply.edges] == [relation.upper()]


def test_a_code_fence_hides_no_lineage(concord: CommandLine, unique: Unique) -> None:
    """M3 Text that ends inside a code fence does not swallow the links of the options."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"```\nrun this {old}", "--id", new, "--supersedes", old)

    reply = concord.reply(GetLineageResponse, "lineage", new)

    assert [(edge.relation, edge.target.id) for edge in reply.edges] == [("SUPERSEDES", old)]


def test_a_ghost_is_marked_in_the_timeline(concord: CommandLine, unique: Unique) -> None:
    """M3 T5 What is pointed at and not remembered yet shows as such."""
    new, ghost = unique("new"), unique("ghost")
    concord.done("add", f"It replaces one to come {new}", "--id", new, "--supersedes", ghost)

    assert f"?  {ghost}  not remembered yet" in concord.done("lineage", new)


def test_lineage_shows_what_an_insight_was_drawn_from(concord: CommandLine, unique: Unique) -> None:
    """M1 T5 W4 Each by its id and words; one that was never remembered as such."""
    insight, seen = unique("insight"), unique("seen")
    concord.done("add", f"A heron stood here. {seen}", "--id", seen)
    derived = ("--derived-from", seen, "--derived-from", "nowhere/x")
    concord.done("add", f"Herons live here. {insight}", "--id", insight, *derived)

    result = concord.done("lineage", insight)

    assert f"└ derived from {seen}: A heron stood here." in result
    assert "└ derived from nowhere/x (not remembered)" in result
    (line,) = (each for each in concord.done("get", insight).splitlines() if "derived" in each)
    assert line.split() == ["derived", "from", f"{seen},", "nowhere/x"]


def test_an_amended_memory_says_what_amends_it(concord: CommandLine, unique: Unique) -> None:
    """T4 W4 In `get`, in a list and in what a search finds."""
    gate, may = unique("gate"), unique("may")
    concord.done("add", f"The gate opens at nine. {gate}", "--id", gate, "--tag", gate)
    concord.done("add", f"At eight in May. {may}", "--id", may, "--amends", gate)

    shown = concord.done("get", gate)
    (line,) = (each for each in shown.splitlines() if each.startswith("amended by"))

    assert line.split() == ["amended", "by", may]
    assert f"{gate}  amended by {may}" in concord.done("list", "--tag", gate)
    assert f"{gate}  amended by {may}" in concord.done("search", "gate", "--tag", gate)


def test_properties_find_memories(concord: CommandLine, unique: Unique) -> None:
    """M1 S2 W4 `list` and `search` by a property, which `update` replaces."""
    own, other = unique("p1"), unique("p2")
    concord.done("add", f"An open door. {own}", "--id", own, "--property", f"key={own}")
    concord.done("add", f"An open door. {other}", "--id", other, "--property", f"key={other}")
    asked = ("--property", f"key={own}")

    listed = concord.reply(ListMemoriesResponse, "list", *asked)
    found = concord.reply(SearchResponse, "search", "open door", *asked)
    shown = concord.done("get", own)
    concord.done("update", own, "--property", "key=7")

    assert [memory.id for memory in listed.memories] == [own]
    assert [result.memory.id for result in found.results] == [own]
    assert f'{{"key": "{own}"}}' in shown
    assert not concord.reply(ListMemoriesResponse, "list", *asked).memories
    assert dict(concord.reply(GetMemoryResponse, "get", own).memory.properties) == {"key": 7}


def test_names_make_nodes_and_an_edge(concord: CommandLine, unique: Unique) -> None:
    """G1 G2 `link` with two names makes what is missing, once."""
    ada, acme = unique("Ada"), unique("Acme")
    reply = concord.reply(
        UpsertEdgeResponse,
        *("link", ada, "WORKS_AT", acme, "--weight", "0.5", "--property", "since=1843"),
        *("--property", "role=analyst", "--valid-from", "2020-01-01"),
    )

    edge = reply.edge
    assert reply.created
    assert (edge.source.name, edge.relation, edge.target.name) == (ada, "WORKS_AT", acme)
    assert (edge.weight, edge.properties["since"], edge.properties["role"]) == (
        0.5,
        1843,
        "analyst",
    )
    assert concord.reply(GetNodeResponse, "get", ada).node.name == ada
    assert concord.reply(GetEdgeResponse, "get", edge.id).edge.id == edge.id
    assert f"edge        {ada} —WORKS_AT→ {acme}\n" in concord.done("get", edge.id)
    assert f"name      {ada}" in concord.done("get", ada)


def test_link_joins_a_name_to_a_memory(concord: CommandLine, unique: Unique) -> None:
    """G2 `memory:ID` names a memory; linking again tells that it was known."""
    ada, note = unique("Ada"), unique("note")
    concord.done("add", f"Ada wrote a note {note}", "--id", note)

    first = concord.done("link", ada, "WROTE", f"memory:{note}")
    second = concord.done("link", ada, "WROTE", f"memory:{note}")

    assert first.startswith(f"Linked {ada} —WROTE→ memory:{note}\nedge ")
    assert second.startswith(f"Known already: {ada} —WROTE→ memory:{note}\n")


def test_link_between_memories_states_lineage(concord: CommandLine, unique: Unique) -> None:
    """T1 A lineage word between two memories is AddLineage, with its reason."""
    old, new = unique("old"), unique("new")
    for each in (old, new):
        concord.done("add", f"A thing {each}", "--id", each)

    reply = concord.reply(
        AddLineageResponse,
        *("link", f"memory:{new}", "supersedes", f"memory:{old}", "--context", "we moved"),
    )

    assert reply.created
    assert (reply.edge.source.id, reply.edge.target.id) == (new, old)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["link", "a", "SUPERSEDES", "b"], "memory:ID or edge:ID"),
        (["link", "memory:a", "SUPERSEDES", "memory:b", "--weight", "0.5"], "no weight"),
        (["link", "a", "KNOWS", "b", "--context", "why"], "--context"),
        (["link", "a", "KNOWS", "b", "--property", "x"], "NAME=VALUE"),
        (["link", "a", "KNOWS", "b", "--weight", "2"], "less than or equal to 1"),
        (["add", "x", "--valid-from", "yesterday"], "ISO 8601"),
        (["add", "x", "--kind", "rumour"], "'fact'"),
        (["add"], "Missing argument"),
        (["get"], "Missing argument"),
        (["frobnicate"], "No such command"),
        (["add", "x", "--frobnicate"], "No such option"),
    ],
)
def test_wrong_use_exits_with_2(concord: CommandLine, arguments: list[str], told: str) -> None:
    """W4 Exit status 2 and what is wrong on standard error, before any call."""
    result = concord(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert told in " ".join(result.stderr.replace("│", " ").split())


def test_a_refusal_is_told_once(concord: CommandLine) -> None:
    """W4 One broken rule is one sentence; several are a list."""
    one = concord("add", "")
    two = concord("add", "x", "--domain", "a b", "--id", "not an id")

    assert one.stderr.count("memory.content") == 1
    assert len(one.stderr.splitlines()) == 1
    assert (two.stderr.count("memory.domain"), two.stderr.count("memory.id")) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["add", "x", "--id", "not an id"], "ERROR_REASON_FIELD_INVALID: "),
        (["add", "x" * 20_001], "ERROR_REASON_FIELD_INVALID: "),
        (["link", "concord:space", "KNOWS", "b"], "ERROR_REASON_RESERVED_NAME: "),
        (["get", "no-such-id"], "LOOKUP_STATUS_NOT_FOUND: "),
        (["lineage", "no-such-id"], "LOOKUP_STATUS_NOT_FOUND: "),
        (["neighbors", "no-such-name"], "LOOKUP_STATUS_NOT_FOUND: "),
        (["path", "no-such-name", "nor-this"], "LOOKUP_STATUS_NOT_FOUND: "),
        (["--space", "nobody", "get", "x"], "There is no key for the space 'nobody'"),
    ],
)
def test_a_refusal_exits_with_1_and_its_reason(
    concord: CommandLine, arguments: list[str], reason: str
) -> None:
    """W4 Exit status 1; standard error begins with the machine's reason, then a sentence."""
    result = concord(*arguments)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(reason)


def test_a_miss_as_json_is_the_reply_and_exit_1(concord: CommandLine) -> None:
    """G13 W4 With --json the miss is printed as the reply that it is."""
    reply = concord.reply(GetMemoryResponse, "get", "no-such-id", exit_code=1)

    assert reply.status == type_pb2.LOOKUP_STATUS_NOT_FOUND


def test_two_spaces_do_not_see_each_other(concord: CommandLine, unique: Unique) -> None:
    """G13 The same id in two spaces is two memories; `--space` stands before or after."""
    own = unique("home")
    concord.done("--space", "demo", "add", f"In the demo {own}", "--id", own)

    assert concord("get", own).exit_code == 1

    concord.done("add", f"In the default space {own}", "--id", own, "--space", "default")

    assert "In the demo" in concord.done("get", own, "--space", "demo")
    assert "In the default space" in concord.done("get", own)


def test_stored_text_steers_no_terminal(concord: CommandLine, unique: Unique) -> None:
    """W4 Escape codes and markup in stored text are shown, not obeyed."""
    own = unique("rude")
    concord.done("add", f"\x1b[31mred\x1b[0m [bold]plain[/bold] {own}", "--id", own)

    shown = concord.done("get", own)

    assert "\x1b" not in shown
    assert "[bold]plain[/bold]" in shown


def test_what_a_new_memory_may_amend_is_shown(concord: CommandLine, unique: Unique) -> None:
    """W4 T6 (promise 16) With what changed, and the command that says so, which then works."""
    old, new = unique("old"), unique("new")
    budget = f"the budget of the small project {old} is 40,000 euros a year"
    concord.done("add", budget, "--id", old)
    shown = " ".join(concord.done("add", budget.replace("40,000", "45,000"), "--id", new).split())

    assert f'It may amend {old} ("40,000" became "45,000").' in shown
    command = shown.partition("To say so: concord ")[2].split()
    assert command == ["link", f"memory:{new}", "AMENDS", f"memory:{old}"]
    concord.done(*command)
    assert new in concord.done("lineage", old)


def test_an_import_says_what_it_may_amend_when_asked(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W4 T6 (promise 10) Only then."""
    old = unique("old")
    budget = f"the rent of the small house {old} is 900 euros a month"
    concord.done("add", budget, "--id", old)
    for number, asked in ((901, ()), (950, ("--suggest-amendments",))):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps({"content": budget.replace(" 900 ", f" {number} ")}))
        shown = " ".join(concord.done("import", str(file), *asked).split())

        assert (f'It may amend {old} ("900" became "{number}")' in shown) is bool(asked)
