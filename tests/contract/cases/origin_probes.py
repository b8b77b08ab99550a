"""Who wrote a memory down and what was returned to whom: what must not be claimed or kept."""

from dataclasses import replace
from typing import Any

from concord.graph.v1 import memory_pb2, recall_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_graph.ports import Author
from concord_graph.servicer.incoming import author
from contract_homes import Template
from contract_live import NOW, Live, member
from google.protobuf.message import Message

DAY = 86_400_000
"""In milliseconds."""
SEARCH = Caller("a", "search", frozenset({"record:all"}), "SYSTEM")
"""Search, which tells what it returned."""


async def _recalled(live: Live, template: Template, days_ago: int) -> bool:
    """Log an answer of some days ago as search does; say whether the log shows it."""
    at = f"{NOW // 1000 - days_ago * DAY:012x}"
    recall = recall_pb2.Recall(
        query_id=f"{at[:8]}-{at[8:]}-7000",
        principal="agent-1",
        memory_ids=[template.a.memory_id],
    )
    await live.tell(SEARCH, "AddRecall", recall_pb2.AddRecallRequest(recall=recall))
    listed = await live.tell(member("a"), "ListRecalls", recall_pb2.ListRecallsRequest())
    return bool(listed.recalls)


async def nobody_asked_for_a_log(live: Live, template: Template) -> bool:
    """Log an answer in a space whose log is off."""
    return await _recalled(live, template, 0)


async def an_old_answer_is_listed(live: Live, template: Template) -> bool:
    """List an answer of 91 days ago."""
    await live.tell(member("a"), "SetRecallLog", recall_pb2.SetRecallLogRequest(enabled=True))
    return await _recalled(live, template, 91)


async def a_file_comes_with_a_persons_key(live: Live, _: Template) -> bool:
    """Write in a batch what the person did not say."""
    person = replace(member("a", "anna"), kind="HUMAN", origin="HUMAN")
    note = type_pb2.Memory(id="note", content="From a file.")
    header = memory_pb2.BatchHeader(request_id="batch", memory_count=1)
    batch: list[Message | bytes] = [
        memory_pb2.BatchAddMemoriesRequest(header=header),
        memory_pb2.BatchAddMemoriesRequest(memory=note),
    ]
    assert (await live.ask(person, "BatchAddMemories", batch)).refusal is None
    stored = await live.tell(person, "GetMemory", memory_pb2.GetMemoryRequest(id="note"))
    return bool(stored.memory.origin != type_pb2.ORIGIN_IMPORT)


def as_the_key_says(caller: Caller, request: Any, method: str) -> Author:
    """Return who writes, whatever they write with."""
    return replace(author(caller, request, ""), method=method)


async def always_on(*_: object) -> bool:
    """Say that the log is on."""
    return True
