"""What is acknowledged survives: stops, kills, a lost index."""

import json
import shutil
from pathlib import Path

import pytest
from concord.graph.v1 import graph_pb2, memory_pb2, space_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import Client, Refused
from concord_client.credentials import read
from concord_client.freshness import follow
from concord_client.importers.outcome import Draft
from concord_client.importers.upload import BATCH_SIZE, Upload
from concord_testing.up_process import spawned
from running_system import add, found


def export(client: Client) -> list[str]:
    """What holds in the space, line by line."""
    replies = client.space.ExportSpace(space_pb2.ExportSpaceRequest())
    return [line for reply in replies for line in reply.lines]


def memories(client: Client) -> list[str]:
    """The ids of all live memories."""
    records = [json.loads(line) for line in export(client)]
    return sorted(record["id"] for record in records if record["kind"] == "memory")


def drafts(count: int) -> list[Draft]:
    """Memories to import."""
    return [
        Draft(type_pb2.Memory(id=f"n-{at:05d}", content=f"Note {at} on lighthouse {at}."), "n", at)
        for at in range(count)
    ]


def test_nothing_is_lost_over_a_restart(tmp_path: Path) -> None:
    """Must hold: stop, start, and everything is there: texts, lineage, edges, keys, reads."""
    with spawned(tmp_path / "data") as system, system.client() as client:
        add(client, "old", "The office is in Hamburg.")
        token = add(client, "new", "The office is in Bremen.\n\nSupersedes: [[memory:old]]")
        edge = type_pb2.Edge(
            source=type_pb2.EdgeEnd(name="Ada"),
            relation="WORKS_AT",
            target=type_pb2.EdgeEnd(name="Acme"),
        )
        client.graph.UpsertEdge(graph_pb2.UpsertEdgeRequest(edge=edge))
        client.memory.GetMemory(memory_pb2.GetMemoryRequest(id="new"))
        before = export(client)
        assert found(client, "where is the office", token) == ["new"]
        keys = read(system.data / "credentials.json").keys
        assert system.stop() == 0

    with spawned(tmp_path / "data") as system, system.client() as client:
        again = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id="new", peek=True))
        assert export(client) == before
        assert found(client, "where is the office", token) == ["new"]
        assert read(system.data / "credentials.json").keys == keys
        assert again.memory.access.access_count == 1


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """Must hold: a reply means durable, the index catches up by itself, and what was killed leaves
    no socket in the way of the next start."""
    with spawned(tmp_path / "data") as system, system.client() as client:
        token = add(client, "tea", "Tea is at four.")
        sockets = Path((system.data / "runtime").read_text("utf-8"))
        system.kill()
    assert sockets.exists()

    with spawned(tmp_path / "data") as system, system.client() as client:
        assert not sockets.exists()
        assert memories(client) == ["tea"]
        assert found(client, "when is tea", token) == ["tea"]


def test_a_killed_import_is_finished_by_repeating_it(tmp_path: Path) -> None:
    """M6 Must hold: kill -9 during an import; repeated, it completes without a duplicate."""
    every, acknowledged = drafts(3 * BATCH_SIZE), 1
    with spawned(tmp_path / "data") as system, system.client() as client:
        upload = Upload()
        batches = upload.send(client.memory, every)
        for _ in range(acknowledged):
            next(batches)
        system.kill()
        with pytest.raises(Refused):
            next(batches)

    with spawned(tmp_path / "data") as system, system.client() as client:
        kept = memories(client)
        assert set(kept) >= {draft.memory.id for draft in every[: acknowledged * BATCH_SIZE]}
        assert len(kept) % BATCH_SIZE == 0, "each batch is there whole or not at all"

        repeated = Upload()
        for _ in repeated.send(client.memory, every):
            pass
        for _ in follow(client, repeated.token):
            pass

        status = client.index.GetIndexStatus(search_pb2.GetIndexStatusRequest())
        assert repeated.counts()["unchanged"] == len(kept)
        assert repeated.counts()["created"] == len(every) - len(kept)
        assert memories(client) == [draft.memory.id for draft in every]
        assert (status.indexed_memories, status.parked_changes) == (len(every), 0)
        for at in (0, len(every) // 2, len(every) - 1):
            assert found(client, f"lighthouse {at}", repeated.token)[0] == f"n-{at:05d}"


def test_a_lost_index_is_made_anew(tmp_path: Path) -> None:
    """S10 The index is derived: without it the next start builds it from the graph."""
    with spawned(tmp_path / "data") as system, system.client() as client:
        token = add(client, "tea", "Tea is at four.")
        assert found(client, "when is tea", token) == ["tea"]
        system.stop()
    shutil.rmtree(tmp_path / "data" / "index")

    with spawned(tmp_path / "data") as system, system.client() as client:
        assert found(client, "when is tea", token) == ["tea"]
