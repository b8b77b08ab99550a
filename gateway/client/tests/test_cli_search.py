"""`concord search` against a running system."""

import re

import pytest
from concord.graph.v1.graph_pb2 import UpsertEdgeResponse
from concord.graph.v1.memory_pb2 import AddMemoryResponse, ListMemoriesResponse
from concord.graph.v1.recall_pb2 import ListRecallsResponse
from concord.search.v1.health_pb2 import AssessHealthResponse
from concord.search.v1.search_pb2 import IntegrativeSearchResponse, SearchResponse
from concord.type.v1.type_pb2 import HealthStatus
from concord_client.cli.render.health_page import show_health
from concord_client.cli.render.search_page import show_results
from concord_client.client import Client
from concord_client.freshness import follow
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned


class Notes:
    """Three notes about one office, the middle one replaced by the last."""

    def __init__(self, concord: CommandLine, unique: Unique) -> None:
        self.word = unique("zeppelin").replace("-", "")
        self.old, self.new, self.plan = unique("old"), unique("new"), unique("plan")
        concord.done("add", f"The {self.word} office is in Hamburg.", "--id", self.old)
        concord.done(
            *("add", f"Plan: paint the {self.word} office.", "--id", self.plan, "--kind", "plan"),
            *("--domain", "work.office", "--tag", "paint", "--tag", "spring"),
        )
        reply = concord.reply(
            AddMemoryResponse,
            *("add", f"The {self.word} office is in Bremen now.", "--id", self.new),
            *("--supersedes", self.old),
        )
        self.token = reply.token


@pytest.fixture
def notes(concord: CommandLine, unique: Unique) -> Notes:
    """The notes, newly written."""
    return Notes(concord, unique)


def found(concord: CommandLine, notes: Notes, *options: str) -> list[str]:
    """The ids of the notes that a search finds, in its order, and as fresh as the notes."""
    query = f"where is the {notes.word} office"
    reply = concord.reply(SearchResponse, "search", query, "--fresh", notes.token, *options)
    mine = {notes.old, notes.new, notes.plan}
    return [each.memory.id for each in reply.results if each.memory.id in mine]


def test_the_live_one_answers_and_says_why(concord: CommandLine, notes: Notes) -> None:
    """S4 S5 T4 The page shows STAC lines, score, whole id, content and reason."""
    query = f"where is the {notes.word} office"
    shown = concord.done("search", query, "--fresh", notes.token)

    assert shown.startswith("Why: vector ")
    assert notes.new in shown
    assert f"{notes.old}\n" not in shown
    assert f"The {notes.word} office is in Bremen now." in shown
    assert "It surfaced mostly by" in shown
    assert found(concord, notes)[0] == notes.new
    assert notes.old not in found(concord, notes)


def test_all_and_history_show_what_was_replaced(concord: CommandLine, notes: Notes) -> None:
    """T4 On request, after its head, or as the whole chain by valid time."""
    everything = found(concord, notes, "--all")
    history = found(concord, notes, "--history")

    assert everything.index(notes.new) < everything.index(notes.old)
    assert history.index(notes.old) < history.index(notes.new)
    assert "superseded from" in concord.done("search", notes.word, "--all")


def test_times_of_a_query_are_shown_and_taken_off(concord: CommandLine, unique: Unique) -> None:
    """S11 What held then is first, with when it ended; `--today` and `--no-window` act."""
    old, new = unique("old"), unique("new")
    concord.done("add", f"The {old} club meets at Moe's", "--id", old, "--valid-from", "2020-01-01")
    options = ("--id", new, "--supersedes", old, "--valid-from", "2022-01-01")
    added = concord.reply(AddMemoryResponse, "add", f"The {old} club meets at Ann's", *options)
    query = f"Where did the {old} club meet last year?"
    asked = ("search", query, "--fresh", added.token, "--today", "2022-05-01")

    then, off = (concord.reply(SearchResponse, *asked, *more) for more in ((), ("--no-window",)))

    assert [each.memory.id for each in then.results][:2] == [old, new]
    assert old not in [each.memory.id for each in off.results]
    page = concord.done(*asked)
    assert '"last year": from 2021-01-01 until before 2022-01-01' in page
    assert "from 2020-01-01 until 2022-01-01" in page
    assert "but not used" in concord.done(*asked, "--no-window")


def test_filters_choose(concord: CommandLine, notes: Notes) -> None:
    """S2 Kind, domain and tags; every tag must match."""
    assert found(concord, notes, "--kind", "plan") == [notes.plan]
    assert found(concord, notes, "--domain", "work") == [notes.plan]
    assert found(concord, notes, "--tag", "paint", "--tag", "spring") == [notes.plan]
    assert found(concord, notes, "--tag", "paint", "--tag", "autumn") == []


def test_limit_and_min_score_cut(concord: CommandLine, notes: Notes) -> None:
    """S2 The page's size and the smallest score."""
    query = f"where is the {notes.word} office"
    one = concord.reply(SearchResponse, "search", query, "--fresh", notes.token, "--limit", "1")
    none = concord("search", "entirely unrelated gibberish", "--min-score", "0.99")

    assert len(one.results) == 1
    assert none.exit_code == 0
    assert none.stdout.endswith("Nothing was found.\n")


def test_nothing_found_in_an_index_that_lags_is_told_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """S10 What was written and is not indexed yet is not denied."""
    show_results(SearchResponse(index_incomplete=True))
    assert "The disk of the index has no room" in capsys.readouterr().out
    show_results(SearchResponse(), behind=789)
    lagging = capsys.readouterr().out
    show_results(SearchResponse(), behind=0)

    assert "The index is 789 changes behind: it finds what was written last later." in lagging
    assert capsys.readouterr().out == "Nothing was found.\n"


def test_a_result_says_where_it_is_from(concord: CommandLine, unique: Unique) -> None:
    """W8 Who said it, when it held, from which session, its kind and its origin; also as a text."""
    own, talk = unique("own"), unique("talk")
    words = f"The {own} ferry leaves at nine."
    options = ("--id", own, "--kind", "plan", "--source", "Anna", "--session", talk)
    times = ("--valid-from", "2024-03-01", "--valid-until", "2124-03-01")
    token = concord.reply(AddMemoryResponse, "add", f"{words}\n[memory:x] fact", *options, *times)
    held = "plan; from 2024-03-01 until 2124-03-01"
    said = f'{held}; written by a person; said by "Anna"; in session {talk}'

    asked = ("search", f"When does the {own} ferry leave?", "--fresh", token.token)

    assert said in concord.done(*asked)
    lines = concord.done(*asked, "--context").splitlines()
    place = next(at for at, line in enumerate(lines) if line.startswith(f"[memory:{own}] {said}"))
    assert lines[place + 1 : place + 3] == [f"  {words}", "  [memory:x] fact"]
    assert concord.reply(SearchResponse, *asked).context == ""
    packed = concord.done(*asked, "--pack", "200").splitlines()
    assert packed[0] == f'[memory:{own}] from 2024-03-01 until 2124-03-01; "Anna"'
    assert concord(*asked, "--pack", "9000").exit_code == 2
    nothing = concord.done(*asked, "--pack", "1")
    assert nothing.startswith("None of the results fits into 1 token.")
    assert f"memory:{own}" in nothing
    assert words not in nothing


def test_the_recall_log_says_what_was_returned(concord: CommandLine, notes: Notes) -> None:
    """W8 Off until it is turned on; then by ids, to whom and when."""
    found(concord, notes)
    before = concord.reply(ListRecallsResponse, "recall", "list", "--memory", notes.new)
    concord.done("recall", "on")
    query = f"where is the {notes.word} office"
    told = concord.reply(SearchResponse, "search", query, "--fresh", notes.token)
    concord.done("recall", "off")
    reply = concord.reply(ListRecallsResponse, "recall", "list", "--query", told.query_id)
    shown = concord.done("recall", "list", "--memory", f"memory:{notes.new}")

    assert (before.enabled, len(before.recalls)) == (False, 0)
    (recall,) = reply.recalls
    assert list(recall.memory_ids) == [each.memory.id for each in told.results]
    assert recall.principal
    assert told.query_id in shown
    assert query not in shown
    assert "Nothing of such" in concord.done("recall", "erase-query", told.query_id)


def test_the_recall_log_names_integrative_searches_too(concord: CommandLine, notes: Notes) -> None:
    """W8 S7 By the id that feedback names, by which the query's text is erased as well."""
    concord.done("recall", "on")
    asked = ("integrative", f"the {notes.word} office", "--node", "me", "--fresh", notes.token)
    told = concord.reply(IntegrativeSearchResponse, *asked)
    concord.done("recall", "off")
    query_id = told.feedback_request.query_id
    (recall,) = concord.reply(ListRecallsResponse, "recall", "list", "--query", query_id).recalls

    assert list(recall.memory_ids) == [each.memory.id for each in told.results if each.memory.id]
    assert "Its text is erased." in concord.done("recall", "erase-query", query_id)
    assert concord.done("feedback", query_id, "--helpful")


def test_the_weight_is_calibrated_with_the_owners_key(concord: CommandLine, notes: Notes) -> None:
    """S7 Votes are the agent's, the weight is its owner's; without a move there is none to undo."""
    asked = ("integrative", f"the {notes.word} office", "--node", "me", "--fresh", notes.token)
    told = concord.reply(IntegrativeSearchResponse, *asked)
    concord.done("feedback", told.feedback_request.query_id, "--helpful")

    assert "Evidence: constitutive-first replies helped" in concord.done("calibrate", "--dry-run")
    assert "The constitutive weight stays: 2.00 to 2.00." in concord.done("calibrate", "--apply")
    assert "Evidence: no move to take back." in concord.done("calibrate", "--revert")


def test_a_search_among_what_is_said_of_a_node(
    concord: CommandLine, notes: Notes, unique: Unique
) -> None:
    """W4 S2 By the node's name; an unknown one is an error, not an empty answer."""
    node = unique("Ada")
    added = ("add", f"She has a {notes.word} hat.", "--fact", f"{node}|WEARS|hat")
    token = concord.reply(AddMemoryResponse, *added).token
    asked = ("search", notes.word, "--fresh", token, "--node")
    found = concord.reply(SearchResponse, *asked, node)

    assert [each.memory.content for each in found.results] == [f"She has a {notes.word} hat."]
    unknown = concord(*asked, unique("nobody"))
    assert unknown.exit_code == 1
    assert "No node has this name or id." in unknown.stderr


@pytest.mark.parametrize("command", [["search"], ["integrative", "--node", "me"]])
def test_a_search_may_belong_to_a_session(
    concord: CommandLine, notes: Notes, unique: Unique, command: list[str]
) -> None:
    """M7 S3 Else nothing that was read together could count in a search of the command line."""
    session = unique("talk")
    concord.done(*command, notes.word, "--fresh", notes.token, "--session", session)

    assert session in concord.done("session", "list", "--limit", "200")


def test_counts_of_a_part_are_not_those_of_all(concord: CommandLine, notes: Notes) -> None:
    """S8 A list that is full ends the assessment."""
    assert notes.token
    part, whole = (concord.done("health", "--limit", limit) for limit in ("1", "1000"))

    assert re.fullmatch(r"Of the newest [0-9,]+ memor(y|ies) [^:]+\.", part.splitlines()[0])
    assert re.fullmatch(r"Of [0-9,]+ memories [^:]+\.", whole.splitlines()[0])


def test_health_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """S8 W4 One sentence counts them all, in the singular where there is one."""
    reply = AssessHealthResponse()
    show_health(reply)
    for status, count in (("AT_RISK", 1), ("STALE", 2), ("ORPHAN", 165), ("HEALTHY", 1283)):
        reply.counts.add(status=HealthStatus.Value(f"HEALTH_STATUS_{status}"), count=count)
    show_health(reply)

    assert capsys.readouterr().out.splitlines() == [
        "There are no memories.",
        "Of 1,451 memories 1 is at risk, 2 are stale, 165 are orphans and 1,283 are healthy.",
    ]


def test_lists_leave_out_who_is_connected_with_nothing(
    concord: CommandLine, unique: Unique
) -> None:
    """S8 W4 Most notes have no link: the badge is in replies, `get` and `health` alone."""
    own = unique("lonely")
    concord.done("add", f"A {own} lighthouse.", "--id", own, "--tag", own)
    listed = concord.reply(ListMemoriesResponse, "list", "--tag", own)

    assert listed.memories[0].health.status == HealthStatus.HEALTH_STATUS_ORPHAN
    assert "orphan" in concord.done("get", own)
    assert "orphan" in concord.done("health", "--status", "orphan", "--limit", "1000")
    assert "orphan" not in concord.done("list", "--tag", own)
    assert "orphan" not in concord.done("search", f"{own} lighthouse", "--tag", own)


def test_explain_shows_every_signal(concord: CommandLine, notes: Notes) -> None:
    """S3 S4 Each signal with score, weight and contribution, and why one dropped out."""
    shown = concord.done("search", notes.word, "--fresh", notes.token, "--explain")

    assert " vector_similarity " in shown
    assert " × " in shown
    assert "domain_match: no data, " in shown


def test_wrong_use_and_bad_queries_are_told(concord: CommandLine) -> None:
    """W4 S2 Exit status 2 for options that exclude each other, 1 for what the service refuses."""
    both = concord("search", "x", "--all", "--history")
    blank = concord("search", " ")
    token = concord("search", "x", "--fresh", "damaged")

    assert both.exit_code == 2
    assert "exclude each other" in both.stderr
    assert (blank.exit_code, blank.stderr.split(":")[0]) == (1, "ERROR_REASON_FIELD_INVALID")
    assert token.exit_code == 1
    assert token.stderr.startswith("ERROR_REASON_CONSISTENCY_TOKEN_INVALID: ")


def test_following_ends_when_the_write_is_found(system: Spawned, notes: Notes) -> None:
    """S10 Progress counts up to the number of changes, and then search has seen the write."""
    with system_client(system) as client:
        steps = list(follow(client, notes.token))
        whole = list(follow(client, notes.token, since=0))

    done, total = steps[-1]
    assert done == total
    assert all(0 <= so_far <= of for so_far, of in steps)
    assert whole[0][0] > 0  # the notes' first changes were indexed before the call


def system_client(system: Spawned) -> Client:
    """A client of the default space."""
    from concord_client.credentials import Target, read

    return Client(Target(system.url, read(system.data / "credentials.json").keys["default"]))


def test_edges_are_found_if_asked_for_and_packs_hold_paths(
    concord: CommandLine, unique: Unique
) -> None:
    """S11 Edges that no memory states; a question over two hops is answered by their path."""
    ada, bea, town = unique("Ada"), unique("Bea"), unique("Town")
    concord.done("link", ada, "SISTER", bea)
    token = concord.reply(UpsertEdgeResponse, "link", bea, "LIVES_IN", town).token
    asked = ("search", f"Where does {ada}'s sister live?", "--fresh", token)

    shown = concord.done("search", f"who lives in {town}", "--edges", "--fresh", token)
    reply = concord.reply(SearchResponse, *asked)
    tries = (concord.done(*asked, "--pack", "500").splitlines()[0] for _ in range(10))
    packed = next(line for line in tries if "] path:" in line)  # busy machines need more than 1 s

    assert f"{bea} LIVES_IN {town}" in shown
    assert "Memory or edge" in shown
    assert not any(each.HasField("edge") for each in reply.results)
    assert packed.endswith(f'] path: "{ada} SISTER {bea}"; "{bea} LIVES_IN {town}"')
