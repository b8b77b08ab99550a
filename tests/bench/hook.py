"""What `concord-hook` puts before a model unasked, and how long a prompt waits for it.

The prompts and memories in `hook_prompts` were written before the hook: `memories.tsv` (id, kind,
date, content), `answered.tsv` (the memory that answers, the prompt), `off_topic.txt`, and
`near.txt`: prompts about the same work that no memory answers, which have no bar. Each prompt is
one process on a system of `concord up`, in a session of its own. Between them runs an empty Python,
whose time is the floor: a busy machine slows both, and processor time tells the cost there.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import Client
from concord_testing.up_process import Spawned, spawned

from tests.bench.run import Run
from tests.bench.table import Bar, Row

PROMPTS = Path(__file__).parent / "hook_prompts"
COMMAND = (str(Path(sys.executable).with_name("concord-hook")), "prompt")
MOST_MILLISECONDS = 150.0
LEAST_RIGHT = 80
WARM = 10


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields the time of a prompt, and how many prompts of each kind got which memories."""
    asked = _rows("answered.tsv")
    others = (PROMPTS / "off_topic.txt").read_text("utf-8").splitlines()
    beside = (PROMPTS / "near.txt").read_text("utf-8").splitlines()
    if run.quick:
        asked, others, beside = asked[:20], others[:20], beside[:20]
    with spawned(run.folder / "data") as system:
        with system.client() as client:
            _fill(client)
        for prompt in others[:WARM]:
            _put(system, run.folder, prompt, "warm")
        off = [_put(system, run.folder, prompt, f"off-{at}") for at, prompt in enumerate(others)]
        answers = [_put(system, run.folder, each[1], each[0]) for each in asked]
        near = [_put(system, run.folder, prompt, f"near-{at}") for at, prompt in enumerate(beside)]
    said = [each.text for each in answers]
    right = [f"[memory:{answer}]" in text for (answer, _), text in zip(asked, said, strict=True)]
    yield _time("a prompt, off topic", off)
    yield _time("a prompt that gets a memory", [each for each in answers if each.text])
    injected = [prompt for prompt, each in zip(others, off, strict=True) if each.text]
    yield Row(
        f"injected, of {len(others)} off-topic prompts",
        "number",
        (float(len(injected)),),
        bar=Bar(0),
        note="; ".join(injected[:5]),
    )
    first = [
        text.partition("[memory:")[2].startswith(f"{answer}]")
        for (answer, _), text in zip(asked, said, strict=True)
    ]
    yield Row(
        f"injected and right, of {len(asked)} prompts",
        "number",
        (float(sum(right)),),
        bar=Bar(LEAST_RIGHT * len(asked) / 100, at_most=False),
        note=f"{sum(map(bool, said))} injected, {sum(first)} with the right one first; "
        f"{sum(text.count('[memory:') for text in said)} memories in all; "
        f"not: {[key for (key, _), met in zip(asked, right, strict=True) if not met]}",
    )
    reached = [prompt for prompt, each in zip(beside, near, strict=True) if each.text]
    yield Row(
        f"injected, of {len(beside)} prompts near the topic",
        "number",
        (float(len(reached)),),
        note="; ".join(reached),
    )


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (PROMPTS / name).read_text("utf-8").splitlines()]


def _fill(client: Client) -> None:
    token = ""
    for name, kind, day, content in _rows("memories.tsv"):
        memory = type_pb2.Memory(
            id=name, content=content, kind=type_pb2.MemoryKind.Value(f"MEMORY_KIND_{kind.upper()}")
        )
        memory.valid_from.FromDatetime(datetime.fromisoformat(day).replace(tzinfo=UTC))
        token = client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory)).token
    seen = type_pb2.Consistency(at_least_as_fresh=token)
    client.search.Search(search_pb2.SearchRequest(query="ferry", consistency=seen, peek=True))


class Put(NamedTuple):
    """What the hook put before the model, and milliseconds."""

    text: str
    took: float
    """From the process's start to its end."""
    floor: float
    """Of an empty Python right after it."""
    processor: float
    """Of a processor, in the hook and in the system."""


def _put(system: Spawned, folder: Path, prompt: str, session: str) -> Put:
    event = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    environ = {**system.environ, "XDG_STATE_HOME": str(folder / "state")}
    before = _processor(system)
    printed, took = _timed(COMMAND, json.dumps(event).encode(), environ)
    spent = _processor(system) - before
    _, floor = _timed((sys.executable, "-c", "pass"), b"", environ)
    reply = json.loads(printed) if printed else {}
    text = str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))
    return Put(text, took, floor, spent)


def _processor(system: Spawned) -> float:
    """Milliseconds of a processor so far, of processes that ended and of the system (Linux)."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    threads = Path(f"/proc/{system.process.pid}/task").iterdir()
    clocks = [each.joinpath("schedstat").read_text("ascii").split()[0] for each in threads]
    return (ended.ru_utime + ended.ru_stime) * 1e3 + sum(map(int, clocks)) / 1e6


def _timed(command: Sequence[str], said: bytes, environ: Mapping[str, str]) -> tuple[bytes, float]:
    begin = time.perf_counter()
    ended = subprocess.run(command, input=said, env=environ, capture_output=True, check=True)
    return ended.stdout, (time.perf_counter() - begin) * 1e3


def _time(what: str, put: Sequence[Put]) -> Row:
    middle, late = _percentiles([each.took for each in put])
    least, late_floor = _percentiles([each.floor for each in put])
    spent, _ = _percentiles([each.processor for each in put])
    return Row(
        f"{what}, p95 from process start",
        "ms",
        (late,),
        (late_floor,),
        "`python -c pass`, between the prompts",
        bar=Bar(MOST_MILLISECONDS),
        note=f"p50 {middle:.0f} ms, of the floor {least:.0f} ms; processor time with the system's "
        f"p50 {spent:.0f} ms; {len(put)} prompts; load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} processors",
    )


def _percentiles(taken: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(taken) or [0.0]
    return ordered[len(ordered) // 2], ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]
