"""Backups of a running system by its commands, and restores: what both kinds of stores share."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from concord.governance.v1 import access_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, memory_pb2, space_pb2
from concord.search.v1.search_pb2 import SearchRequest
from concord.type.v1.type_pb2 import (
    EDGE_TYPE_CONSTITUTIVE,
    PRINCIPAL_KIND_AGENT,
    Consistency,
    Memory,
)
from concord_client import Client, credentials
from concord_client.credentials import Target
from concord_client.refusal import Refused
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_testing.up_process import Spawned, clean_environ, ran, spawned

from tests.chaos.governing import (
    Governed,
    Parties,
    agree,
    enrol,
    governed,
    propose,
    settled,
)

STATUS = proposal_pb2.ProposalStatus
SECRET = "zanzibarquartz"


@contextmanager
def connected(server: Spawned, space: str = "default") -> Iterator[Client]:
    """A client with the key of a space."""
    known = credentials.read(server.data / credentials.FILE_NAME)
    with Client(Target(known.url, known.keys[space])) as client:
        yield client


def command(data: Path, *arguments: str, key: str = "") -> tuple[int, str, str]:
    """Run `concord` on a data directory; return its status and what it printed."""
    environ = clean_environ() | {"CONCORD_DATA": str(data), "CONCORD_STATE": f"{data}.pins"}
    if key:
        environ["CONCORD_API_KEY"] = key
    done = ran(*arguments, environ=environ)
    return done.returncode, done.stdout, done.stderr


def succeeded(data: Path, *arguments: str) -> dict[str, Any]:
    """Run `concord ... --json` to success and return what it said."""
    status, out, err = command(data, *arguments, "--json")
    assert status == 0, err
    said: dict[str, Any] = json.loads(out)
    return said


def add(client: Client, memory_id: str, content: str) -> memory_pb2.AddMemoryResponse:
    """Add a memory."""
    memory = Memory(id=memory_id, content=content)
    request = memory_pb2.AddMemoryRequest(request_id=f"add {memory_id}", memory=memory)
    return client.memory.AddMemory(request)


def export(client: Client) -> list[str]:
    """Return the lines of the full export."""
    request = space_pb2.ExportSpaceRequest(form=space_pb2.EXPORT_FORM_FULL)
    return [line for part in client.space.ExportSpace(request) for line in part.lines]


def record_through(lines: list[str], seq: int) -> list[str]:
    """Return an export's genesis and record, through a change and what stands behind it."""
    kept: list[str] = []
    is_reached = False
    for line in lines[1:]:
        said = json.loads(line)
        if is_reached and said["kind"] not in ("support", "erasure"):
            break
        kept.append(line)
        is_reached = is_reached or (said["kind"], said.get("seq")) == ("change", seq)
    return kept


@dataclass(frozen=True)
class UnderLoad:
    """Backups that were made while the system was at work, and what it was in the end."""

    made: list[dict[str, Any]]
    export: list[str]
    log: list[bytes]


def made_under_load(folder: Path) -> UnderLoad:
    """Agree on facts and write memories, and make four backups meanwhile."""
    parties, stop, agreed = Parties(), threading.Event(), threading.Event()
    with spawned(folder / "data") as server, governed(server) as asked:
        enrol(server, asked, parties)

        def agreeing() -> None:
            number = 0
            while not stop.is_set():
                agree(asked, parties, f"value {number}")
                agreed.set()
                number += 1

        def writing() -> None:
            with connected(server) as client:
                number = 0
                while not stop.is_set():
                    add(client, f"m{number}", f"The number {number} was written under load.")
                    number += 1

        threads = [threading.Thread(target=work) for work in (agreeing, writing)]
        for thread in threads:
            thread.start()
        try:
            made: list[dict[str, Any]] = []
            for _ in range(4):
                agreed.clear()
                assert agreed.wait(60)  # the log has grown since the backup before
                made.append(succeeded(server.data, "backup", "create", str(folder / "kept")))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        live_log = asked.log()
        with connected(server) as client:
            live = export(client)
    assert len({each["spaces"]["default"]["log_size"] for each in made}) == 4
    return UnderLoad(made, live, live_log)


def demand_as_at_its_token(
    under_load: UnderLoad, each: Mapping[str, Any], restored: Path, *options: str
) -> None:
    """Restore a backup: what it holds is what the system held at its token."""
    head = each["spaces"]["default"]
    said = succeeded(restored, "backup", "restore", str(each["path"]), *options)
    assert said["endedProposals"] in (0, 1)
    with spawned(restored) as server, governed(server) as asked:
        with connected(server) as client:
            again = export(client)
        log = asked.log()
        settled(asked, Parties())  # what was decided at that instant is carried out
        file = f"{restored}.jsonl"
        assert command(restored, "audit", "export", file)[0] == 0
        assert command(restored, "audit", "verify", file, "--store")[0::2] == (0, "")

    assert record_through(again, head["seq"]) == record_through(under_load.export, head["seq"])
    entries = head["log_size"]
    assert log[1 : entries + 1] == under_load.log[1 : entries + 1]
    assert json.loads(log[entries + 1])["action"] == "RESTORE"


@dataclass
class Scene:
    """A system with a backup in its past."""

    data: Path
    backup: Path
    parties: Parties
    operator_key: str
    revoked_key: str
    token: str
    pending: str


@contextmanager
def gone_on_since_its_backup(folder: Path) -> Iterator[tuple[Spawned, Scene]]:
    """A backup, and a system that has erased, revoked, deleted and decided since; it still runs."""
    parties = Parties()
    with spawned(folder / "data") as server, governed(server) as asked:
        enrol(server, asked, parties)
        agree(asked, parties, "honesty")
        agree(asked, parties, "promise", constitutive("promise", "I keep my promises."))
        with connected(server) as client, connected(server, "concord:system") as operator:
            add(client, "kept", "The harbour opens at seven.")
            token = add(client, "secret", f"The word is {SECRET}.").token
            operator.access.CreateSpace(access_pb2.CreateSpaceRequest(request_id="s", space="team"))
            agent = access_pb2.CreateKeyRequest(
                request_id="k",
                space="default",
                principal="guest",
                kind=PRINCIPAL_KIND_AGENT,
                scopes=[access_pb2.KEY_SCOPE_READ],
            )
            guest = operator.access.CreateKey(agent)
            pending = propose(asked, parties, "tea")
            answer(asked, parties, pending, signing.AGENT)
            backup = Path(str(succeeded(server.data, "backup", "create", str(folder))["path"]))
            erase(client, "secret")
            revoke = access_pb2.RevokeKeyRequest(request_id="r", key_id=guest.key.id)
            operator.access.RevokeKey(revoke)
            delete = access_pb2.DeleteSpaceRequest(request_id="d", space="team", typed_name="team")
            operator.access.DeleteSpace(delete)
            agree(asked, parties, "candour")
            add(client, "later", "This came after the backup.")
        known = credentials.read(server.data / credentials.FILE_NAME)
        operator_key = known.keys[credentials.SYSTEM_SPACE]
        yield (
            server,
            Scene(
                data=server.data,
                backup=backup,
                parties=parties,
                operator_key=operator_key,
                revoked_key=guest.secret,
                token=token,
                pending=pending.id,
            ),
        )


def demand_ended_since(made: Scene, server: Spawned, asked: Governed) -> None:
    """Demand of a restored system that what was erased, revoked or deleted since stays so, that the
    pending proposal has ended and former tokens are refused by name, and that what both agree to
    from then on is carried out under a log that keeps every rule."""
    with connected(server) as client:
        read = memory_pb2.GetMemoryRequest
        found = {name: client.memory.GetMemory(read(id=name)) for name in ("kept", "later")}
        assert found["kept"].memory.content == "The harbour opens at seven."
        assert not found["later"].HasField("memory")
        demand = Consistency(at_least_as_fresh=made.token)
        with pytest.raises(Refused) as refused:
            client.search.Search(SearchRequest(query="harbour", consistency=demand))
        assert refused.value.reason == "ERROR_REASON_CONSISTENCY_TOKEN_INVALID"
        until_erased(client, "secret")
    with Client(Target(server.url, made.revoked_key)) as guest, pytest.raises(Refused) as no:
        guest.memory.ListMemories(memory_pb2.ListMemoriesRequest())
    assert no.value.reason == "ERROR_REASON_CREDENTIAL_INVALID"
    asked_for = proposal_pb2.GetProposalRequest(id=made.pending)
    proposal = asked.proposals.GetProposal(asked_for).proposal
    assert proposal.status == STATUS.PROPOSAL_STATUS_EXPIRED
    with pytest.raises(grpc.RpcError, match="the proposal is EXPIRED"):
        answer(asked, made.parties, proposal, signing.HUMAN)
    assert asked.visible() == {"honesty"}
    agree(asked, Parties(made.parties.agent, made.parties.human), "after")
    assert asked.visible() == {"honesty", "after"}
    Replay(read_log(asked.log(), Pinned()), Pinned()).run()


def constitutive(memory_id: str, content: str) -> governed_pb2.GovernedAction:
    """Return the addition of a constitutive memory."""
    memory = Memory(id=memory_id, content=content, edge_type=EDGE_TYPE_CONSTITUTIVE)
    request = memory_pb2.AddMemoryRequest(request_id=memory_id.ljust(24, "x"), memory=memory)
    return governed_pb2.GovernedAction(add_memory=request)


def answer(asked: Governed, parties: Parties, proposal: proposal_pb2.Proposal, slot: str) -> None:
    """Give one slot's consent."""
    request = proposal_pb2.ApproveProposalRequest(
        request_id=f"{slot} {proposal.id}",
        proposal_id=proposal.id,
        consent=parties.consent(proposal, slot),
    )
    asked.proposals.ApproveProposal(request)


def erase(client: Client, memory_id: str) -> None:
    """Erase a memory."""
    stored = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id)).memory
    client.memory.EraseMemory(
        memory_pb2.EraseMemoryRequest(request_id="e", id=memory_id, etag=stored.etag, reason="x")
    )


def until_erased(client: Client, memory_id: str) -> None:
    """Wait until every store has confirmed that it holds nothing of a memory."""
    end = time.monotonic() + 20
    while True:
        request = memory_pb2.GetEraseReceiptRequest(memory_id=memory_id)
        if client.memory.GetEraseReceipt(request).receipt.HasField("complete_time"):
            return
        assert time.monotonic() < end, "the erasure is not complete"
        time.sleep(0.05)
