"""What SuggestProactively costs where 1,000 of 10,000 memories have triggers (spec S9)."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice

from concord.search.v1.suggestion_pb2 import SuggestProactivelyRequest, SuggestProactivelyResponse
from concord.search.v1.suggestion_pb2_grpc import SuggestionServiceStub
from concord.type.v1.type_pb2 import Memory

from tests.bench import sentences
from tests.bench.filling import found, remember
from tests.bench.run import Run
from tests.bench.servers import agent, whole
from tests.bench.stand_in import StandIn
from tests.bench.table import Row
from tests.bench.timing import NONE

METHOD = "/concord.search.v1.SuggestionService/SuggestProactively"
TRIGGERS = ("file:src/part{}/*.py", "error:no such part {}.*", "part {} of the plan")
CALLS = 20


async def bench(run: Run) -> AsyncIterator[Row]:
    """A path, an error of many lines and a sentence, each of which meets a trigger."""
    size, asked = run.size(10_000, 500), _situations()
    suggested = empty = NONE
    async with whole(run.folder / "suggestions", StandIn()) as system:
        token = await remember(system, _memories(size), name="fill", size=500)
        await found(system, token)
        for turn in range(run.rounds):
            warm_up = 0 if turn else CALLS
            requests = list(islice(asked, CALLS + warm_up))
            lanes = [
                system.search.empty_lane(),
                system.search.lane(METHOD, requests, SuggestProactivelyResponse),
            ]
            of_empty, of_suggested = await run.caller.alternate(
                lanes, rounds=1, calls=CALLS, warm_up=max(warm_up, 1)
            )
            empty, suggested = empty + of_empty, suggested + of_suggested
        stub = SuggestionServiceStub(system.search.serving.channel(agent()))
        replies = [await stub.SuggestProactively(each) for each in islice(asked, CALLS)]
    whole_calls = sum(each.all_triggers_tried for each in replies)
    yield Row(
        f"suggestions, {size:,} memories, {size // 10:,} with triggers",
        "ms",
        suggested.pair,
        floor=empty.pair,
        floor_is="an empty RPC; ratio of p50",
        ratio=suggested.at(50) / empty.at(50),
        note=f"in {whole_calls} of {CALLS} calls every trigger was tried within its 50 ms",
    )


def _memories(size: int) -> Iterator[Memory]:
    for number, text in enumerate(islice(sentences.endless(1), size)):
        triggers = [TRIGGERS[number // 10 % 3].format(number)] if number % 10 == 0 else []
        yield Memory(content=text, surfaces_when=triggers)


def _situations() -> Iterator[SuggestProactivelyRequest]:
    trace = "  File main.py, in run: call(step)\n" * 50
    for number, text in enumerate(sentences.questions(seed=8)):
        part = number * 10 % 500
        yield SuggestProactivelyRequest(
            file_path=f"src/part{part}/main.py",
            error_message=f"{trace}no such part {part}",
            snippet=f"{text} It is part {part} of the plan.",
        )
