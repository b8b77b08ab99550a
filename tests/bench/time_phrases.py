"""Times in questions: the windows that are read, and what is found first of what held then.

`time_phrases.jsonl` and the questions about the past were written before the code that answers
them, as were the memories; TempReason's questions are public data by others. Each is asked through
Search as it stands, and once more with the window taken off.
"""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from concord.search.v1.search_pb2 import SearchRequest
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1.type_pb2 import MEMORY_KIND_FACT, Memory
from concord_reading.times import windows
from concord_search.adapters.minilm.embedder import MiniLm
from google.protobuf.timestamp_pb2 import Timestamp

from tests.bench.conversations import Record, records
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import Whole, agent, whole
from tests.bench.table import Bar, Row

HERE = Path(__file__).parent
TODAY = "2026-11-28T12:00"
"""When the questions about the past are asked."""
KINDS = ("", "_by_others")
"""The author's, written before the code, and somebody else's: at the first run 33 of 37 windows
were right and .70 of the first results; rules were then written from what was missed."""
AT_LEAST = Bar(0.9, at_most=False)
QUESTIONS = 150
"""So many of TempReason's."""
NOON = 12 * 3_600_000_000
_SPAN = re.compile(r" from (\w{3}), (\d+) to (\w{3}), (\d+)\.?\s*$")


@dataclass(frozen=True)
class Asked:
    """A question, and the texts of the memories of which one is right in the first place."""

    text: str
    right: frozenset[str]


async def bench(run: Run) -> AsyncIterator[Row]:
    """The windows, then the first results."""
    for kind in KINDS:
        for row in _windows(list(records(HERE / f"time_phrases{kind}.jsonl"))):
            yield row
    async with whole(run.folder / "time", MiniLm()) as system:
        for kind in KINDS:
            memories, questions = _past(kind)
            async for row in _first(system, f"past{kind}", memories, questions, AT_LEAST):
                yield row
        folder = run.evaluation / "tempreason"
        if not folder.is_dir():
            print(f"SKIPPED: no data at {folder}", flush=True)
            return
        memories, questions = _tempreason(next(folder.glob("*.jsonl")))
        async for row in _first(system, "tempreason", memories, questions, None):
            yield row


def _windows(rows: Sequence[Record]) -> Iterator[Row]:
    right, silent = 0, 0
    for row in rows:
        read = windows(row["text"], (_micros(row["today"]) or 0) + NOON)
        silent += not read
        if "anchor" in row:
            right += any(each.anchor == row["anchor"] for each in read)
        else:
            wanted = (_micros(row["begin"]), _micros(row["end"]))
            right += any((each.begin, each.end) == wanted for each in read)
    figures = (right / len(rows), silent / len(rows))
    yield Row(
        f"time phrases, {len(rows)}: right window / none named",
        "share",
        figures,
        bar=Bar(0.95, at_most=False),
    )


async def _first(
    system: Whole,
    space: str,
    memories: Sequence[Memory],
    questions: Sequence[Asked],
    bar: Bar | None,
) -> AsyncIterator[Row]:
    token = await remember(system, iter(memories), name=space, space=space)
    await found(system, token, space=space)
    stub = SearchServiceStub(system.search.serving.channel(agent(space)))
    shares = []
    for no_window in (False, True):
        right = 0
        for asked in questions:
            request = SearchRequest(
                query=asked.text, peek=True, no_window=no_window, today=_stamp(TODAY)
            )
            reply = await stub.Search(request)
            first = reply.results[0].memory.content if reply.results else ""
            right += first in asked.right
            if not no_window and first not in asked.right:
                print(f"  {asked.text} -> {first}", flush=True)
        shares.append(right / len(questions))
    yield Row(
        f"{space}: {len(questions)} questions about the past, right first",
        "share",
        tuple(shares[:1]),
        floor=tuple(shares[1:]),
        floor_is="the same with no_window",
        bar=bar,
    )


def _past(kind: str) -> tuple[Sequence[Memory], Sequence[Asked]]:
    said = {line["id"]: line for line in records(HERE / f"past_memories{kind}.jsonl")}
    memories = [
        _memory(
            each["text"], each["since"], each.get("until"), each["id"], each.get("supersedes", "")
        )
        for each in said.values()
    ]
    questions = [
        Asked(line["query"], frozenset({_content(said[line["right"]])}))
        for line in records(HERE / f"past_questions{kind}.jsonl")
    ]
    return memories, questions


def _content(line: Record) -> str:
    former = line.get("supersedes")
    return f"{line['text']}\nSupersedes: [[memory:{former}]]" if former else line["text"]


def _memory(text: str, since: str, until: str | None, name: str, former: str) -> Memory:
    memory = Memory(
        id=name,
        content=_content({"text": text, "supersedes": former}),
        kind=MEMORY_KIND_FACT,
        valid_from=_stamp(since),
    )
    if until:
        memory.valid_until.CopyFrom(_stamp(until))
    return memory


def _tempreason(path: Path) -> tuple[Sequence[Memory], Sequence[Asked]]:
    """Facts without the times in their words, which are their valid times."""
    memories: dict[str, Memory] = {}
    questions = []
    for line in list(records(path))[:QUESTIONS]:
        texts = {}
        for fact in line["facts"]:
            span = _SPAN.search(fact)
            if span is None:
                continue
            since, until = (
                datetime.strptime(f"{month} {int(year):04}", "%b %Y").replace(tzinfo=UTC)
                for month, year in (span.group(1, 2), span.group(3, 4))
            )
            text = f"{fact[: span.start()]}."
            texts[text] = fact
            if since < until:
                key = f"t{len(memories)}"
                made = _memory(text, since.date().isoformat(), until.date().isoformat(), key, "")
                memories.setdefault(fact, made)
        right = {text for text in texts if any(answer in text for answer in line["answer"])}
        questions.append(Asked(line["question"], frozenset(right)))
    return list(memories.values()), questions


def _micros(day: str | None) -> int | None:
    if day is None:
        return None
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1_000_000


def _stamp(time: str) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(datetime.fromisoformat(time))
    return made
