"""SIGTERM in the middle of work: calls end, reads are counted, nothing is lost."""

import random
from pathlib import Path
from threading import Timer

from concord.graph.v1.memory_pb2 import AddMemoryRequest, GetMemoryRequest
from concord.type.v1.type_pb2 import Memory
from concord_client.refusal import Refused
from concord_testing.up_process import spawned

from tests.chaos.checking import check
from tests.chaos.growing_import import GrowingImport
from tests.chaos.killing import client_of


def test_a_stopped_import_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    """S6 Must hold: SIGTERM drains, exits 0, and every acknowledged memory is there and found."""
    job, draw = GrowingImport(600, seed=7), random.Random(7)
    with spawned(tmp_path / "data") as server, client_of(server) as client:
        timer = Timer(0.15, server.process.terminate)
        timer.start()
        try:
            job.send(client, job.batches)
        except Refused as refused:
            stopped = refused
        timer.join()

        assert server.ended() == 0
        assert job.done == job.batches or stopped.reason == "ERROR_REASON_UNAVAILABLE"
    with spawned(tmp_path / "data") as server, client_of(server) as client:
        check(client, job, draw)


def test_reads_before_a_stop_are_counted(tmp_path: Path) -> None:
    """G6 Reads are flushed at shutdown: none that was answered before SIGTERM is forgotten."""
    with spawned(tmp_path / "data") as server, client_of(server) as client:
        client.memory.AddMemory(AddMemoryRequest(memory=Memory(id="note", content="Tea at five.")))
        for _ in range(20):
            client.memory.GetMemory(GetMemoryRequest(id="note"))

        assert server.stop() == 0
    with spawned(tmp_path / "data") as server, client_of(server) as client:
        found = client.memory.GetMemory(GetMemoryRequest(id="note", peek=True))

        assert found.memory.access.access_count == 20
