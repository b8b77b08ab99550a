"""What surfaces by itself while somebody works, through SuggestProactively.

Written before the code: a memory of a hundred entries (three with triggers that match everything),
twenty snippets of work with the memories that each should bring, and ten snippets of other things;
and, by somebody else, sixty memories and forty snippets of more kinds of work (code, logs, letters,
a household, German), of which the last twenty share few words, and twenty of other things.
A suggestion is noise if it is neither one that the snippet should bring nor one close to it.
"""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from concord.search.v1.suggestion_pb2 import SuggestProactivelyRequest
from concord.search.v1.suggestion_pb2_grpc import SuggestionServiceStub
from concord.type.v1.type_pb2 import MEMORY_KIND_FACT, Memory
from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.conversations import records
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, agent, whole
from tests.bench.table import Bar, Row

MATERIAL = Path(__file__).parent / "suggest_material"


async def bench(run: Run) -> AsyncIterator[Row]:
    """In how many snippets something right surfaced, and in how many something else did."""
    for kind, material in (("", MATERIAL), (", varied", MATERIAL / "varied")):
        async for row in _of(run, material, kind):
            yield row


async def _of(run: Run, material: Path, kind: str) -> AsyncIterator[Row]:
    memories = [
        Memory(
            content=line["text"],
            kind=MEMORY_KIND_FACT,
            external_id=line["key"],
            surfaces_when=line.get("surfaces_when", ()),
        )
        for line in records(material / "memories.jsonl")
    ]
    right, noise, notes = 0, 0, []
    snippets = list(records(material / "snippets.jsonl"))
    unrelated = list(records(material / "unrelated.jsonl"))
    async with whole(run.folder / f"suggesting{kind}", MiniLm()) as system:
        await found(system, await remember(system, memories, name="suggesting"))
        for line in snippets:
            shown = await _suggested(system, line)
            right += bool({*line["right"]} & {*shown})
            others = [each for each in shown if each not in (*line["right"], *line["fine"])]
            noise += bool(others)
            if others or not {*line["right"]} & {*shown}:
                said = next(filter(None, (line["text"], line.get("error"), line.get("path"))))
                notes.append(f"{said[:50]} -> {' '.join(shown) or 'nothing'}")
        silent = [await _suggested(system, line) for line in unrelated].count([])
    yield Row(
        f"{len(snippets)} snippets of work{kind}, right in",
        "of them",
        (float(right),),
        bar=Bar(0.6 * len(snippets), at_most=False),
        note="\n    ".join(notes),
    )
    bar = Bar(0.1 * len(snippets))
    yield Row(f"of these{kind} with noise", "of them", (float(noise),), bar=bar)
    yield Row(
        f"{len(unrelated)} snippets of other things{kind}, silence",
        "of them",
        (float(silent),),
        bar=Bar(0.9 * len(unrelated), at_most=False),
    )


async def _suggested(system: Whole, line: Mapping[str, Any]) -> list[str]:
    """The suggestions' keys, best first."""
    stub = SuggestionServiceStub(system.search.serving.channel(agent("bench"), cap=None))
    request = SuggestProactivelyRequest(
        snippet=line["text"], error_message=line.get("error", ""), file_path=line.get("path", "")
    )
    reply = await stub.SuggestProactively(request)
    return [each.memory.external_id for each in reply.suggestions]
