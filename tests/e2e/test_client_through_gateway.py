"""The Python client against the whole system: both colours, refusals, HTTP beside gRPC."""

from collections.abc import AsyncIterator

import pytest
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Refused
from concord_client.credentials import Target
from concord_embedded import Running


def client_of(system: Running, space: str = "default") -> AsyncClient:
    """An asynchronous client of a space."""
    return AsyncClient(Target(system.url, system.keys[space]))


async def batch(*contents: str) -> AsyncIterator[memory_pb2.BatchAddMemoriesRequest]:
    """The messages of a batch."""
    header = memory_pb2.BatchHeader(request_id="b-1", memory_count=len(contents))
    yield memory_pb2.BatchAddMemoriesRequest(header=header)
    for content in contents:
        yield memory_pb2.BatchAddMemoriesRequest(memory=type_pb2.Memory(content=content))


async def test_a_batch_is_answered(system: Running) -> None:
    """W4 M6 The asynchronous client hands on the reply to a stream of memories."""
    async with client_of(system) as concord:
        reply = await concord.memory.BatchAddMemories(batch("One cup.", "Two cups."))

    assert [result.outcome for result in reply.results] == [memory_pb2.BATCH_OUTCOME_CREATED] * 2
    assert reply.token


async def test_an_early_refusal_of_a_long_upload_keeps_its_reason(system: Running) -> None:
    """W1 M6 A batch whose first item is bad is refused with why, while the rest still comes."""
    async with client_of(system) as concord:
        for _ in range(5):
            with pytest.raises(Refused) as caught:
                await concord.memory.BatchAddMemories(batch(" ", *(["x" * 500] * 500)))
            assert caught.value.reason == "ERROR_REASON_FIELD_INVALID"
            assert [each.field for each in caught.value.violations] == ["memory.content"]


async def test_a_long_upload_with_a_wrong_key_is_told_so(system: Running) -> None:
    """W6 The reason comes through also where nobody reads the upload."""
    async with AsyncClient(Target(system.url, "ck_" + "Zb3" * 14 + "x")) as concord:
        with pytest.raises(Refused) as caught:
            await concord.memory.BatchAddMemories(batch(*(["x" * 500] * 500)))

    assert caught.value.reason == "ERROR_REASON_CREDENTIAL_INVALID"
