"""kill -9 while decisions are carried out: no effect without its entry, none of them alone (V6)."""

import os
import random
from pathlib import Path
from threading import Timer

import grpc
import pytest
from concord_testing.up_process import Spawned, spawned

from tests.chaos.governing import Governed, Parties, agree, enrol, governed, judge

POINTS = int(os.environ.get("CONCORD_KILLS", "3"))
CHAOS_POINTS = int(os.environ.get("CONCORD_KILLS_CHAOS", "200"))


def until_dead(server: Spawned, asked: Governed, parties: Parties, start: int) -> None:
    """Agree on one thing after the other until the server is killed."""
    number = start
    try:
        while True:
            agree(asked, parties, f"value {number}")
            number += 1
    except grpc.RpcError:
        server.ended()


def kill_and_judge(folder: Path, points: int, seed: int) -> int:
    """Kill the system at random moments of executions; return how many decisions were made."""
    draw, parties = random.Random(seed), Parties()
    with spawned(folder) as server, governed(server) as asked:
        enrol(server, asked, parties)
        agree(asked, parties, "value 0")
    for point in range(points):
        with spawned(folder) as server, governed(server) as asked:
            judge(asked, parties)
            agree(asked, parties, f"value {1 + point * 1000}")  # however slow the machine is
            timer = Timer(draw.uniform(0.02, 0.4), server.process.kill)
            timer.start()
            until_dead(server, asked, parties, 2 + point * 1000)
            timer.join()
    with spawned(folder) as server, governed(server) as asked:
        judge(asked, parties)
        return len(asked.visible())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_killed_execution_leaves_no_effect_without_its_entry(tmp_path: Path) -> None:
    """V6 A1 Must hold: after kill -9 there is no effect without its entry and no entry EXECUTED
    without its effect, and the log extends the last checkpoint."""
    made = kill_and_judge(tmp_path / "data", POINTS, seed=11)

    print(f"{POINTS} kills, {made} decisions carried out")
    assert made > POINTS


@pytest.mark.chaos
@pytest.mark.timeout(0)
def test_executions_killed_at_many_points(tmp_path: Path) -> None:
    """V6 A1 The same at many random moments."""
    made = kill_and_judge(tmp_path / "data", CHAOS_POINTS, seed=random.randrange(1 << 30))

    print(f"{CHAOS_POINTS} kills, {made} decisions carried out")
