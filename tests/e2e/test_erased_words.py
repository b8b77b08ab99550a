"""What is erased in graph is erased in the ledger too, and ends its undo (M4, V8, A3)."""

from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from governed_steps import RARE, said
from governed_world import Party, World, eventually, reason_of, refused
from writing import action_of, to_add, to_erase


async def test_erased_words_leave_the_ledger(live: World, party: Party) -> None:
    """M4 A3 V8 The action's bytes go, its digests stay, the log still verifies, undo has ended."""
    action = action_of(to_add(type_pb2.Memory(id="m/1", content=f"The {RARE} tea.")))
    done = await party.decide(await party.propose(action))
    found = await party.memory.GetMemory(memory_pb2.GetMemoryRequest(id="m/1"))
    assert said(live.folder)

    await party.memory.EraseMemory(to_erase(found.memory))

    receipt = memory_pb2.GetEraseReceiptRequest(memory_id="m/1")

    async def confirmers() -> set[str]:
        reply = await party.memory.GetEraseReceipt(receipt)
        told = [each for each in reply.receipt.confirmations if each.HasField("confirm_time")]
        return {each.confirmer for each in told}

    await eventually(confirmers, lambda names: {"governance", "graph"} <= names)
    assert said(live.folder) == []
    left = await party.get(done)
    assert (left.canonical, left.digest) == (b"", done.digest)
    assert not left.HasField("action")
    assert reason_of(await refused(party.undo(done)))[0] == "UNDO_IMPOSSIBLE"
    assert (await party.verified()).executed == 1
