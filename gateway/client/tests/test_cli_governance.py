"""Governance from the user's side: keys, genesis, consent and undo, through a real system."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from concord.governance.v1 import principal_pb2, proposal_pb2
from concord.graph.v1 import conflict_pb2, graph_pb2
from concord_client import connect
from concord_client.trust import keyfiles
from concord_client.trust.review import ReviewError, review
from concord_testing.command_line import CommandLine
from concord_testing.up_process import COMMAND, Spawned, clean_environ, spawned
from two_signers import (
    PASSPHRASE,
    agreed,
    approved,
    enrolled,
    environ_of,
    met,
    parsed,
    proposal,
    typed,
)

STATUS = proposal_pb2.ProposalStatus


@pytest.fixture(scope="module")
def governed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system whose spaces these tests govern."""
    with spawned(tmp_path_factory.mktemp("governed") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the user's keys and memory of the system are kept."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def environ(governed: Spawned, home: Path) -> dict[str, str]:
    """What a user's commands run with."""
    return environ_of(governed, home)


@pytest.fixture(scope="module")
def concord(environ: dict[str, str]) -> CommandLine:
    """The command line of somebody who holds both keys and has enrolled them."""
    return enrolled(environ)


def state(concord: CommandLine) -> str:
    """The space's state export."""
    return concord.done("export")


def test_what_defines_the_agent_is_refused_with_the_way_to_propose_it(concord: CommandLine) -> None:
    """G4 W4 The direct commands fail with the typed reason, and name the command that may work."""
    number = proposal(
        concord, "propose", "set", "hinted", "VALUES", "truth", "--constitutive"
    ).number
    agreed(concord, number)
    (edge,) = concord.reply(graph_pb2.ListEdgesResponse, *LIST_OF_HINTED).edges
    text = ("propose", "add", "I am hinted.", "--id", "hinted-memory", "--constitutive")
    number = proposal(concord, *text).number
    agreed(concord, number)

    for arguments, hint in (
        (["delete", edge.id], f"concord propose delete {edge.id}"),
        (["delete", "hinted", "--cascade"], "concord propose delete "),
        (["update", edge.id, "--weight", "0.1"], f"concord propose change {edge.id}"),
        (["update", edge.id, "--importance", "low"], "concord propose --action FILE"),
        (["update", "hinted", "--name", "other"], "concord propose rename "),
        (["update", "hinted", "--label", "other"], "concord propose --action FILE"),
        (
            ["update", "hinted-memory", "--content", "x"],
            "concord propose update hinted-memory TEXT",
        ),
        (["update", "hinted-memory", "--tag", "x"], "concord propose --action FILE"),
        (["forget", "hinted-memory"], "concord propose forget hinted-memory"),
        (["erase", "hinted-memory", "--yes"], "concord propose erase hinted-memory"),
    ):
        refused = concord(*arguments)
        assert refused.exit_code == 1
        assert refused.stderr.startswith("ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"), arguments
        assert hint in refused.stderr


LIST_OF_HINTED = ("list", "--edges", "--type", "constitutive", "--relation", "VALUES")


def test_keys_are_their_owners_alone_and_a_humans_is_locked(
    concord: CommandLine, home: Path
) -> None:
    """V5 Mode 0600, outside the data directory; the HUMAN key opens with its passphrase alone."""
    agent, human = (
        keyfiles.read(home / "config" / "concord" / f"{s}.key") for s in ("agent", "human")
    )

    assert [stat.S_IMODE(file.path.stat().st_mode) for file in (agent, human)] == [0o600, 0o600]
    assert (agent.is_locked, human.is_locked) == (False, True)
    assert keyfiles.open_key(human, lambda: PASSPHRASE).public_key == human.public_key
    with pytest.raises(keyfiles.KeyFileError, match="does not open"):
        keyfiles.open_key(human, lambda: "another passphrase")
    shown = concord.reply(principal_pb2.GetPrincipalsResponse, "principal", "show")
    assert [each.public_key for each in shown.slots] == [agent.public_key, human.public_key]


def test_a_key_is_refused_where_a_server_reads(concord: CommandLine, governed: Spawned) -> None:
    """V5 W6 Inside a data directory, known by its variable or by its looks, no key is made."""
    result = concord(
        *("principal", "create", "--slot", "human", "--name", "eve"),
        *("--out", str(governed.data / "keys" / "human.key")),
    )

    assert result.exit_code == 1
    assert "inside the data directory" in result.stderr
    assert not (governed.data / "keys" / "human.key").exists()


def test_a_humans_key_wants_a_passphrase(environ: dict[str, str], tmp_path: Path) -> None:
    """V5 Without a terminal, variable or descriptor there is none, and a short one is refused."""
    create = (
        "principal",
        "create",
        "--slot",
        "human",
        "--name",
        "eve",
        "--out",
        str(tmp_path / "k"),
    )
    none = CommandLine({k: v for k, v in environ.items() if k != "CONCORD_PASSPHRASE"})(*create)
    short = CommandLine(environ | {"CONCORD_PASSPHRASE": "short"})(*create)

    assert (none.exit_code, short.exit_code) == (1, 1)
    assert "run this on a terminal" in none.stderr
    assert "12 characters" in short.stderr
    assert not (tmp_path / "k").exists()


def test_the_passphrase_is_asked_twice_without_an_echo(tmp_path: Path) -> None:
    """V5 On a terminal: nothing typed shows, and two different ones make nothing."""
    environ = clean_environ() | {"XDG_CONFIG_HOME": str(tmp_path)}
    create = ("principal", "create", "--slot", "human", "--name", "ada")

    differing = typed(environ, [PASSPHRASE, "another passphrase"], *create)
    assert differing[0] == 1
    assert not list(tmp_path.rglob("*.key"))
    status, screen = typed(environ, [PASSPHRASE, PASSPHRASE], *create)

    assert status == 0, screen
    assert PASSPHRASE not in screen
    assert "Again:" in screen
    made = keyfiles.read(tmp_path / "concord" / "human.key")
    assert keyfiles.open_key(made, lambda: PASSPHRASE).principal == "ada"


def test_the_passphrase_comes_through_a_descriptor(environ: dict[str, str], home: Path) -> None:
    """V5 A script hands it over without an argument or a variable."""
    reading, writing = os.pipe()
    os.write(writing, f"{PASSPHRASE}\n".encode())
    os.close(writing)
    bare = {name: value for name, value in environ.items() if name != "CONCORD_PASSPHRASE"}
    out = home / "by-descriptor.key"
    done = subprocess.run(
        [
            *(*COMMAND, "principal", "create", "--slot", "human", "--name", "eve"),
            *("--out", str(out), "--passphrase-fd", str(reading)),
        ],
        env=bare,
        pass_fds=[reading],
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(reading)

    assert done.returncode == 0, done.stderr
    assert keyfiles.open_key(keyfiles.read(out), lambda: PASSPHRASE).principal == "eve"


def test_two_signatures_change_who_the_agent_is_and_two_undo_it(concord: CommandLine) -> None:
    """V6 V8 V9 Agent signs: nothing. Human signs: done. Undone with both: the same export."""
    before = state(concord)
    made = proposal(concord, "propose", "set", "helper", "VALUES", "honesty", "--constitutive")
    after_one = approved(concord, made.number, "agent")
    assert after_one.status == STATUS.PROPOSAL_STATUS_PENDING
    assert state(concord) == before
    briefing = concord.done("briefing")
    assert "human" in briefing

    assert approved(concord, made.number, "human").status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert "honesty" in state(concord)
    undo = concord.reply(proposal_pb2.UndoModificationResponse, "undo", str(made.number)).proposal
    assert agreed(concord, undo.number).status == STATUS.PROPOSAL_STATUS_EXECUTED

    assert state(concord) == before


def test_an_open_conflict_is_in_the_briefing_and_can_be_proposed_about(
    governed: Spawned, concord: CommandLine, tmp_path: Path
) -> None:
    """D5 V1 V9 W4 What contradicts by somebody's word is listed, and a review shows both sides."""
    for name, text in (("linz", "Ada lives in Linz."), ("graz", "Ada lives in Graz.")):
        concord.done("add", text, "--id", name)
    concord.done("link", "memory:linz", "CONTRADICTS", "memory:graz")

    briefing = concord.done("briefing")

    assert "Open conflicts: 0 potential, 1 confirmed" in briefing
    waits = concord.reply(proposal_pb2.GetBriefingResponse, "briefing")
    (line,) = waits.conflicts
    assert {line.first_statement, line.second_statement} == {
        "Ada lives in Linz.",
        "Ada lives in Graz.",
    }
    keys = json.loads((governed.data / "credentials.json").read_text())["keys"]
    with connect(governed.url, keys["default"]) as client:
        request = conflict_pb2.GetConflictRequest(id=line.conflict_id)
        found = client.conflict.GetConflict(request).conflict
    dismissal = {
        "conflict_id": found.id,
        "etag": found.etag,
        "decision": "REVIEW_DECISION_DISMISS",
    }
    asked = tmp_path / "dismiss.json"
    asked.write_text(json.dumps({"review_conflict": dismissal}))
    made = proposal(concord, "propose", "--action", str(asked))
    shown = concord.done("review", str(made.number))
    assert "contradiction, confirmed: Ada lives in" in " ".join(shown.split())
    assert "the dismissal of a conflict" in " ".join(shown.split())


def test_review_shows_the_very_bytes(concord: CommandLine) -> None:
    """V6 The canonical bytes stand on the page as they are, with the digest made here."""
    made = proposal(
        concord, "propose", "add", "I keep confidences.", "--id", "keeps", "--constitutive"
    )
    page = concord.done("review", str(made.number))
    result = json.loads(concord.done("review", made.id, "--json"))

    assert made.canonical.decode() in page
    assert f"{made.digest} = SHA-256 of these bytes" in page
    assert result["canonical"] == made.canonical.decode()
    assert result["consent"]["action_digest"] == made.action_digest
    assert result["consent"]["proposal_id"] == made.id


def test_a_consent_can_be_taken_back_and_a_proposal_ended(concord: CommandLine) -> None:
    """V6 V7 Revoked by its giver, rejected by one slot with a reason, withdrawn by its proposer."""
    made = proposal(concord, "propose", "set", "helper", "VALUES", "care", "--constitutive")
    number = str(made.number)
    approved(concord, made.number, "agent")
    revoked = concord.reply(proposal_pb2.RevokeConsentResponse, "revoke", number, "--as", "agent")
    assert [each.revoked for each in revoked.proposal.consents] == [True]
    never_given = concord("revoke", number, "--as", "human")
    assert "was given from here" in never_given.stderr

    concord.done("review", number)
    rejected = concord.reply(
        *(proposal_pb2.RejectProposalResponse, "reject", number, "--as", "human"),
        *("--reason", "not so"),
    )
    other = proposal(concord, "propose", "set", "helper", "LIKES", "tea")
    withdrawn = concord.reply(proposal_pb2.WithdrawProposalResponse, "withdraw", str(other.number))

    assert rejected.proposal.status == STATUS.PROPOSAL_STATUS_REJECTED
    assert rejected.proposal.resolution == "not so"
    assert withdrawn.proposal.status == STATUS.PROPOSAL_STATUS_WITHDRAWN


def test_the_agent_approves_its_own_all_at_once(concord: CommandLine) -> None:
    """V7 `--all-agent`: a dry run changes nothing; what both must agree to is left alone, and so is
    what nobody opened, whoever did."""
    mine = [
        proposal(concord, "propose", "set", "helper", "LIKES", what) for what in ("tea", "jazz")
    ]
    unopened = proposal(concord, "propose", "set", "helper", "LIKES", "chess")
    both = proposal(concord, "propose", "set", "helper", "VALUES", "calm", "--constitutive")
    for made, slot in zip((*mine, both), ("agent", "human", "human"), strict=True):
        concord.done("review", str(made.number), "--as", slot)

    dry = concord.done("approve", "--all-agent", "--dry-run")
    would_be = {int(number) for number in re.findall(r"^ *(\d+)  executed", dry, re.M)}
    (left_out,) = re.findall(r"^(\d+) proposals? left out that nobody opened", dry, re.M)
    assert would_be >= {each.number for each in mine}
    assert not would_be & {both.number, unopened.number}
    assert "LIKES" not in state(concord)
    done = json.loads(concord.done("approve", "--all-agent", "--json"))

    assert done["unopenedCount"] == int(left_out) > 0
    assert state(concord).count("LIKES") == len(mine)
    found = concord.reply(proposal_pb2.ListProposalsResponse, "proposals", "--status", "pending")
    assert {both.number, unopened.number} <= {each.number for each in found.proposals}
    concord.done("withdraw", str(unopened.number))


def test_every_common_action_can_be_proposed(concord: CommandLine, tmp_path: Path) -> None:
    """V1 W4 Edges and memories, made, changed, promoted, demoted, forgotten, restored, linked."""

    def done(*arguments: str) -> proposal_pb2.Proposal:
        made = proposal(concord, "propose", *arguments)
        after = approved(concord, made.number, "agent")
        if after.status == STATUS.PROPOSAL_STATUS_PENDING:
            after = approved(concord, made.number, "human")
        assert after.status == STATUS.PROPOSAL_STATUS_EXECUTED, after.failure_reason
        return made

    done("add", "Rivers flow.", "--id", "m1")
    done("add", "Rivers flow to the sea.", "--id", "m2")
    done("update", "m1", "Rivers run.")
    done("promote", "memory:m1")
    done("demote", "m1")
    done("forget", "m1")
    done("restore", "m1")
    done("link", "memory:m2", "AMENDS", "memory:m1", "--context", "where to")
    done("set", "river", "ENDS_IN", "sea", "--property", "deep=true")
    linked = concord.reply(graph_pb2.UpsertEdgeResponse, "link", "river", "ENDS_IN", "sea")
    edge_id = linked.edge.id
    done("change", edge_id, "--weight", "0.5")
    done("promote", edge_id)
    done("delete", edge_id)
    done("set", "brook", "ENDS_IN", "river", "--constitutive")
    done("rename", "brook", "stream")
    done("delete", "stream", "--cascade")
    done("add", "Ponds stand.", "--id", "m3", "--constitutive")
    done("erase", "m3", "--reason", "asked for")
    assert concord("get", "m3").stdout.startswith("(erased)") or "erased" in concord.done(
        "get", "m3"
    )
    assert not {"brook", "stream"} & set(state(concord).split('"'))
    action = {
        "upsert_edge": {"edge": {"source": {"name": "a"}, "relation": "R", "target": {"name": "b"}}}
    }
    (tmp_path / "action.json").write_text(json.dumps(action))
    made = proposal(concord, "propose", "--action", str(tmp_path / "action.json"))

    assert made.kind == proposal_pb2.PROPOSAL_KIND_ADD
    assert "ENDS_IN" not in state(concord)
    assert (
        concord("propose", "--action", str(tmp_path / "action.json"), "forget", "m1").exit_code == 2
    )


def test_a_key_is_replaced_with_both_consents(concord: CommandLine, home: Path) -> None:
    """V5 After the rotation the old key speaks for nobody; the new one is found by itself."""
    result = concord("principal", "rotate", "--slot", "agent", "--json")
    made = parsed(result.stdout)
    assert made.kind == proposal_pb2.PROPOSAL_KIND_CHANGE_KEY
    agreed(concord, made.number)
    folder = home / "config" / "concord"
    other = proposal(concord, "propose", "set", "helper", "LIKES", "rain")

    old = concord("approve", str(other.number), "--as", "agent", "--key", str(folder / "agent.key"))

    assert old.exit_code == 1
    assert "does not hold a key that speaks for AGENT" in old.stderr
    assert approved(concord, other.number, "agent").status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (folder / "agent-2.key").exists()


def test_a_further_key_is_added_and_taken_back(
    concord: CommandLine, home: Path, tmp_path: Path
) -> None:
    """V5 W5 Each key signs by itself, the list says whose device it is on, and the one that is
    retired speaks for nobody."""
    further, text = tmp_path / "laptop.key", _agents_key(concord)
    files = map(keyfiles.read, (home / "config" / "concord").glob("agent*.key"))
    first = next(str(file.path) for file in files if keyfiles.encoded(file.public_key) == text)
    added = concord(
        *("principal", "add", "--slot", "agent", "--label", "laptop"),
        *("--out", str(further), "--json"),
    )
    made = parsed(added.stdout)
    assert made.kind == proposal_pb2.PROPOSAL_KIND_CHANGE_KEY
    agreed(concord, made.number)
    shown = concord.done("principal", "show")
    assert "'laptop'" in shown
    for target, file in (("sun", str(further)), ("wind", first)):
        one = proposal(concord, "propose", "set", "helper", "LIKES", target)
        concord.done("review", str(one.number), "--as", "agent")
        concord.done("approve", str(one.number), "--as", "agent", "--key", file)
    unnamed = concord("principal", "rotate", "--slot", "agent", "--out", str(tmp_path / "x.key"))
    assert unnamed.exit_code == 1
    assert "Name one key of helper" in unnamed.stderr

    gone = parsed(concord.done("principal", "retire", "--slot", "agent", "laptop", "--json"))
    agreed(concord, gone.number)
    other = proposal(concord, "propose", "set", "helper", "LIKES", "snow")
    refused = concord("approve", str(other.number), "--as", "agent", "--key", str(further))
    assert refused.exit_code == 1
    assert "does not hold a key that speaks for AGENT" in refused.stderr
    assert approved(concord, other.number, "agent").status == STATUS.PROPOSAL_STATUS_EXECUTED
    alone = concord("principal", "retire", "--slot", "agent", text)
    assert alone.exit_code == 1
    assert "does not hold a key" in alone.stderr


def _agents_key(concord: CommandLine) -> str:
    """The text of the agent's one key, as the list prints it."""
    (line,) = (each for each in concord.done("principal", "show").splitlines() if "helper=" in each)
    return line.partition("helper=")[2].split()[0]


def test_keys_on_two_machines_enrol_in_two_steps(governed: Spawned, tmp_path: Path) -> None:
    """V5 One signs and hands on the record; the other checks it, signs it too, and enrols."""
    one, two = (
        CommandLine(
            governed.environ
            | {
                "XDG_CONFIG_HOME": str(tmp_path / name),
                "CONCORD_STATE": str(tmp_path / f"{name}.json"),
                "CONCORD_PASSPHRASE": PASSPHRASE,
            }
        )
        for name in ("one", "two")
    )
    one.done("principal", "create", "--slot", "agent", "--name", "helper")
    card = json.loads(two.done("principal", "create", "--slot", "human", "--name", "ada", "--json"))
    peer = f"{card['principal']}={card['publicKey']}"
    met(one, "--space", "demo")
    half = one.done("principal", "enrol", "--sign-only", "agent", "--peer", peer, "--space", "demo")
    (tmp_path / "half.json").write_text(half)
    join = ("principal", "enrol", "--join", str(tmp_path / "half.json"))

    elsewhere = two(*join, "--space", "default")
    assert "something else about: space" in elsewhere.stderr
    enrolled = two.reply(principal_pb2.GetPrincipalsResponse, *join, "--space", "demo")

    assert [each.principal for each in enrolled.slots] == ["helper", "ada"]
    again = two(*join, "--space", "demo")
    assert "ERROR_REASON_GENESIS_EXISTS" in again.stderr


def test_a_proposal_that_is_not_what_its_bytes_say_is_not_signed(concord: CommandLine) -> None:
    """V6 Whatever the server says beside the bytes, or puts into them, is held against the rest."""
    made = proposal(concord, "propose", "set", "helper", "VALUES", "truth", "--constitutive")
    lies: dict[str, Callable[[proposal_pb2.Proposal], object]] = {
        "digest": lambda told: setattr(told, "digest", "0" * 64),
        "canonical": lambda told: rewrite(told, told.canonical + b" "),
        "action_digest": lambda told: rewrite(told, told.canonical.replace(b"truth", b"power")),
        "number": lambda told: setattr(told, "number", told.number + 1),
        "approval_level": lambda told: setattr(told, "approval_level", 1),
        "kind": lambda told: setattr(told, "kind", proposal_pb2.PROPOSAL_KIND_UNDO),
        "policy_digest": lambda told: setattr(told, "policy_digest", "0" * 64),
        "trigger": lambda told: setattr(told, "trigger", proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE),
        "framing": lambda told: setattr(told.framing, "neutral_summary", "Nothing much."),
        "affected": lambda told: told.ClearField("affected"),
        "note": lambda told: setattr(told, "note", "Nothing much."),
        "erased": lambda told: told.ClearField("canonical"),
    }

    assert review(made).document["action_digest"] == made.action_digest
    for check, lie in lies.items():
        told = proposal_pb2.Proposal()
        told.CopyFrom(made)
        lie(told)
        with pytest.raises(ReviewError) as caught:
            review(told)
        assert caught.value.check == check


def rewrite(told: proposal_pb2.Proposal, canonical: bytes) -> None:
    """Puts other bytes into a proposal, with the digest that fits them."""
    told.canonical = canonical
    told.digest = sha256(canonical).hexdigest()
