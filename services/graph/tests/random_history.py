"""A space that two principals write to at random, alone and together, to try its supersession.

Few names and few times, so that values tie, return and replace one another.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import grpc
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from governed_actions import action_of, applied
from graph_world import (
    CONSTITUTIVE,
    DAY,
    DEPRECATES,
    DESCRIPTIVE,
    START,
    SUPERSEDES,
    Calls,
    Parties,
    World,
    by_id,
    edge_of,
)
from hypothesis import strategies as st
from random_writes import Triple, date, facts_of, live_edges, op

SOURCES = ("a", "a", "a", "b")
TARGETS = ("x", "y", "z")
RELATIONS = ("IN", "IN", "IN", "IN", "LIKES")
MEMORIES = ("m1", "m2", "m3", "m4", "m5")
TIMES = (None, START - 3 * DAY, START - 2 * DAY, START - DAY)
ROW_TIMES = (None, *(START + day * DAY for day in range(-3, 3)))
REFUSALS = {
    "ERROR_REASON_" + name
    for name in (
        *("CONSTITUTIVE_EDGE_PROTECTED", "ITEM_NOT_FOUND", "ITEM_EXISTS", "ITEM_STATE"),
        *("LINEAGE_CYCLE", "FIELD_INVALID", "GRANT_INVALID", "ITEM_ERASED", "UNDO_CONFLICT"),
        *("SAFEGUARD_VIOLATION", "ETAG_MISMATCH"),
    )
}

triples = st.tuples(*map(st.sampled_from, (SOURCES, RELATIONS, TARGETS)))
times = st.sampled_from(TIMES)
lasting = st.sampled_from([None, None, None, 1, 4])
memories = st.sampled_from(MEMORIES)
told_first = st.sampled_from(MEMORIES[:3])  # what names the others names ghosts
places = st.integers(0, 6)
lineage = st.sampled_from([SUPERSEDES, SUPERSEDES, DEPRECATES])
who = st.sampled_from(["alone", "alone", "other", "together"])


put_edge = op("put_edge", triple=triples, time=times, days=lasting)
facts = st.lists(triples, min_size=1, max_size=2)
taken = st.booleans()
add = op("add", memory_id=memories, facts=facts, time=times, days=lasting, extracted=taken)
add_first = op("add", memory_id=told_first, facts=facts, time=times, days=lasting, extracted=taken)
relate_values = op("relate_values", who=who, relation=lineage, place=places, older=places)
relate_memories = op("relate_memories", who=who, relation=lineage, newer=told_first, older=memories)
hang = op("hang", memory_id=told_first, together=st.sampled_from([True, True, False]))
writes = st.one_of(
    put_edge,
    add,
    *[relate_values] * 3,
    *[op("correct_row", place=places)] * 2,
    *[relate_memories] * 2,
    op("name_first", newer=told_first, ghost=st.sampled_from(MEMORIES[3:]), time=times),
    *[hang] * 2,
    *[op("define_edge", triple=triples, time=times)] * 2,
    *[op("replace_defined", place=places, older=places)] * 2,
    op("retime_edge", place=places, time=times, days=lasting),
    op("delete_edge", place=places, together=st.booleans()),
    op("define_memory", memory_id=memories, facts=facts),
    op(
        "restate",
        memory_id=memories,
        facts=st.lists(triples, max_size=2),
        time=times,
        extracted=taken,
    ),
    op("toggle", memory_id=memories),
    op("erase", memory_id=memories),
    op("declare", relation=st.sampled_from(RELATIONS), functional=st.sampled_from([1, 1, 0])),
    op("undo", place=places),
    op("wait", hours=st.sampled_from([1, 30])),
)
walks = st.tuples(
    st.lists(put_edge, min_size=3, max_size=6),
    st.lists(add_first, min_size=2, max_size=3),
    st.lists(writes, min_size=8, max_size=24),
).map(lambda parts: [each for part in parts for each in part])


@dataclass
class Space:
    """A space with a genesis, under the writes of two principals, and of both together."""

    live: World
    calls: Calls
    other: Calls
    parties: Parties

    async def do(self, name: str, arguments: dict[str, object]) -> None:
        """Do one write; a refusal must be one of those that a caller can understand."""
        attempt: Callable[..., Awaitable[None]] = getattr(self, f"_{name}")
        self.live.clock.pass_(1_000)
        try:
            await attempt(**arguments)
        except grpc.aio.AioRpcError as error:
            failure = from_rpc_error(error)
            assert failure.reason in REFUSALS, failure

    async def _put_edge(self, triple: Triple, time: int | None, days: int | None) -> None:
        await self.calls.upsert(edge_of(*triple, valid_from=time, valid_until=_until(time, days)))

    async def _define_edge(self, triple: Triple, time: int | None) -> None:
        edge = edge_of(*triple, valid_from=time, edge_type=CONSTITUTIVE)
        await self._together(action_of("upsert_edge", edge=edge))

    async def _retime_edge(self, place: int, time: int | None, days: int | None) -> None:
        if edge := await self._edge(place, of="IN"):
            date(edge, time, _until(time, days))
            await self.calls.update_edge(edge, "valid_from", "valid_until")

    async def _delete_edge(self, place: int, together: bool) -> None:
        edge = await self._edge(place)
        if edge is None:
            return
        if not together:
            await self.calls.delete_edge(edge)
            return
        await self._together(action_of("delete_edge", id=edge.id, etag=edge.etag))

    async def _relate_values(self, who: str, relation: int, place: int, older: int) -> None:
        """Let one value of a row replace another, earlier or later."""
        ends = [await self._edge(place, of="IN"), await self._edge(older, of="IN")]
        if ends[0] and ends[1]:
            await self._relate(who, relation, ends[0].id, ends[1].id)

    async def _replace_defined(self, place: int, older: int) -> None:
        """Let one value replace another that defines the agent, with both consents."""
        ends = [await self._edge(place, of="IN"), await self._edge(older, of="IN", defined=True)]
        if ends[0] and ends[1]:
            await self._relate("together", SUPERSEDES, ends[0].id, ends[1].id)

    async def _correct_row(self, place: int) -> None:
        """Say of a value that the one before it was right, and of that, that the one before was."""
        edges = [
            e
            for e in await live_edges(self.calls)
            if e.relation == "IN" and e.edge_type == DESCRIPTIVE
        ]
        begins = {e.supersession.effective_valid_from.ToMicroseconds(): e for e in edges}
        row = [begins[time] for time in sorted(begins) if begins[time].source.name == "a"]
        for newer, older in itertools.pairwise(row[place % 3 :]):
            await self._relate("alone", SUPERSEDES, newer.id, older.id)

    async def _relate_memories(self, who: str, relation: int, newer: str, older: str) -> None:
        await self._relate(who, relation, newer, older)

    async def _name_first(self, newer: str, ghost: str, time: int | None) -> None:
        """Let the other principal replace what is not there yet, and then write it."""
        await self._relate("other", SUPERSEDES, newer, ghost)
        await self._add(ghost, [], time, None)

    async def _relate(self, who: str, relation: int, newer: str, older: str) -> None:
        if who != "together":
            calls = self.other if who == "other" else self.calls
            await calls.relate(relation, newer, older)  # type: ignore[arg-type] # drawn from it
            return
        action = action_of("add_lineage", relation=relation, newer_id=newer, older_id=older)
        await self._together(action)

    async def _add(
        self,
        memory_id: str,
        facts: list[Triple],
        time: int | None,
        days: int | None,
        extracted: bool = False,
    ) -> None:
        stated = facts_of(facts, extracted=extracted)
        memory = type_pb2.Memory(id=memory_id, content=memory_id, facts=stated)
        date(memory, time, _until(time, days))
        await self.calls.add_memory(memory)

    async def _define_memory(self, memory_id: str, facts: list[Triple]) -> None:
        memory = type_pb2.Memory(
            id=memory_id,
            content=memory_id or "of a drawn id",
            facts=facts_of(facts),
            edge_type=CONSTITUTIVE,
        )
        await self._together(action_of("add_memory", memory=memory))

    async def _restate(
        self, memory_id: str, facts: list[Triple], time: int | None, extracted: bool
    ) -> None:
        memory = await self._memory(memory_id)
        if memory is None:
            return
        del memory.facts[:]
        memory.facts.extend(facts_of(facts, extracted=extracted))
        date(memory, time, None)
        await self.calls.update(memory, "facts", "valid_from", "valid_until")

    async def _hang(self, memory_id: str, together: bool) -> None:
        """State an edge at a memory, which pins it if both principals agree to it."""
        edge_type = CONSTITUTIVE if together else DESCRIPTIVE
        edge = edge_of("a", "KEEPS", by_id(memory_id), edge_type=edge_type)
        if together:
            await self.parties.apply(self.calls, action_of("upsert_edge", edge=edge))
        else:
            await self.calls.upsert(edge)

    async def _toggle(self, memory_id: str) -> None:
        memory = await self._memory(memory_id)
        if memory:
            is_gone = memory.HasField("forget_time")
            await (self.calls.restore(memory) if is_gone else self.calls.forget(memory))

    async def _erase(self, memory_id: str) -> None:
        memory = await self._memory(memory_id)
        if memory:
            await self.calls.erase(memory)

    async def _declare(self, relation: str, functional: int) -> None:
        await self.calls.declare(relation, functional=bool(functional))

    async def _undo(self, place: int) -> None:
        """Bring an edge back to how it was before its last version, with both consents."""
        edge = await self._edge(place)
        if edge is None:
            return
        history = [change for change in await self.calls.changes() if change.item_id == edge.id]
        newest = max(change.revision for change in history)
        former = {"id": edge.id, "revision": newest - 1, "expected_revision": newest}
        await self._together(action_of("revert_items", items=[former]))

    async def _wait(self, hours: int) -> None:
        self.live.clock.pass_(hours * 3_600_000_000)

    async def _together(self, action: governed_pb2.GovernedAction) -> None:
        """Apply an action with both consents, or as governance alone if it needs none."""
        try:
            await self.parties.apply(self.calls, action)
        except grpc.aio.AioRpcError as error:
            if from_rpc_error(error).reason != "ERROR_REASON_GRANT_INVALID":
                raise
            await applied(self.calls, action)

    async def _edge(
        self, place: int, *, of: str = "", defined: bool = False
    ) -> type_pb2.Edge | None:
        """Return one of the live edges, in the order of their making.

        `of`: of that relation; `defined`: a constitutive one.
        """
        edges = await live_edges(self.calls)
        edges = [edge for edge in edges if of in ("", edge.relation)]
        edges = [edge for edge in edges if not defined or edge.edge_type == CONSTITUTIVE]
        return edges[place % len(edges)] if edges else None

    async def _memory(self, memory_id: str) -> type_pb2.Memory | None:
        (state,) = await self.calls.states((memory_id, 0))
        return state.memory if state.memory.id else None


async def enrolled(live: World, name: str) -> Space:
    """Return a space with a genesis and a functional relation."""
    live.clock.now = START
    parties = live.parties(name)
    space = Space(live, live.calls(name), live.calls(name, "agent-2"), parties)
    await parties.enrol(space.calls)
    await space.calls.declare("IN")
    return space


async def write_in_row(space: Space, draw: random.Random, *, erasing: bool = True) -> None:
    """Write at random into one row, and what stands around it."""
    triple = ("a", "IN", draw.choice("xyz"))
    fact_ = ("a", draw.choice(["IN", "IN", "LIKES"]), draw.choice("xyz"))
    time, memory = draw.choice(ROW_TIMES), draw.choice(MEMORIES[:3])
    days, place, older = draw.choice([None, None, 2]), draw.randrange(9), draw.randrange(9)
    who = draw.choice(["alone", "alone", "together"])
    writes: dict[str, tuple[int, dict[str, object]]] = {
        "put_edge": (10, {"triple": triple, "time": time, "days": days}),
        "delete_edge": (4, {"place": place, "together": False}),
        "retime_edge": (5, {"place": place, "time": time, "days": days}),
        "relate_values": (3, {"who": who, "relation": 1, "place": place, "older": older}),
        "correct_row": (1, {"place": place}),
        "define_edge": (1, {"triple": triple, "time": time}),
        "replace_defined": (1, {"place": place, "older": older}),
        "add": (
            3,
            {
                "memory_id": memory,
                "facts": [fact_],
                "time": time,
                "days": days,
                "extracted": place % 3 == 0,
            },
        ),
        "restate": (
            2,
            {"memory_id": memory, "facts": [fact_], "time": time, "extracted": place % 3 == 0},
        ),
        "define_memory": (2, {"memory_id": "", "facts": draw.choice([[], [fact_]])}),
        "toggle": (2, {"memory_id": memory}),
        "erase": (int(erasing), {"memory_id": memory}),
        "hang": (1, {"memory_id": memory, "together": True}),
        "declare": (1, {"relation": "IN", "functional": draw.randrange(3)}),
        "undo": (1, {"place": place}),
    }
    names = draw.choices([*writes], [weight for weight, _ in writes.values()])
    await space.do(names[0], writes[names[0]][1])


def _until(time: int | None, days: int | None) -> int | None:
    return None if time is None or days is None else time + days * DAY
