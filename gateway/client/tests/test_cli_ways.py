"""No dead ends: what is refused says how else, before anything was signed or written (V1, V6)."""

import json
from pathlib import Path

import grpc
import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1.governed_pb2 import GovernedAction
from concord.type.v1 import type_pb2
from concord_client.cli.errors import error_report
from concord_client.cli.governance import action_file
from concord_client.cli.render import failure_words, proposal_page
from concord_client.cli.render.page import show
from concord_client.refusal import Refused
from concord_testing.command_line import CommandLine
from two_signers import agreed, proposal

STATUS = proposal_pb2.ProposalStatus


@pytest.fixture(scope="module")
def concord(signers: CommandLine) -> CommandLine:
    """The command line of both principals."""
    return signers


@pytest.mark.parametrize("verb", [("approve",), ("reject", "--reason", "not so")])
def test_who_has_no_say_is_told_before_they_sign(
    concord: CommandLine, home: Path, verb: tuple[str, ...]
) -> None:
    """V6 V7 What the agent decides alone is not signed in the human's name, nor kept as given."""
    made = proposal(concord, "propose", "set", "helper", "LIKES", f"tea {verb[0]}")
    concord.done("review", str(made.number))

    result = concord(*verb, str(made.number), "--as", "human")

    assert result.exit_code == 1
    assert result.stderr.startswith("ERROR_REASON_SLOT_NOT_REQUIRED: ")
    assert "the agent's alone to decide" in result.stderr
    assert "These bytes are signed" not in result.output
    kept = json.loads((home / "state.json").read_text())["systems"]
    assert kept
    assert not [each for each in kept if made.id in each["consents"]]


def test_both_exports_take_their_file_in_the_same_ways(
    concord: CommandLine, tmp_path: Path
) -> None:
    """T2 A2 Behind the command or after --out; without one, standard output; never two."""
    for words in (("export",), ("audit", "export")):
        behind, after = tmp_path / f"{words[0]}-1", tmp_path / f"{words[0]}-2"
        assert concord(*words, str(behind)).exit_code == 0
        assert concord(*words, "--out", str(after)).exit_code == 0
        printed = concord.done(*words)
        twice = concord(*words, str(behind), "--out", str(after))

        assert behind.read_text() == after.read_text() == printed
        assert twice.exit_code == 2
        assert "name the file once" in twice.stderr


def test_the_form_of_an_action_is_told_with_an_example_that_works(
    concord: CommandLine, tmp_path: Path
) -> None:
    """V1 W4 What `propose --help` shows is proposed as it stands, but for the etag."""
    added = proposal(concord, "propose", "add", "I am kind.", "--id", "creed", "--constitutive")
    agreed(concord, added.number)
    etag = json.loads(concord.done("get", "creed", "--json"))["memory"]["etag"]
    file = tmp_path / "action.json"
    file.write_text(action_file.EXAMPLE.replace("ETAG", etag))

    made = proposal(concord, "propose", "--action", str(file))
    after = agreed(concord, made.number)

    assert after.status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert len(made.action.update_memory.request_id) >= 22
    help_page = " ".join(concord.done("propose", "--help").split())
    assert action_file.EXAMPLE in help_page


@pytest.mark.parametrize("content", ["{}", "[]", '{"delete_all": {}}', "delete"])
def test_another_form_is_refused_with_the_way_to_see_it(
    concord: CommandLine, tmp_path: Path, content: str
) -> None:
    """V1 W4 One sentence, and where the form is told."""
    (tmp_path / "action.json").write_text(content)

    result = concord("propose", "--action", str(tmp_path / "action.json"))

    assert result.exit_code == 1
    assert "Its form: concord propose --help" in result.stderr


def test_every_action_that_a_file_may_hold_is_named() -> None:
    """V1 All of the contract's, but the two that have commands of their own."""
    own = {"revert_items", "change_key"}  # `concord undo`, `concord principal rotate`

    named = set(action_file.ACTIONS.split(", "))

    assert named == set(GovernedAction.DESCRIPTOR.fields_by_name) - own


def test_a_memory_is_not_deleted_by_proposal(concord: CommandLine) -> None:
    """V1 W4 The sentence names the commands that there are for one."""
    concord.done("add", "Rain falls.", "--id", "rain")

    result = concord("propose", "delete", "rain")
    unlike = concord("propose", "rename", "rain", "snow")

    assert (result.exit_code, unlike.exit_code) == (1, 1)
    assert "concord propose forget, or erase" in result.stderr
    assert "no node 'rain'" in unlike.stderr


WORDS = {
    "ERROR_REASON_CONSENT_INVALID": "a consent does not hold",
    "ERROR_REASON_CONSENT_INVALID: signature": (
        "a consent does not hold: it is not signed with a key that counts now"
    ),
    "ERROR_REASON_CONSENT_INVALID HUMAN expiry": "a consent does not hold (HUMAN): it had run out",
    "ERROR_REASON_GRANT_INVALID (etags)": (
        "the grant made of the consents does not hold: "
        "an item is at another version than the one that was signed"
    ),
    "ERROR_REASON_KEY_INVALID retired_key": (
        "the change of a key does not hold: its key was retired before, or its slot is closed "
        "since a backup was restored: `concord principal rotate --slot SLOT --key FILE`, with the "
        "newer key's file, opens it"
    ),
    "ERROR_REASON_ITEM_NOT_FOUND": "item not found",
    "not so": "not so",
    "": "",
}


@pytest.mark.parametrize(("told", "words"), WORDS.items())
def test_a_failure_is_told_in_words(told: str, words: str) -> None:
    """V6 No name of the contract's, and the check where governance tells it."""
    assert failure_words.in_words(told) == words


def test_a_refusal_while_a_slot_is_closed_says_what_opens_it() -> None:
    """V5 W4 Also where another slot's new key is refused for it."""
    refused = Refused(
        grpc.StatusCode.FAILED_PRECONDITION,
        "ERROR_REASON_KEY_INVALID",
        "the change of a key failed the check 'retired_key'",
        metadata={"check": "retired_key"},
    )

    said = error_report(refused)

    assert "until it has its newer key back, no other key is taken for any slot" in said
    assert "concord principal rotate --slot SLOT --key FILE" in said


def test_a_page_of_what_failed_names_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    """V6 A failed proposal, an entry of the log; a rejection says what its giver wrote."""
    reason = "ERROR_REASON_GRANT_INVALID: nonce"
    failed = proposal_pb2.Proposal(
        status=STATUS.PROPOSAL_STATUS_FAILED,
        failure_reason="ERROR_REASON_CONSENT_INVALID",
        failed_check="signature",
        failed_slot=type_pb2.SLOT_HUMAN,
    )
    rejected = proposal_pb2.Proposal(status=STATUS.PROPOSAL_STATUS_REJECTED, resolution=reason)
    entry = audit_pb2.AuditEntry(blocked=True, reason=reason)

    show(proposal_page.logged(audit_pb2.ListAuditEntriesResponse(entries=[entry])))

    assert proposal_page.why(failed).endswith(" (check: HUMAN signature)")
    assert proposal_page.why(rejected) == reason
    assert "it was used or taken back before" in capsys.readouterr().out


def test_the_log_says_which_key_or_space_a_command_was_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """W7 A1 Operators see in `concord audit log` which key was made, which space was deleted."""
    said = {
        audit_pb2.AUDIT_ACTION_KEY_CREATE: b'{"key": "0123456789ab", "space": "work"}',
        audit_pb2.AUDIT_ACTION_SPACE_DELETE: b'{"space": "play"}',
        audit_pb2.AUDIT_ACTION_KEY_REVOKE: b'{"detail": "permission"}',
    }
    entries = [
        audit_pb2.AuditEntry(action=action, leaf=b'{"properties": ' + properties + b"}")
        for action, properties in said.items()
    ]

    show(proposal_page.logged(audit_pb2.ListAuditEntriesResponse(entries=entries)))

    printed = capsys.readouterr().out
    assert "key create    0123456789ab" in printed
    assert "space delete  play" in printed


def test_a_briefing_names_the_conflict_that_waits_for_a_review(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """D5 V9 A review is of a conflict, so its id stands there; a proposal says who is to sign."""
    review = proposal_pb2.BriefingLine(
        number=7, kind=proposal_pb2.PROPOSAL_KIND_RECLASSIFY, conflict_id="c-1"
    )

    reply = proposal_pb2.GetBriefingResponse(reviews=[review], review_count=1)
    show(*proposal_page.briefed(reply))

    shown = capsys.readouterr().out
    assert "0 proposals waiting" in shown
    assert "1 conflict for the agent to review" in shown
    assert "c-1" in shown
    assert "more" not in shown
    reply.review_count = 1_201
    show(*proposal_page.briefed(reply))
    assert "and 1,200 more: concord proposals --status pending_review" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        (
            ["list", "--page-token", "abc"],
            "PAGE_TOKEN_INVALID: The page token was not made by this query.",
        ),
        (
            ["add", "Supersedes: [[memory:!!]]"],
            "LINK_MALFORMED: memory.content: not a memory id: [[memory:!!]]",
        ),
        (
            ["key", "create", "--principal", "governance", "--kind", "human", "--scopes", "read"],
            "RESERVED_NAME: principal: This name is one of Concord's own.",
        ),
    ],
)
def test_a_refusal_in_other_words_than_its_violation_is_told_once(
    concord: CommandLine, arguments: list[str], report: str
) -> None:
    """W4 The field stands before a message that has the violation's words and does not name it."""
    assert concord(*arguments).stderr == f"ERROR_REASON_{report}\n"
