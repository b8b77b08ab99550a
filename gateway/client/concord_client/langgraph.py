"""A LangGraph store that keeps its items in Concord: found by meaning, with their history.

    from concord_client.langgraph import ConcordStore

    store = ConcordStore(Concord.connect())
    graph = builder.compile(store=store)

Comes with `pip install 'concord-client[langgraph]'`: it needs `langgraph-checkpoint` 4. An item is
a memory; what it held before stays in its history, and a deleted one is forgotten. `ttl` and
`index` have no effect: nothing expires, all is indexed.
"""

import asyncio
import hashlib
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from concord.graph.v1 import memory_pb2
from concord.type.v1.type_pb2 import Memory
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from concord_client.verbs.clients import Concord
from concord_client.verbs.steps import Step

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise ImportError(
        "concord_client.langgraph needs LangGraph's stores, which are not installed: "
        "pip install 'concord-client[langgraph]'"
    ) from error

TAG = "langgraph"
MOST_FOUND = 100
"""Results of one search, from which those of a filter are chosen."""

Namespace = tuple[str, ...]

EQUALITIES: Mapping[str, Callable[[Any, Any], bool]] = {"$eq": operator.eq, "$ne": operator.ne}
ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class ConcordStore(BaseStore):  # type: ignore[misc] # its base is an extra, not there when checked
    """LangGraph's long-term memory, over a client that the caller opens and closes."""

    def __init__(self, concord: Concord) -> None:
        self._concord = concord

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """What each operation gives, in order. Raises `Refused`."""
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        match op:
            case GetOp():
                memory = self._memory(_id(op.namespace, op.key))
                return _item(memory) if memory and not _is_gone(memory) else None
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise TypeError(f"no operation of a store: {op!r}")

    def _put(self, op: PutOp) -> None:
        found = self._memory(_id(op.namespace, op.key))
        if op.value is None:
            if found and not _is_gone(found):
                request = memory_pb2.ForgetMemoryRequest(id=found.id, etag=found.etag)
                self._call(request)
            return
        memory = _memory_of(op.namespace, op.key, op.value)
        if found is None:
            added = memory_pb2.AddMemoryRequest(memory=memory)
            self._call(added)
            return
        memory.etag = self._restored(found).etag
        mask = FieldMask(paths=["content", "properties"])
        request_ = memory_pb2.UpdateMemoryRequest(memory=memory, update_mask=mask)
        self._call(request_)

    def _restored(self, memory: Memory) -> Memory:
        if not _is_gone(memory):
            return memory
        request = memory_pb2.RestoreMemoryRequest(id=memory.id, etag=memory.etag)
        reply = self._call(request)
        restored: Memory = reply.memory
        return restored

    def _search(self, op: SearchOp) -> list[SearchItem]:
        tag = _tag(op.namespace_prefix)
        found: Iterator[SearchItem]
        if op.query:
            answer = self._concord.search(op.query, limit=MOST_FOUND, tags=[tag])
            found = (_scored(each.memory.properties, each.memory, each.score)
                     for each in answer.results)  # fmt: skip
        else:
            found = (_item(memory) for memory in self._listed(tag))
        fitting = [each for each in found if _fits(each.value, op.filter or {})]
        return fitting[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        every = {_item(memory).namespace for memory in self._listed(TAG)}
        fitting = {
            each[: op.max_depth] for each in every
            if all(_matches(condition, each) for condition in op.match_conditions or ())
        }  # fmt: skip
        return sorted(fitting)[op.offset : op.offset + op.limit]

    def _listed(self, tag: str) -> Iterator[Memory]:
        request = memory_pb2.ListMemoriesRequest(
            filter=memory_pb2.MemoryFilter(tag=tag), page_size=200
        )
        while True:
            reply = self._call(request)
            yield from reply.memories
            request.page_token = reply.next_page_token
            if not request.page_token:
                return

    def _memory(self, identity: str) -> Memory | None:
        request = memory_pb2.GetMemoryRequest(id=identity)
        reply = self._call(request)
        return reply.memory if reply.HasField("memory") else None

    def _call(self, request: Message) -> Any:
        """Through the client, so that a search sees what was written before."""
        return self._concord.take(Step(request, lambda reply: reply))


def _id(namespace: Namespace, key: str) -> str:
    return f"{TAG}-{hashlib.sha256(json.dumps([*namespace, key]).encode()).hexdigest()[:40]}"


def _tag(prefix: Namespace) -> str:
    """What all items below a prefix are tagged with; of the empty one, all items."""
    if not prefix:
        return TAG
    return f"{TAG}-{hashlib.sha256(json.dumps(prefix).encode()).hexdigest()[:40]}"


def _memory_of(namespace: Namespace, key: str, value: Mapping[str, Any]) -> Memory:
    memory = Memory(
        id=_id(namespace, key),
        content=json.dumps(value, ensure_ascii=False),
        tags=[_tag(namespace[:depth]) for depth in range(len(namespace) + 1)],
    )
    memory.properties.update(
        {"namespace": list(namespace), "key": key, "value": json.dumps(value)}  # with its nulls
    )
    return memory


def _item(memory: Memory) -> SearchItem:
    said: Mapping[str, Any] = MessageToDict(memory.properties)
    return SearchItem(
        namespace=tuple(said["namespace"]),
        key=said["key"],
        value=json.loads(said["value"]),
        created_at=memory.create_time.ToDatetime(),
        updated_at=memory.modify_time.ToDatetime(),
    )


def _scored(said: Mapping[str, Any], memory: Any, score: float) -> SearchItem:
    return SearchItem(
        namespace=tuple(said["namespace"]),
        key=said["key"],
        value=json.loads(said["value"]),
        created_at=memory.created,
        updated_at=memory.modified or memory.created,
        score=score,
    )


def _is_gone(memory: Memory) -> bool:
    return memory.HasField("forget_time") or memory.HasField("erase_time")


def _fits(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value has what a filter names: values, or comparisons such as {"$gt": 3}."""
    for name, asked in wanted.items():
        is_compared = isinstance(asked, dict) and any(key.startswith("$") for key in asked)
        compared = asked.items() if is_compared else [("$eq", asked)]
        if not all(_holds(sign, value.get(name), other) for sign, other in compared):
            return False
    return True


def _holds(sign: str, value: Any, other: Any) -> bool:
    """Whether a comparison holds; what has no order, as a null beside a number, is on no side."""
    if sign in EQUALITIES:
        return EQUALITIES[sign](value, other)
    try:
        return ORDERS[sign](value, other)
    except TypeError:
        return False


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", each) for wanted, each in zip(path, part, strict=True))
