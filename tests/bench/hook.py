"""What `concord-hook` puts before a model unasked, and how long a prompt waits for it.

The prompts and memories in `hook_prompts` were written before the hook: `memories.tsv` (id, kind,
date, content), `answered.tsv` (the memory that answers, the prompt) and `off_topic.txt`. Each
prompt is one process on a system of `concord up`, in a session of its own.
"""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

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
    if run.quick:
        asked, others = asked[:20], others[:20]
    with spawned(run.folder / "data") as system:
        with system.client() as client:
            _fill(client)
        for prompt in others[:WARM]:
            _put(system, run.folder, prompt, "warm")
        off = [_put(system, run.folder, prompt, f"off-{at}") for at, prompt in enumerate(others)]
        answers = [_put(system, run.folder, each[1], each[0]) for each in asked]
    said = [text for text, _ in answers]
    right = [f"[memory:{answer}]" in text for (answer, _), text in zip(asked, said, strict=True)]
    yield _time("a prompt, off topic", [took for _, took in off])
    yield _time("a prompt that gets a memory", [took for text, took in answers if text])
    injected = [prompt for prompt, (text, _) in zip(others, off, strict=True) if text]
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


def _put(system: Spawned, folder: Path, prompt: str, session: str) -> tuple[str, float]:
    """What the hook puts before the model, and the milliseconds from the process's start."""
    event = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    environ = {**system.environ, "XDG_STATE_HOME": str(folder / "state")}
    begin = time.perf_counter()
    ended = subprocess.run(
        COMMAND, input=json.dumps(event).encode(), env=environ, capture_output=True, check=True
    )
    took = (time.perf_counter() - begin) * 1e3
    reply = json.loads(ended.stdout) if ended.stdout else {}
    return reply.get("hookSpecificOutput", {}).get("additionalContext", ""), took


def _time(what: str, taken: Sequence[float]) -> Row:
    ordered = sorted(taken)
    p95 = ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)] if ordered else 0.0
    middle = ordered[len(ordered) // 2] if ordered else 0.0
    return Row(
        f"{what}, p95 from process start",
        "ms",
        (p95,),
        bar=Bar(MOST_MILLISECONDS),
        note=f"p50 {middle:.0f} ms, {len(ordered)} prompts",
    )
