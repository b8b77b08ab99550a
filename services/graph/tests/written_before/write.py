"""Wrote what `test_written_before.py` reads: run once, with the program of the time, never again.

With that program's packages and graph's tests on PYTHONPATH:

store_schema_1   commit eb381e3: `python write.py store FOLDER`
full_format_1    the commit that added it: `python write.py full FOLDER`
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from concord.type.v1 import type_pb2
from concord_client.trust import signing
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from graph_world import (
    AMENDS,
    CONTRADICTS,
    DAY,
    DEPRECATES,
    SUPERSEDES,
    Calls,
    Clock,
    Parties,
    World,
    by_id,
    reason,
    stamp,
    world,
)


def known_parties(live: World) -> Parties:
    """Return parties whose keys the reader can make again."""
    parties = live.parties()
    keys = [Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2, 3)]
    parties.agent = signing.Signer("agent-1", keys[0])
    parties.human = signing.Signer("anna", keys[1])
    parties.governance = keys[2]
    return parties


async def furnish(calls: Calls, parties: Parties, clock: Clock) -> None:
    """Do everything that the program of that time could do."""
    await parties.enrol(calls)
    await parties.constitutive_edge(calls)
    await parties.constitutive_memory(calls)
    await calls.put_node("Ada", label="Person", vector_id="v-1")
    await calls.put_node("Mistake")
    await calls.delete_node(await calls.get_node("Mistake"))
    first = await calls.put_edge(
        "Ada", "WORKS_AT", "Acme", valid_from=clock() - 9 * DAY, properties={"n": 1, "x": [2.5, {}]}
    )
    await calls.put_edge("Ada", "WORKS_AT", "Acme", valid_from=clock() - DAY, weight=0.5)
    moved = await calls.put_edge("Ada", "WORKS_AT", "Zeta", importance=type_pb2.IMPORTANCE_HIGH)
    await calls.relate(SUPERSEDES, moved.id, first.id, "she moved")
    await calls.delete_edge(await calls.put_edge("Ada", "LIKES", "Coffee"))
    clock.pass_(5_000_007)
    tea = await calls.add("Ada likes t\u00e9a", id="tea", tags=["taste"], domain="people.ada")
    await calls.add(
        "Ada likes coffee now. Supersedes: [[memory:tea]], see [[memory:never/declared]]",
        id="coffee",
        sources=[type_pb2.Source(speaker="Ada", file="a.md", trust=type_pb2.TRUST_LEVEL_VERIFIED)],
        surfaces_when=["*.py"],
        valid_until=stamp(clock() + 99 * DAY),
    )
    await calls.add("An importer's", external_id="x-1", session_id="s-1", category="c")
    gone = await calls.add("Soon forgotten", id="gone")
    await calls.relate(DEPRECATES, "coffee", "gone")
    await calls.forget(gone)
    back = await calls.add("Forgotten and back", id="back")
    await calls.restore(await calls.forget(back))
    await calls.relate(AMENDS, "back", "coffee", "one word")
    await calls.relate(CONTRADICTS, "back", "tea")
    tea.tags.append("old")
    await calls.update(tea, "tags")
    await calls.put_edge(by_id("tea"), "ABOUT", "Ada")
    await calls.add("turn one", kind=type_pb2.MEMORY_KIND_TURN, session_id="s-1")
    assert await reason(calls.forget(await calls.get("who-i-am"))) != ""


async def store(folder: Path) -> None:
    """Write a store's dump and its state."""
    clock = Clock()
    path = folder / "graph.db"
    async with world(path, clock=clock) as live:
        calls = live.calls()
        await furnish(calls, known_parties(live), clock)
        await live.calls("other").put_node("Theirs")
        clock.pass_(DAY)
        await calls.get("tea", peek=False)
        await calls.get("tea", peek=False)
        await calls.get_edge((await calls.get_triple("Ada", "WORKS_AT", "Zeta")).id, peek=False)
        state = await calls.export()
    _write(folder / "store_schema_1_state.jsonl", state)
    with closing(sqlite3.connect(path)) as db:
        _write(folder / "store_schema_1.sql", db.iterdump())


async def full(folder: Path) -> None:
    """Write a full export and its state."""
    import transfers  # the program that wrote the store had no such thing

    clock = Clock()
    async with world(folder / "graph.db", clock=clock) as live:
        calls = live.calls()
        await furnish(calls, known_parties(live), clock)
        await transfers.with_layers(calls)
        await calls.declare("LIVES_IN")
        await transfers.erase_one(calls, clock())
        await calls.get("tea", peek=False)
        _write(folder / "full_format_1_state.jsonl", await calls.export())
        _write(folder / "full_format_1.jsonl", await transfers.export_of(calls))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    asyncio.run({"store": store, "full": full}[sys.argv[1]](Path(sys.argv[2])))
