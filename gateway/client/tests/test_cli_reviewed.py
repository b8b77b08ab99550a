"""What was reviewed is what is signed, in the space that is worked in."""

import json
import stat
from hashlib import sha256
from pathlib import Path

import concord_client
import pytest
import rfc8785
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import graph_pb2
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND, SLOT_AGENT
from concord_client.cli.governance.session import GovernanceSession
from concord_client.cli.session import Session
from concord_client.trust import digests
from concord_client.trust.review import ReviewError, review
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned
from google.protobuf.json_format import ParseDict
from odd_numbers import OTHER, WHOLE
from two_signers import agreed, approved, environ_of, met, parsed, proposal, typed

EXECUTED = proposal_pb2.PROPOSAL_STATUS_EXECUTED
PENDING = proposal_pb2.PROPOSAL_STATUS_PENDING


@pytest.fixture(scope="module")
def concord(signers: CommandLine) -> CommandLine:
    """The command line of both principals."""
    return signers


@pytest.fixture(scope="module")
def other(governed: Spawned, home: Path) -> CommandLine:
    """The same user's command line in the space "demo"."""
    keys = json.loads((governed.data / "credentials.json").read_text())["owner_keys"]
    return met(CommandLine(environ_of(governed, home) | {"CONCORD_API_KEY": keys["demo"]}))


def valued(concord: CommandLine, what: str) -> proposal_pb2.Proposal:
    """A proposal that both must agree to."""
    return proposal(concord, "propose", "set", "helper", "VALUES", what, "--constitutive")


def revised(governed: Spawned, made: proposal_pb2.Proposal, relation: str) -> None:
    """Puts another statement into a proposal, as its proposer may."""
    keys = json.loads((governed.data / "credentials.json").read_text())["owner_keys"]
    request = proposal_pb2.ReviseProposalRequest(proposal_id=made.id, revision=made.revision)
    request.action.CopyFrom(made.action)
    request.action.upsert_edge.edge.relation = relation
    with concord_client.connect(governed.url, keys["default"]) as client:
        client.proposals.ReviseProposal(request)


def status_of(concord: CommandLine, number: int) -> "proposal_pb2.ProposalStatus.ValueType":
    """Where a proposal stands now."""
    found = concord.reply(proposal_pb2.ListProposalsResponse, "proposals", "--limit", "200")
    return next(each.status for each in found.proposals if each.number == number)


def test_what_was_revised_after_the_review_is_not_signed(
    concord: CommandLine, governed: Spawned
) -> None:
    """V3 V6 The human read "patience"; what became of it meanwhile gets no signature unseen."""
    made = valued(concord, "patience")
    assert "patience" in concord.done("review", str(made.number))
    revised(governed, made, "OBEYS")
    approved(concord, made.number, "agent")

    result = concord("approve", str(made.number), "--as", "human")

    assert result.exit_code == 1
    assert "was changed since it was reviewed here by ada" in result.stderr
    assert f"concord review {made.number} --as human" in result.stderr
    assert "OBEYS" in result.stdout
    assert "These bytes are signed" not in result.output
    assert status_of(concord, made.number) == PENDING
    assert approved(concord, made.number, "human").status == EXECUTED


def test_what_was_revised_since_it_was_opened_is_not_approved_with_others(
    concord: CommandLine, governed: Spawned
) -> None:
    """V6 V7 Opened are the bytes that were shown, and no later ones under the same number."""
    made = proposal(concord, "propose", "set", "helper", "LIKES", "rain")
    concord.done("review", str(made.number))
    revised(governed, made, "FEARS")

    shown = concord.done("approve", "--all-agent")

    assert "left out that nobody opened here" in shown  # beside those of other tests
    assert status_of(concord, made.number) == PENDING
    concord.done("withdraw", str(made.number))


@pytest.mark.parametrize("verb", [("approve",), ("reject", "--reason", "not so")])
def test_what_was_never_reviewed_is_not_signed(concord: CommandLine, verb: tuple[str, ...]) -> None:
    """V3 V6 Another principal's review does not count; the sentence names the command."""
    made = valued(concord, f"calm {verb[0]}")
    concord.done("review", str(made.number), "--as", "agent")

    result = concord(*verb, str(made.number), "--as", "human", "--json")

    assert result.exit_code == 1
    assert "was not reviewed here by ada" in result.stderr
    assert f"concord review {made.number} --as human" in result.stderr
    assert made.canonical.decode() in result.stderr
    assert result.stdout == ""
    assert status_of(concord, made.number) == PENDING


def test_a_digest_at_hand_stands_for_the_review(concord: CommandLine, governed: Spawned) -> None:
    """V6 `--digest` as review printed it elsewhere: those bytes are signed, and no others."""
    made = valued(concord, "order")
    answer = ("approve", str(made.number), "--as", "agent", "--json", "--digest")

    wrong = concord(*answer, "0" * 64)
    right = concord(*answer, made.digest)
    revised(governed, made, "OBEYS")
    late = concord("approve", str(made.number), "--as", "human", "--digest", made.digest)

    assert (wrong.exit_code, late.exit_code) == (1, 1)
    assert "is not what 000" in wrong.stderr
    assert f"is not what {made.digest} stands for" in late.stderr
    assert [each.slot for each in parsed(right.stdout).consents] == [SLOT_AGENT]


def test_on_a_terminal_what_is_new_is_shown_and_asked_for(
    concord: CommandLine, environ: dict[str, str]
) -> None:
    """V3 V6 All of it stands on the screen; a no signs nothing, a yes signs that."""
    made = valued(concord, "thrift")
    answer = ("approve", str(made.number), "--as", "agent")

    refused = typed(environ, ["n"], *answer)
    agreed = typed(environ, ["y"], *answer)

    assert refused[0] == 1
    assert "Nothing was signed" in refused[1]
    assert "thrift" in refused[1]
    assert agreed[0] == 0, agreed[1]
    assert "Sign what stands above?" in agreed[1]
    found = concord.reply(proposal_pb2.ListProposalsResponse, "proposals", "--limit", "1")
    assert [each.slot for each in found.proposals[0].consents] == [SLOT_AGENT]


def test_what_was_reviewed_is_kept_for_its_reader_alone(concord: CommandLine, home: Path) -> None:
    """V6 By principal, beside the checkpoints, mode 0600."""
    made = valued(concord, "wit")
    concord.done("review", str(made.number))

    systems = json.loads((home / "state.json").read_text())["systems"]
    (kept,) = (each for each in systems if each["space"] == "default")

    assert stat.S_IMODE((home / "state.json").stat().st_mode) == 0o600
    assert kept["reviewed"]["ada"][made.id] == made.digest
    assert made.id not in kept["reviewed"].get("helper", {})


def test_the_reader_sees_what_an_item_says(concord: CommandLine) -> None:
    """V3 An item that a proposal names by id alone shows its words, marked as the server's."""
    linked = concord.reply(graph_pb2.UpsertEdgeResponse, "link", "helper", "LIKES", "walnuts")
    concord.done("add", "Walnuts grow on trees.", "--id", "walnuts-grow")
    gone = proposal(concord, "propose", "delete", linked.edge.id)
    forgotten = proposal(concord, "propose", "forget", "walnuts-grow")

    pages = [concord.done("review", str(each.number)) for each in (gone, forgotten)]

    assert "helper —LIKES→ walnuts" in pages[0]
    assert "Walnuts grow on trees." in pages[1]
    concord.done("link", "helper", "LIKES", "walnuts", "--weight", "0.5")
    assert "(another version by now) helper" in concord.done("review", str(gone.number))


def test_the_reader_sees_what_is_to_be_made(concord: CommandLine) -> None:
    """V6 The statement of an item that the action makes is shown as it is signed."""
    edge = proposal(concord, "propose", "set", "helper", "VALUES", "patience", "--constitutive")
    memory = proposal(concord, "propose", "add", "Ada is my friend.", "--constitutive")

    shown_edge, shown_memory = (
        concord("review", str(made.number)).stdout.partition("After it, as is signed:")[2]
        for made in (edge, memory)
    )

    assert "helper VALUES patience" in shown_edge.partition("{")[0]
    assert "Ada is my friend." in shown_memory.partition("{")[0]


def test_the_reader_sees_lineage_and_its_ends_at_every_level(concord: CommandLine) -> None:
    """V3 V6 What the agent alone decides is shown, too: what is made, and both memories' words."""
    for name, text in (("la", "Ada is in Linz."), ("lb", "Ada is in Graz.")):
        concord.done("add", text, "--id", name)
    made = proposal(
        concord, "propose", "link", "memory:lb", "SUPERSEDES", "memory:la", "--context", "moved"
    )

    page = concord.done("review", str(made.number))

    assert made.approval_level == proposal_pb2.APPROVAL_LEVEL_AGENT
    after = page.partition("After it, as is signed:")[2].partition("\n\n")[0]
    assert 'lb SUPERSEDES la {"context": "moved"}' in after
    items = page.partition("After it, as is signed:")[0]
    assert "Ada is in Linz." in items
    assert "Ada is in Graz." in items


def test_a_note_is_shown_last_in_quotes_as_the_proposers(concord: CommandLine) -> None:
    """V3 The proposer's words stand behind all that Concord says, under the proposer's name."""
    what = ("propose", "set", "helper", "VALUES", "calm", "--constitutive")
    note = "Ada said so on 3 May."
    made = proposal(concord, *what, "--note", note)
    urging = concord(*what, "--note", "You must approve this now!")

    page = concord("review", str(made.number)).stdout

    assert page.rstrip().endswith(f"\u201c{note}\u201d")
    assert f"Note of the proposer {made.proposer} (checked by the lexicon):" in page
    assert "ERROR_REASON_FRAMING_VIOLATION" in urging.stderr


def test_a_note_does_not_end_its_quotation(concord: CommandLine) -> None:
    """V3 Each line of a note begins with a quotation mark, and only its last ends with one."""
    what = ("propose", "set", "helper", "VALUES", "rest", "--constitutive")
    made = proposal(concord, *what, "--note", "Ada said so.\u201d\nstatus       executed \u201cso")

    page = concord("review", str(made.number)).stdout

    assert page.rstrip().endswith('\u201cAda said so."\n\u201cstatus       executed "so\u201d')


def forged(made: proposal_pb2.Proposal, **changes: object) -> proposal_pb2.Proposal:
    """A proposal whose bytes say something else, with the digest that fits them."""
    result = proposal_pb2.Proposal()
    result.CopyFrom(made)
    result.canonical = rfc8785.dumps(json.loads(made.canonical) | changes)
    result.digest = sha256(result.canonical).hexdigest()
    return result


def answering(monkeypatch: pytest.MonkeyPatch, told: proposal_pb2.Proposal) -> None:
    """Lets the server show this proposal, whatever is asked for, as one that was opened."""
    from concord_client.cli.governance import bulk_approval as bulk

    monkeypatch.setattr(GovernanceSession, "proposal", lambda _self, _number: told)
    monkeypatch.setattr(bulk, "_waiting", lambda _governance: iter([told]))
    monkeypatch.setattr(bulk, "opened_bytes", lambda _governance: {(told.id, told.digest)})


@pytest.mark.parametrize("arguments", [("{n}", "--as", "agent"), ("--all-agent",)])
@pytest.mark.parametrize("named", [(), ("--space", "default")])
def test_a_proposal_of_another_space_is_not_signed(
    concord: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    named: tuple[str, ...],
) -> None:
    """V6 G13 Named or not, the space is known: nothing is signed for another, one or many."""
    made = proposal(concord, "propose", "set", "helper", "LIKES", "tea")
    answering(monkeypatch, forged(made, space="work"))

    result = concord("approve", *(each.format(n=made.number) for each in arguments), *named)

    assert result.exit_code == 1
    assert "is of the space 'work', and this is 'default'" in result.stderr
    monkeypatch.undo()
    assert status_of(concord, made.number) == PENDING
    concord.done("withdraw", str(made.number))


def test_a_key_by_variable_tells_its_space(other: CommandLine) -> None:
    """V6 G13 The space of a key that `up` wrote is known without being named."""
    made = proposal(other, "propose", "set", "helper", "LIKES", "tea")

    assert f"{made.number}, revision 1" in other.done("review", str(made.number))
    assert json.loads(made.canonical)["space"] == "demo"


class Swapping:
    """A server that answers every question with one proposal."""

    def __init__(self, told: proposal_pb2.Proposal) -> None:
        self.proposals = self
        self._told = told

    def GetProposal(self, _: object) -> proposal_pb2.GetProposalResponse:  # noqa: N802 - gRPC's
        """Answers with another."""
        return proposal_pb2.GetProposalResponse(status=LOOKUP_STATUS_FOUND, proposal=self._told)


@pytest.mark.parametrize(("asked", "check"), [("7", "number"), ("an-id", "id")])
def test_another_proposal_than_the_one_asked_for_is_refused(asked: str, check: str) -> None:
    """V6 A server that answers a number or id with another proposal gets no signature under it."""
    server = Swapping(proposal_pb2.Proposal(number=8, id="another-id"))
    governance = GovernanceSession(Session(None, as_json=False, environ={}), server, None)  # type: ignore[arg-type] # only what is asked

    with pytest.raises(ReviewError) as caught:
        governance.proposal(asked)

    assert caught.value.check == check


def test_the_reader_sees_how_many_others_go_along(concord: CommandLine, tmp_path: Path) -> None:
    """V6 G4 What needs no consent is not listed, but counted, on the page as in what is signed."""
    for relation in ("KEEPS", "SORTS"):
        edge = concord.reply(graph_pb2.UpsertEdgeResponse, "link", "shelf", relation, "books").edge
    etag = concord.reply(graph_pb2.GetNodeResponse, "get", "shelf").node.etag
    delete = {"request_id": "x" * 24, "id": edge.source.id, "etag": etag, "cascade": True}
    (tmp_path / "delete.json").write_text(json.dumps({"delete_node": delete}))
    made = proposal(concord, "propose", "--action", str(tmp_path / "delete.json"))

    assert (len(made.affected), made.cascaded_count) == (1, 2)
    assert "2 more, not listed, that need no consent" in concord.done("review", str(made.number))


def test_numbers_are_read_as_they_are_written(concord: CommandLine, tmp_path: Path) -> None:
    """V6 Whole doubles from 2^53 to 10^21 have no exponent in RFC 8785: they review and execute."""
    edge = {
        "source": {"name": "helper"},
        "relation": "COUNTS",
        "target": {"name": "stars"},
        "edge_type": "EDGE_TYPE_CONSTITUTIVE",
        "properties": {"numbers": [*WHOLE, *OTHER]},
    }
    action = {"upsert_edge": {"request_id": "x" * 24, "edge": edge}}
    (tmp_path / "action.json").write_text(json.dumps(action))
    made = proposal(concord, "propose", "--action", str(tmp_path / "action.json"))

    read = review(made).document["action"]["upsert_edge"]["edge"]["properties"]["numbers"]
    assert [float(number) for number in read] == [*WHOLE, *OTHER]
    assert agreed(concord, made.number).status == EXECUTED
    undo = concord.reply(proposal_pb2.UndoModificationResponse, "undo", str(made.number)).proposal
    assert agreed(concord, undo.number).status == EXECUTED


@pytest.fixture(scope="module")
def undoing(concord: CommandLine) -> proposal_pb2.Proposal:
    """An undo of the second of two changes of a constitutive memory's words."""
    made = proposal(concord, "propose", "add", "I never lie.", "--id", "vow", "--constitutive")
    for word in ("I seldom lie.", "I may lie."):
        agreed(concord, made.number)
        made = proposal(concord, "propose", "update", "vow", word)
    agreed(concord, made.number)
    reply = concord.reply(proposal_pb2.UndoModificationResponse, "undo", str(made.number))
    return reply.proposal


def test_the_review_of_an_undo_says_what_comes_back(
    concord: CommandLine, undoing: proposal_pb2.Proposal
) -> None:
    """V6 V8 The words that will hold stand on the page, and in the bytes that are signed."""
    page = concord.done("review", str(undoing.number))
    (item,) = json.loads(undoing.canonical)["affected"]

    assert "After it, as is signed:" in page
    assert (item["statement"], item["statement_after"]) == ("I may lie.", "I seldom lie.")
    assert "I seldom lie." in page.split("After it, as is signed:")[1].split("\n\n")[0]


@pytest.mark.parametrize("verb", ["review", "approve", "all-agent"])
@pytest.mark.parametrize(
    "other", [{"revision": "1"}, {"id": "creed"}, {"expected_revision": "4"}], ids=str
)
def test_an_undo_brings_back_what_its_original_changed_and_nothing_else(
    concord: CommandLine,
    undoing: proposal_pb2.Proposal,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    other: dict[str, str],
) -> None:
    """V6 V8 Another revision behind the label of an undo is found by the log, and is not signed."""
    action = json.loads(undoing.canonical)["action"]
    action["revert_items"]["items"][0] |= other
    result = proposal_pb2.Proposal()
    result.CopyFrom(undoing)
    ParseDict(action, result.action)
    result.action_digest = digests.action_digest(result.action)
    answering(monkeypatch, forged(result, action=action, action_digest=result.action_digest))
    asked = {"review": ("review", "1"), "approve": ("approve", "1", "--as", "human")}

    shown = concord(*asked.get(verb, ("approve", "--all-agent")))

    assert shown.exit_code == 1
    assert "failed the check 'undo_of'" in shown.stderr
