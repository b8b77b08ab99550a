"""The Python client against the whole system: both colours, refusals, HTTP beside gRPC."""

import json
import urllib.request
from collections.abc import AsyncIterator

import pytest
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
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


async def test_write_search_and_read(system: Running) -> None:
    """W1 W4 A write's token makes the next search see it."""
    async with client_of(system) as concord:
        memory = type_pb2.Memory(content="Tea is at four.")
        added = await concord.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
        fresh = type_pb2.Consistency(at_least_as_fresh=added.token)
        reply = await concord.search.Search(
            search_pb2.SearchRequest(query="when is tea", consistency=fresh)
        )

    assert [result.memory.id for result in reply.results] == [added.memory.id]
    assert reply.results[0].explanation.relevance_reason


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


async def test_two_spaces_with_the_same_names_stay_apart(system: Running) -> None:
    """G13 Neither reads, searches nor lineage cross."""
    async with client_of(system) as home, client_of(system, "demo") as away:
        tokens = []
        for concord, content in ((home, "Tea at home."), (away, "Tea abroad.")):
            memory = type_pb2.Memory(id="tea", content=content)
            reply = await concord.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
            tokens.append(reply.token)
        contents = []
        for concord, token in ((home, tokens[0]), (away, tokens[1])):
            fresh = type_pb2.Consistency(at_least_as_fresh=token)
            found = await concord.search.Search(
                search_pb2.SearchRequest(query="tea", consistency=fresh)
            )
            contents += [result.memory.content for result in found.results]
        foreign = type_pb2.Consistency(at_least_as_fresh=tokens[0])
        with pytest.raises(Refused) as caught:
            await away.search.Search(search_pb2.SearchRequest(query="tea", consistency=foreign))

    assert contents == ["Tea at home.", "Tea abroad."]
    assert caught.value.reason == "ERROR_REASON_CONSISTENCY_TOKEN_INVALID"


async def test_http_and_grpc_are_one_system(system: Running) -> None:
    """W2 What is added over HTTP/JSON is read over gRPC."""
    import asyncio

    def post(method: str, body: object) -> object:
        request = urllib.request.Request(
            f"{system.http_url}/concord.graph.v1.MemoryService/{method}",
            data=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {system.keys['default']}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    body = {"requestId": "r-1", "memory": {"id": "tea", "content": "Tea is at four."}}
    told = await asyncio.to_thread(post, "AddMemory", body)
    async with client_of(system) as concord:
        reply = await concord.memory.GetMemory(memory_pb2.GetMemoryRequest(id="tea"))

    assert isinstance(told, dict)
    assert told["created"] is True
    assert reply.memory.content == "Tea is at four."
