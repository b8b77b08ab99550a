"""Finding memories in scripts and signs that the embedder does not know, through the Search RPC.

Written before the code: sixteen memories in Thai, Korean, Hindi, Chinese, Japanese and emoji, in
one space, and 22 questions as people ask them. And thirty German questions, each with a memory that
answers by a compound of a word of it, beside thirty that share its other words.
"""

from collections.abc import AsyncIterator
from pathlib import Path

from concord.search.v1.search_pb2 import CONFIDENCE_BAND_LOW, SearchRequest
from concord.type.v1.type_pb2 import MEMORY_KIND_FACT, Memory
from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.conversations import records
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import whole
from tests.bench.table import Bar, Row

MATERIAL = Path(__file__).parent / "scripts_material"


COMPOUNDS = Path(__file__).parent / "compounds_material" / "pairs.jsonl"


async def bench(run: Run) -> AsyncIterator[Row]:
    """How many questions have their memory first, and how many are said to be sure."""
    memories = [
        Memory(content=line["text"], kind=MEMORY_KIND_FACT, external_id=line["key"])
        for line in records(MATERIAL / "memories.jsonl")
    ]
    questions = list(records(MATERIAL / "questions.jsonl"))
    right, sure, missed = 0, 0, []
    async with whole(run.folder / "scripts", MiniLm()) as system:
        await found(system, await remember(system, memories, name="scripts"))
        for line in questions:
            request = SearchRequest(query=line["question"], page_size=1, peek=True)
            results = (await system.searching("bench").Search(request)).results
            first = results[0].memory.external_id if results else "nothing"
            right += first == line["answer"]
            sure += bool(results) and results[0].confidence != CONFIDENCE_BAND_LOW
            if first != line["answer"]:
                missed.append(f"{line['question']} -> {first}")
    yield Row(
        f"{len(questions)} questions in other scripts, right first",
        "of them",
        (float(right),),
        bar=Bar(20, at_most=False),
        note="; ".join(missed),
    )
    yield Row("of these said to be HIGH or MEDIUM", "of them", (float(sure),), bar=Bar(0))
    yield await _compounds(run)


async def _compounds(run: Run) -> Row:
    """How many questions have the memory with a compound first."""
    pairs = list(records(COMPOUNDS))
    memories = [
        Memory(content=line[each], kind=MEMORY_KIND_FACT, external_id=f"{each} {at}")
        for at, line in enumerate(pairs)
        for each in ("memory", "lure")
    ]
    right = {1: 0, 3: 0}
    async with whole(run.folder / "compounds", MiniLm()) as system:
        await found(system, await remember(system, memories, name="compounds"))
        for at, line in enumerate(pairs):
            request = SearchRequest(query=line["question"], page_size=3, peek=True)
            results = (await system.searching("bench").Search(request)).results
            first = [each.memory.external_id for each in results]
            for most in right:
                right[most] += f"memory {at}" in first[:most]
    return Row(
        f"{len(pairs)} German questions with a part of a compound, right first",
        "of them",
        (float(right[1]),),
        note=f"{right[3]} among the first three",
    )
