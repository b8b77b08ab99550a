"""What a hand does to memories: each draws one write, or None when there is nothing to do."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from concord.graph.v1 import lineage_pb2, memory_pb2
from concord.type.v1.type_pb2 import LINEAGE_RELATION_SUPERSEDES, Memory
from google.protobuf.field_mask_pb2 import FieldMask

from tests.chaos.hand import Deed, Hand, Sending, deed, under

NUMBER = re.compile(r"/[a-z](\d+)")


def add(hand: Hand) -> Deed:
    """Remember one text: with facts, in place of another one, of one that is not there yet."""
    content, memory_id, ghost = hand.text(), f"{hand.name}/m{hand.number()}", ""
    chance = hand.draw.random()
    if hand.live and chance < 0.4:
        content += f"\n\nSupersedes: [[memory:{hand.one().id}]]"
    elif chance < 0.5:
        ghost = f"{hand.name}/g{hand.number()}"
        content += f"\n\nSupersedes: [[memory:{ghost}]]"
    elif hand.ghosts:
        memory_id = hand.ghosts[-1]
    memory = Memory(id=memory_id, content=content, facts=hand.facts())

    def note(reply: memory_pb2.AddMemoryResponse) -> list[str]:
        assert reply.memory.id == memory_id
        hand.live[memory_id] = reply.memory
        hand.ghosts = [each for each in (*hand.ghosts, ghost) if each not in ("", memory_id)]
        return [memory_id]

    return deed(
        lambda c, r: c.memory.AddMemory(memory_pb2.AddMemoryRequest(request_id=r, memory=memory)),
        note,
    )


def batch(hand: Hand) -> Deed:
    """Remember several texts, all or none; each id tells how many there are."""
    size, number = hand.draw.randint(2, 15), hand.number()
    memories = [
        Memory(id=f"{hand.name}/b{number}x{size}.{i}", content=hand.text(), facts=hand.facts())
        for i in range(size)
    ]

    def parts(request_id: str) -> Iterator[memory_pb2.BatchAddMemoriesRequest]:
        header = memory_pb2.BatchHeader(request_id=request_id, memory_count=size)
        yield memory_pb2.BatchAddMemoriesRequest(header=header)
        for memory in memories:
            yield memory_pb2.BatchAddMemoriesRequest(memory=memory)

    def note(reply: memory_pb2.BatchAddMemoriesResponse) -> list[str]:
        ids = [result.memory_id for result in reply.results]
        assert ids == [memory.id for memory in memories]
        hand.live |= {memory.id: memory for memory in memories}
        return ids

    return deed(lambda c, r: c.memory.BatchAddMemories(parts(r)), note)


def update(hand: Hand) -> Deed | None:
    """Say something else, state other facts."""
    return _on_memory(hand, hand.live, _updated, hand.live)


def forget(hand: Hand) -> Deed | None:
    """Forget."""
    return _on_memory(hand, hand.live, _forgotten, hand.forgotten)


def restore(hand: Hand) -> Deed | None:
    """Take forgetting back."""
    return _on_memory(hand, hand.forgotten, _restored, hand.live)


def erase(hand: Hand) -> Deed | None:
    """Erase, now and then."""
    if hand.draw.random() < 0.5:
        return None
    return _on_memory(hand, hand.live, _erased, None)


def _on_memory(
    hand: Hand,
    where: dict[str, Memory],
    act: Callable[[Hand, Memory], Sending],
    goes_to: dict[str, Memory] | None,
) -> Deed | None:
    # What a batch said carries no etag: it is never touched again.
    known = [memory for memory in where.values() if memory.etag]
    if not known:
        return None
    memory = hand.draw.choice(known)

    def note(reply: Any) -> list[str]:
        assert reply.memory.id == memory.id
        del where[memory.id]
        if goes_to is None:
            hand.erased.add(memory.id)
        else:
            goes_to[memory.id] = reply.memory
        return [memory.id]

    return deed(act(hand, memory), note)


def _updated(hand: Hand, memory: Memory) -> Sending:
    said = Memory(id=memory.id, etag=memory.etag, content=hand.text(), facts=hand.facts())
    mask = FieldMask(paths=["content", "facts"])
    return lambda c, r: c.memory.UpdateMemory(
        memory_pb2.UpdateMemoryRequest(request_id=r, memory=said, update_mask=mask)
    )


def _forgotten(_: Hand, memory: Memory) -> Sending:
    return lambda c, r: c.memory.ForgetMemory(
        memory_pb2.ForgetMemoryRequest(request_id=r, id=memory.id, etag=memory.etag)
    )


def _restored(_: Hand, memory: Memory) -> Sending:
    return lambda c, r: c.memory.RestoreMemory(
        memory_pb2.RestoreMemoryRequest(request_id=r, id=memory.id, etag=memory.etag)
    )


def _erased(_: Hand, memory: Memory) -> Sending:
    return lambda c, r: c.memory.EraseMemory(
        memory_pb2.EraseMemoryRequest(request_id=r, id=memory.id, etag=memory.etag)
    )


def relate(hand: Hand) -> Deed | None:
    """Say that a memory stands in for an older one."""
    if len(hand.live) < 2:
        return None
    older, newer = sorted(hand.draw.sample(list(hand.live), 2), key=_age)
    if any(each.startswith(f"{hand.name}/g") for each in (older, newer)):
        return None  # what was a ghost is older than it seems: this might close a circle
    request = lineage_pb2.AddLineageRequest(
        newer_id=newer, older_id=older, relation=LINEAGE_RELATION_SUPERSEDES
    )
    return deed(lambda c, r: c.lineage.AddLineage(under(request, r)), lambda _: [])


def _age(memory_id: str) -> tuple[int, str]:  # those of one batch are of one age
    found = NUMBER.search(memory_id)
    assert found
    return int(found[1]), memory_id


DEEDS: tuple[Callable[[Hand], Deed | None], ...] = (
    *(add, add, add, batch, update, update, forget, restore, erase, relate),
)
