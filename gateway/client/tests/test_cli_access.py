"""`concord space` and `concord key`: spaces apart, and who may come in, by commands alone."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord.governance.v1 import access_pb2
from concord_client import credentials
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned, spawned
from two_signers import begun, environ_of, met, proposal

REVOKED_WITHIN = 5.0


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system whose spaces these tests make."""
    with spawned(tmp_path_factory.mktemp("access") / "data") as system:
        yield system


@pytest.fixture
def concord(running: Spawned, tmp_path: Path) -> CommandLine:
    """The owner's command line."""
    return CommandLine(environ_of(running, tmp_path))


def made_space(concord: CommandLine, name: str) -> None:
    """Makes a space and the keys of who works in it and who looks after it."""
    concord.done("space", "create", name, "--save")
    for principal, kind, scopes in (
        (f"{name}-agent", "agent", "read,write,govern"),
        (f"{name}-owner", "human", "read,write,govern,admin"),
    ):
        concord.done(
            *("key", "create", "--space", name, "--principal", principal),
            *("--kind", kind, "--scopes", scopes, "--save"),
        )


def new_key(concord: CommandLine, space: str, *options: str) -> access_pb2.CreateKeyResponse:
    """A key that is shown, and kept nowhere."""
    return concord.reply(
        access_pb2.CreateKeyResponse,
        *("key", "create", "--space", space, "--principal", "visitor", "--kind", "human"),
        *options,
    )


def holding(running: Spawned, tmp_path: Path, key: str) -> CommandLine:
    """The command line of somebody who was given a key."""
    return CommandLine(environ_of(running, tmp_path) | {"CONCORD_API_KEY": key})


def keys_of(concord: CommandLine, space: str) -> dict[str, access_pb2.Key]:
    """The keys of a space by id, ended ones too."""
    listed = concord.reply(access_pb2.ListKeysResponse, "key", "list", "--space", space, "--all")
    return {key.id: key for key in listed.keys}


def test_a_second_space_is_made_and_governed_by_commands_alone(
    concord: CommandLine, tmp_path: Path
) -> None:
    """W7 V5 A2 Its genesis, its consents and its log are its own; the other space sees none."""
    made_space(concord, "ada")
    begun(concord, "--space", "ada")
    here = ("--space", "ada")
    concord.done("add", "Ada prefers trains.", "--id", "travel", *here)
    number = proposal(
        concord, "propose", "set", "helper", "VALUES", "honesty", "--constitutive", *here
    ).number
    for slot in ("agent", "human"):
        concord.done("review", str(number), "--as", slot, *here)
        assert concord("approve", str(number), "--as", slot, *here).exit_code == 0
    log = tmp_path / "log.jsonl"
    concord.done("audit", "export", str(log), *here)

    assert "The log holds" in concord.done("audit", "verify", str(log), *here)
    entries = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    assert '"KEY_CREATE"' in log.read_text()
    assert any('"owner"' in json.dumps(entry) for entry in entries)
    assert "travel" in concord.done("list", *here)
    assert "travel" not in concord.done("list")
    assert "honesty" not in concord.done("export")
    assert "ada" in concord.done("space", "list")


def test_operations_name_the_keys_principal(concord: CommandLine) -> None:
    """W7 W8 G14 Who wrote is whose key it was, not "agent" for everybody; keys name makers."""
    made_space(concord, "named")
    concord.done("add", "Trains are punctual.", "--space", "named")
    concord.done("--act-as", "agent", "add", "Trains are late.", "--space", "named")

    operations = concord.done("operations", "--space", "named")
    assert operations.count("named-owner") == operations.count("named-agent") == 1
    makers = {key.created_by for key in keys_of(concord, "named").values()}
    head, *rows = concord.done("key", "list", "--space", "named").splitlines()
    assert "By" in head.split()
    assert all(maker in "".join(rows) for maker in makers)


def test_a_revoked_key_opens_nothing_within_five_seconds(
    running: Spawned, concord: CommandLine, tmp_path: Path
) -> None:
    """W7 Without a restart; the list shows when it was last used, and that it was revoked."""
    made = new_key(concord, "default", "--scopes", "read")
    visitor = holding(running, tmp_path, made.secret)
    visitor.done("list")
    assert visitor("add", "No.").stderr.startswith("ERROR_REASON_PERMISSION_MISSING")
    assert keys_of(concord, "default")[made.key.id].HasField("last_use_time")

    concord.done("key", "revoke", made.key.id)
    revoked = time.monotonic()
    while (found := visitor("list")).exit_code == 0:
        assert time.monotonic() - revoked < REVOKED_WITHIN + 1  # what one command takes
        time.sleep(0.1)
    assert found.stderr.startswith("ERROR_REASON_CREDENTIAL_INVALID")
    status = keys_of(concord, "default")[made.key.id].status
    assert status == access_pb2.KEY_STATUS_REVOKED


def test_a_wrong_key_is_told_what_to_do(running: Spawned, tmp_path: Path) -> None:
    """W4 W6 W7 Beside an address where nothing answers, or HTTP does, the likeliest mistake.

    Who has no other key is sent to the doctor, who says how the machine's owner gets one.
    """
    refused = holding(running, tmp_path, "ck_" + "a" * 43)("list")

    assert refused.exit_code == 1
    assert refused.stderr.startswith("ERROR_REASON_CREDENTIAL_INVALID: ")
    assert "concord key create" in refused.stderr
    assert "concord doctor" in refused.stderr


def test_a_key_expires(running: Spawned, concord: CommandLine, tmp_path: Path) -> None:
    """W7 At its time and not before, by a length of time or a date."""
    made = new_key(concord, "default", "--scopes", "read", "--expires", "2s")
    visitor = holding(running, tmp_path, made.secret)
    ends = made.key.expire_time.ToMicroseconds() / 1e6
    visitor.done("list")

    time.sleep(max(0.0, ends - time.time()))

    assert visitor("list").stderr.startswith("ERROR_REASON_CREDENTIAL_EXPIRED")
    later = new_key(concord, "default", "--scopes", "read", "--expires", "2099-01-01")
    assert later.key.expire_time.ToJsonString() == "2099-01-01T00:00:00Z"


def test_a_rotated_key_overlaps_with_the_one_it_replaces(
    running: Spawned, concord: CommandLine, tmp_path: Path
) -> None:
    """W7 Both open for the overlap; as whom and what for is the same; without one, one opens."""
    old = new_key(concord, "default", "--scopes", "read", "--origin", "tool")
    rotate = ("key", "create", "--rotate", old.key.id)
    new = concord.reply(access_pb2.CreateKeyResponse, *rotate, "--overlap", "1h")

    for each in (old, new):
        holding(running, tmp_path, each.secret).done("list")
    listed = keys_of(concord, "default")
    same = ("space", "principal", "kind", "scopes", "origin")
    assert [getattr(new.key, name) for name in same] == [getattr(old.key, name) for name in same]
    ends = listed[old.key.id].expire_time.seconds - listed[new.key.id].create_time.seconds
    assert abs(ends - 3600) <= 1


def test_who_rotates_a_key_that_expires_reads_when_the_new_one_does(concord: CommandLine) -> None:
    """W4 W7 It takes over the time of the old one, and its maker is told so."""
    old = new_key(concord, "default", "--scopes", "read", "--expires", "2099-01-01")

    assert "valid until 2099-01-01" in concord.done("key", "create", "--rotate", old.key.id)
    endless = new_key(concord, "default", "--scopes", "read")
    assert "valid until" not in concord.done("key", "create", "--rotate", endless.key.id)


def test_a_memory_says_whose_key_it_came_with(
    running: Spawned, concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """W8 The key's origin, and IMPORT for what importers bring with the same key."""
    made = new_key(concord, "default", "--scopes", "read,write", "--origin", "tool")
    visitor = holding(running, tmp_path, made.secret)
    own, read = unique("own"), unique("read")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / f"{read}.md").write_text(f"# {read}\n\nThe lighthouse is red.\n")
    visitor.done("add", f"The lighthouse {own} is white.", "--id", own)
    visitor.done("import", str(notes))

    assert "tool" in visitor.done("get", own)
    assert own in visitor.done("list", "--origin", "tool")
    imported = visitor.done("list", "--origin", "import")
    assert "The lighthouse is red." in imported
    assert own not in imported


def test_who_works_in_a_space_makes_no_keys(running: Spawned) -> None:
    """W7 The agent's key reads, writes and governs; keys and spaces are its owner's."""
    agent = credentials.read(running.data / credentials.FILE_NAME).keys["default"]
    mine = CommandLine(running.environ | {"CONCORD_API_KEY": agent})

    for command in (
        ("key", "list"),
        ("key", "create", "--principal", "x", "--kind", "human", "--scopes", "read"),
        ("space", "list"),
        ("space", "create", "mine"),
    ):
        refused = mine(*command)
        assert refused.stderr.startswith("ERROR_REASON_PERMISSION_MISSING"), command
    mine.done("list")


def test_what_cannot_be_meant_is_refused_before_it_is_sent(concord: CommandLine) -> None:
    """W4 Exit status 2 and a sentence; nothing is made."""
    who = ("--principal", "x", "--kind", "human")
    for options in (
        (*who, "--scopes", "everything"),
        (*who, "--scopes", "read", "--overlap", "1h"),
        (*who, "--scopes", "read", "--rotate", "0123456789ab"),
        (*who, "--scopes", "read", "--expires", "soon"),
        (),
    ):
        assert concord("key", "create", *options).exit_code == 2, options


def test_a_space_is_deleted_by_who_types_its_name(concord: CommandLine) -> None:
    """W7 Without a genesis the operator decides; its keys open nothing, its name is used up."""
    made_space(concord, "brief")
    concord.done("add", "Soon gone.", "--space", "brief")
    refused = concord("space", "delete", "brief", "--typed", "brie")
    assert refused.exit_code == 1
    assert "Nothing was deleted" in refused.stderr

    assert concord("space", "delete", "brief", "--typed", "brief").exit_code == 0

    spaces = concord.reply(access_pb2.ListSpacesResponse, "space", "list").spaces
    assert "brief" not in {space.name for space in spaces}
    assert concord("space", "create", "brief").stderr.startswith("ERROR_REASON_ITEM_EXISTS")
    statuses = {key.status for key in keys_of(concord, "brief").values()}
    assert statuses == {access_pb2.KEY_STATUS_REVOKED}


def test_a_space_with_a_genesis_is_deleted_by_both_slots(
    concord: CommandLine, tmp_path: Path
) -> None:
    """W7 Each signs where its key is; one signature, or another space's, deletes nothing."""
    for name in ("theirs", "other"):
        made_space(concord, name)
    begun(concord, "--space", "theirs")
    met(concord, "--space", "other")
    concord.done("principal", "enrol", "--space", "other")
    half, both, alien = tmp_path / "half", tmp_path / "both", tmp_path / "alien"
    sign = ("space", "delete", "theirs", "--sign-only")
    half.write_text(concord(*sign, "agent").stdout)
    alien.write_text(concord("space", "delete", "other", "--sign-only", "agent").stdout)
    delete = ("space", "delete", "theirs", "--typed", "theirs", "--statement")

    refused = concord(*delete, str(half))
    assert refused.stderr.startswith("ERROR_REASON_DELETION_INVALID")
    refused = concord(*sign, "human", "--join", str(alien))
    assert "signed something else" in refused.stderr
    both.write_text(concord(*sign, "human", "--join", str(half)).stdout)
    assert concord(*delete, str(both)).exit_code == 0
    # with both keys in one place, one command does
    assert concord("space", "delete", "other", "--typed", "other").exit_code == 0


def test_before_the_genesis_the_owners_key_decides_what_is_descriptive(
    concord: CommandLine, tmp_path: Path
) -> None:
    """V5 W4 `approve N` and `reject N` need no principal's key there, and say what is constitutive
    waits for; the log names the owner and verifies; after the genesis they ask whose key signs."""
    made_space(concord, "early")
    early = ("--space", "early")
    met(concord, *early)
    likes = ("propose", "set", "helper", "LIKES")
    tea, gin, ale = (proposal(concord, *likes, each, *early) for each in ("tea", "gin", "ale"))
    both = proposal(concord, *likes, "truth", "--constitutive", *early)

    concord.done("review", str(tea.number), *early)
    approved = concord.done("approve", str(tea.number), "--digest", tea.digest, *early)
    other = concord("approve", str(gin.number), "--digest", tea.digest, *early)
    rejected = concord.done("reject", str(gin.number), "--reason", "It is tea.", *early)
    refused = concord("approve", str(both.number), *early)

    assert f"Proposal {tea.number}: executed" in approved
    assert other.exit_code == 1
    assert "Nothing was decided" in other.stderr
    assert f"Proposal {gin.number}: rejected" in rejected
    assert refused.stderr.startswith("ERROR_REASON_GENESIS_MISSING")
    assert "concord principal enrol" in refused.stderr
    log = concord.done("audit", "log", *early)
    assert "settle" in log
    assert "early-owner" in log
    concord.done("principal", "create", "--slot", "agent", "--name", "helper")
    concord.done("principal", "create", "--slot", "human", "--name", "ada")
    concord.done("principal", "enrol", *early)
    late = concord("approve", str(ale.number), *early)
    assert late.exit_code == 1
    assert "--as agent" in late.stderr
    concord.done("audit", "export", str(tmp_path / "log"), *early)
    assert "The log holds" in concord.done("audit", "verify", str(tmp_path / "log"), *early)


def test_keys_that_append_or_change_their_own_say_what_to_ask(
    concord: CommandLine, running: Spawned, tmp_path: Path
) -> None:
    """W7 W9 W4 Of each write that is more: whom to ask, or with which key; nothing is done."""
    made_space(concord, "reach")
    here = ("--space", "reach")
    keys = {
        scope: concord.reply(
            access_pb2.CreateKeyResponse,
            *("key", "create", *here, "--principal", "bot", "--kind", "agent"),
            *("--scopes", f"read,{scope}"),
        )
        for scope in ("append", "own", "write")
    }
    appends, owns, writes = (holding(running, tmp_path, key.secret) for key in keys.values())
    concord.done("add", "The lock is open.", "--id", "lock", *here)
    appends.done("add", "The lock is shut.", "--id", "mine")

    said = appends.done("forget", "mine")
    number = said.partition(":")[0].removeprefix("Claim ")
    assert f"accept it with a key that may write: concord claim accept {number}" in said
    for calls in (appends, owns):
        assert "would forget lock of reach-owner's; ask its owner" in calls.done("forget", "lock")
    refused = appends("claim", "accept", number).stderr
    assert refused.startswith("ERROR_REASON_PERMISSION_MISSING")
    assert "but only memory:append: ask somebody whose key may write" in refused
    assert "Updated mine" in owns.done("update", "mine", "--content", "The lock is ajar.")
    assert "mine" in writes.done("list")
    listed = concord.done("key", "list", *here)
    assert "read, append" in listed
    assert "read, own" in listed
