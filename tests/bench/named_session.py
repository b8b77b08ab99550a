"""First results with a session named, and without: what it read must not lead astray.

Plain facts drawn from conversations, each a memory; the questions are asked twelve a session, and
what answers them is then got, twice over. Scored as the data's README says.
"""

from collections import defaultdict
from collections.abc import AsyncIterator

from concord.graph.v1.memory_pb2 import GetMemoryRequest
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.search.v1.search_pb2 import SearchRequest
from concord.type.v1.type_pb2 import MEMORY_KIND_FACT, Memory
from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.conversations import Question, Record, people, records
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, agent, whole
from tests.bench.table import Bar, Row

A_SESSION = 12
"""Questions of a session."""


async def bench(run: Run) -> AsyncIterator[Row]:
    """any@1 with the session named, against the same question without."""
    folder = run.evaluation / "locomo"
    if not folder.is_dir():
        print(f"SKIPPED: no data at {folder}", flush=True)
        return
    facts = defaultdict(list)
    for line in records(folder / "observations.jsonl"):
        facts[line["conv"]].append(line)
    asked = [
        (each, right)
        for each in people(folder).questions
        if (right := _answers(each, facts[each.conversation]))
    ]
    plain, named = 0, 0
    async with whole(run.folder / "sessions", MiniLm()) as system:
        for conversation, lines in facts.items():
            memories = (
                Memory(content=line["fact"], kind=MEMORY_KIND_FACT, external_id=str(at))
                for at, line in enumerate(lines)
            )
            token = await remember(system, memories, name=conversation, space=conversation)
            await found(system, token, space=conversation)
        for turn in range(2):
            for number, (question, right) in enumerate(asked):
                session = f"{turn}-{number // A_SESSION}"
                plain += await _is_first(system, question, right, "")
                named += await _is_first(system, question, right, session)
                await _work(system, question, right, session)
    count = 2 * len(asked)
    yield Row(
        f"{count} questions with their session named, any@1",
        "share",
        (named / count,),
        floor=(plain / count,),
        floor_is="the same questions without a session",
        bar=Bar(round(plain / count, 6), at_most=False),
    )


def _answers(question: Question, lines: list[Record]) -> frozenset[str]:
    """The keys of the facts that were drawn from a question's evidence."""
    drawn = (
        (at, each if isinstance(each := line["dia_id"], list) else [each])
        for at, line in enumerate(lines)
    )
    conversation = question.conversation
    return frozenset(
        str(at)
        for at, turns in drawn
        if any(f"{conversation}/{turn}" in question.evidence for turn in turns)
    )


async def _is_first(system: Whole, question: Question, right: frozenset[str], session: str) -> bool:
    request = SearchRequest(query=question.text, page_size=1, peek=True, session_id=session)
    results = (await system.searching(question.conversation).Search(request)).results
    return bool(results) and results[0].memory.external_id in right


async def _work(system: Whole, question: Question, right: frozenset[str], session: str) -> None:
    """Searches in the session, and gets what answers."""
    space = question.conversation
    request = SearchRequest(query=question.text, session_id=session)
    results = (await system.searching(space).Search(request)).results
    memories = MemoryServiceStub(system.graph.serving.channel(agent(space), cap=None))
    for result in results:
        if result.memory.external_id in right:
            got = GetMemoryRequest(id=result.memory.id, session_id=session)
            await memories.GetMemory(got)
