"""What packs hold of the evidence of questions, beside plain lists of results of as many tokens."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable

import numpy as np
from concord.search.v1.search_pb2 import SearchRequest, SearchResponse
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord_search.adapters.minilm.embedder import MiniLm
from concord_search.servicer.provenance import BREAK, TOKEN_BYTES

from tests.bench.conversations import Question, locomo
from tests.bench.filling import found, remember
from tests.bench.retrieval import memory_of
from tests.bench.run import Run
from tests.bench.servers import agent, whole
from tests.bench.table import Bar, Row

Ask = Callable[[SearchRequest], Awaitable[SearchResponse]]
TOKENS = (500, 1_000, 2_000)
RESULTS = 50
_ID = re.compile(r"^\[memory:(\S+)\]", re.MULTILINE)


async def bench(run: Run) -> AsyncIterator[Row]:
    """Coverage of the evidence of all questions, and of those that need several turns."""
    folder = run.evaluation / "locomo"
    if not folder.is_dir():
        print(f"SKIPPED: no data at {folder}", flush=True)
        return
    collection = locomo(folder)
    async with whole(run.folder / "packs", MiniLm()) as system:
        for name, turns in collection.conversations.items():
            memories = [memory_of(turn) for turn in turns]
            for memory in memories:
                memory.id = _name(memory.external_id)
            await found(system, await remember(system, memories, name=name, space=name), space=name)
        asked = {
            name: SearchServiceStub(system.search.serving.channel(agent(name))).Search
            for name in collection.conversations
        }
        for tokens in TOKENS:
            shares = [await _shares(asked[q.conversation], q, tokens) for q in collection.questions]
            several = [at for at, each in enumerate(collection.questions) if len(each.evidence) > 1]
            every, hops = np.mean(shares, axis=0), np.mean([shares[at] for at in several], axis=0)
            yield Row(
                f"evidence in a pack of {tokens:,} tokens: all / of several turns",
                "share",
                (float(every[0]), float(hops[0])),
                floor=(float(every[1]), float(hops[1])),
                floor_is="a list of results of as many tokens",
                bar=Bar(round(float(every[1]), 4), at_most=False),
            )


async def _shares(ask: Ask, question: Question, tokens: int) -> tuple[float, float]:
    """The share of a question's evidence in a pack, and in a list of as many tokens."""
    packed = await _context(ask, question, pack_tokens=tokens)
    listed = await _context(ask, question, include_context=True)
    return _share(packed, question), _share(_cut(listed, tokens * TOKEN_BYTES), question)


async def _context(ask: Ask, question: Question, **said: object) -> str:
    request = SearchRequest(query=question.text, page_size=RESULTS, peek=True, **said)  # type: ignore[arg-type]
    return (await ask(request)).context


def _cut(listed: str, size: int) -> str:
    """The results of a list that fit into so many bytes whole."""
    whole = listed.encode()[: size + len(BREAK)].decode(errors="ignore")
    return whole if len(whole) == len(listed) else whole.rpartition(BREAK)[0]


def _share(text: str, question: Question) -> float:
    there = set(_ID.findall(text))
    return len(there.intersection(map(_name, question.evidence))) / len(question.evidence)


def _name(key: str) -> str:
    return key.replace(":", ".")
