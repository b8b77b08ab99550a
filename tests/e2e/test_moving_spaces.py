"""A space moves, from the command line, and search finds it where it has come to."""

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from concord.governance.v1 import principal_pb2
from concord.graph.v1 import governed_pb2, memory_pb2, space_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import Client
from concord_client.credentials import Target, read
from concord_client.transfer import read_export
from concord_client.trust import signing
from concord_testing.command_line import CommandLine
from concord_testing.up_process import Spawned, spawned
from running_system import add, found

TEXTS = {
    "old": "The office is in Hamburg.",
    "new": "The office is in Bremen.\n\nSupersedes: [[memory:old]]",
    "tea": "Tea is at four.",
}
HOUR = timedelta(hours=1)


def furnish(client: Client) -> None:
    """Remember some texts, and forget one."""
    for memory_id, content in TEXTS.items():
        add(client, memory_id, content)
    memory = type_pb2.Memory(id="gone", content="The office has a cat.")
    gone = client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory)).memory
    client.memory.ForgetMemory(memory_pb2.ForgetMemoryRequest(id=gone.id, etag=gone.etag))


def exported(client: Client, form: str = "STATE") -> list[str]:
    """The lines of an export."""
    value = space_pb2.ExportForm.Value(f"EXPORT_FORM_{form}")
    replies = client.space.ExportSpace(space_pb2.ExportSpaceRequest(form=value))
    return [line for reply in replies for line in reply.lines]


def test_search_follows_an_import(tmp_path: Path) -> None:
    """G15 S10 An imported space is indexed like any other: as of now, of then, and after a stop."""
    file = tmp_path / "space.jsonl"
    with spawned(tmp_path / "data") as system, system.client() as client:
        concord = CommandLine(system.environ)
        furnish(client)
        between = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id="new")).memory.create_time
        assert concord("export", "--form", "full", "--out", str(file)).exit_code == 0
        reply = concord.reply(
            space_pb2.ImportSpaceResponse, "--space", "demo", "import-space", str(file)
        )

        with system.client("demo") as there:
            assert found(there, "where is the office", reply.token)[0] == "new"
            assert "gone" not in found(there, "the office cat", page_size=10)
            then = type_pb2.AsOf(record_time=between)
            assert found(there, "where is the office", as_of=then) == found(
                client, "where is the office", as_of=then
            )
            status = there.index.GetIndexStatus(search_pb2.GetIndexStatusRequest())
            assert (status.parked_changes, status.applied_seq) == (0, status.head_seq)
            assert exported(there) == exported(client)
        assert system.stop() == 0
    with spawned(tmp_path / "data") as system, system.client("demo") as there:
        assert found(there, "when is tea", reply.token)[0] == "tea"
        head, *lines = exported(there, "FULL")
        former, *before = file.read_text("utf-8").splitlines()
        assert lines == before
        was, now = json.loads(former), json.loads(head)
        assert {name for name in now if now[name] != was.get(name)} == {"imports", "space"}


def enrolled(system: Spawned) -> tuple[signing.Signer, signing.Signer]:
    """Both principals, once the space knows their keys."""
    agent = signing.Signer("agent-1", signing.generate_key())
    human = signing.Signer("anna", signing.generate_key())
    genesis = signing.sign_genesis(
        space="default",
        agent=agent,
        human=human,
        governance_key=signing.public_bytes(signing.generate_key()),
    )
    known = read(system.data / "credentials.json")
    secret = known.enrolment_secrets["default"]
    with Client(Target(system.url, known.owner_keys["default"])) as admin:
        admin.governed.EnrolPrincipals(
            governed_pb2.EnrolPrincipalsRequest(enrolment_secret=secret, genesis=genesis)
        )
    return agent, human


def test_what_both_agreed_to_moves_to_another_system(tmp_path: Path) -> None:
    """G15 V5 With what both have signed, and not without; each signs where its key is."""
    file, grant = tmp_path / "space.jsonl", tmp_path / "grant.json"
    with spawned(tmp_path / "here") as system, system.client() as client:
        agent, human = enrolled(system)
        furnish(client)
        before = exported(client)
        concord = CommandLine(system.environ)
        assert concord("export", "--form", "full", "--out", str(file)).exit_code == 0
    with spawned(tmp_path / "there") as system, system.client() as client:
        concord = CommandLine(system.environ)
        unsigned = concord("import-space", str(file))
        assert unsigned.exit_code == 1
        assert sha256(file.read_bytes()).hexdigest() in unsigned.stderr

        payload = read_export(file).payload(
            datetime.now(UTC) + HOUR,
            governance_key=client.principals.GetPrincipals(
                principal_pb2.GetPrincipalsRequest()
            ).governance_key,
        )
        halves = [
            signing.sign_envelope(signing.RESTORE_TYPE, payload, [each.key])
            for each in (agent, human)
        ]
        grant.write_bytes(halves[0])
        alone = concord("import-space", str(file), "--grant", str(grant))
        assert "ERROR_REASON_RESTORE_INVALID" in alone.stderr
        grant.write_bytes(signing.join_signatures(*halves))
        told = concord.done("import-space", str(file), "--grant", str(grant))

        lines = file.read_text("utf-8").count("\n")
        assert told == f"Imported {lines:,} lines of the space 'default'.\n"
        assert exported(client) == before
        assert found(client, "where is the office")[0] == "new"


def test_what_is_no_export_is_told(tmp_path: Path) -> None:
    """W4 Another file, and one of the state form, say in a sentence what to do."""
    state = tmp_path / "state.jsonl"
    with spawned(tmp_path / "data") as system, system.client() as client:
        furnish(client)
        concord = CommandLine(system.environ)
        assert concord("export", "--out", str(state)).exit_code == 0
        for file in (state, Path(__file__)):
            result = concord("--space", "demo", "import-space", str(file))
            assert result.exit_code == 1
            assert "--form full" in result.stderr
        drawn = concord.done("export", "--form", "dot")
        assert drawn.startswith("digraph concord {\n")
        assert '"new" -> "old"' in drawn
