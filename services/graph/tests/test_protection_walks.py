"""Random walks over every write, none of which finds a way to what defines the agent."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
import raw_store
from agreed_space import Agreed, agree, what_defines
from concord.graph.v1 import dialogue_pb2, graph_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_graph.domain import protection
from concord_graph.domain.items import Item
from concord_graph.domain.protection import Surroundings
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    CONTRADICTS,
    DAY,
    DEPRECATES,
    DESCRIPTIVE,
    RESOLUTION,
    START,
    SUPERSEDES,
    World,
    by_id,
    edge_of,
    named,
    struct,
    world,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from random_writes import UNSHRUNK, Op, Triple, date, facts_of, live_edges, op
from transfers import export_of, import_into

NAMES = ("Me", "Honesty", "Candour", "Silence", "Tea", "New")
MEMORIES = ("core", "old", "heir", "kept", "note", "ghost", "late")
IDS = (*MEMORIES, *(f"edge:{n}" for n in range(12)), "node:Me", "CORE", " core")
RELATIONS = ("VALUES", "KEEPS", "values", "LIKES", "RELATED_TO", "supersedes", "concord:principal")
WORDS = ("Supersedes:", "DEPRECATES", "amends:", "See", "Does not supersede", "Contradicts:")
LINKS = ("[[memory:{}]]", "[[Memory:{}|it]]", "[[memory:{}#part]]")
TYPES = (0, DESCRIPTIVE, CONSTITUTIVE, RESOLUTION, 7)
LINEAGE = (SUPERSEDES, DEPRECATES, AMENDS, CONTRADICTS)
EDGE_FIELDS = (
    *("weight", "properties", "edge_type", "importance"),
    *("source", "target", "valid_from", "valid_until", "relation"),
)
MEMORY_FIELDS = (
    *("content", "edge_type", "valid_from", "valid_until", "tags", "kind", "domain"),
    *("importance", "concepts", "surfaces_when", "sources", "external_id", "category", "facts"),
    "properties",
)
KNOWN_REFUSALS = {
    "ERROR_REASON_" + name
    for name in (
        *("CONSTITUTIVE_EDGE_PROTECTED", "ITEM_NOT_FOUND", "ITEM_EXISTS", "ITEM_STATE"),
        *("LINEAGE_CYCLE", "FIELD_INVALID", "RESERVED_NAME", "NODE_HAS_EDGES"),
        *("ETAG_MISMATCH", "UPDATE_MASK_INVALID", "GRANT_INVALID", "GENESIS_EXISTS"),
        *("ITEM_ERASED", "SPACE_NOT_EMPTY"),
    )
}

end = st.sampled_from([*NAMES, *IDS])
ids = st.sampled_from(IDS)
memory_ids = st.sampled_from([*MEMORIES, ""])
when = st.sampled_from([None, 1, START - DAY, START + DAY])
types = st.sampled_from(TYPES)
link = st.tuples(st.sampled_from(WORDS), st.sampled_from(LINKS), ids)
triples = st.tuples(*map(st.sampled_from, (NAMES, RELATIONS, NAMES)))
stated = st.lists(triples, max_size=2)


writes = st.one_of(
    op(
        "upsert_edge",
        source=end,
        relation=st.sampled_from(RELATIONS),
        target=end,
        edge_type=types,
        weight=st.sampled_from([None, 0.1, 0.9]),
        valid_from=when,
        valid_until=st.sampled_from([None, START + 2 * DAY]),
    ),
    op(
        "update_edge",
        which=st.integers(0, 15),
        fields_=st.sets(st.sampled_from(EDGE_FIELDS), min_size=1, max_size=3),
        edge_type=types,
        target=end,
        time=when,
    ),
    op("delete_edge", which=st.integers(0, 15)),
    op("upsert_node", name=st.sampled_from(NAMES), value=st.integers(0, 3)),
    op(
        "update_node",
        name=st.sampled_from(NAMES),
        field=st.sampled_from(["name", "label", "properties", "vector_id"]),
        value=st.sampled_from([*NAMES, "Other"]),
    ),
    op("delete_node", name=st.sampled_from(NAMES), cascade=st.booleans()),
    op("add", memory_id=memory_ids, said=link, edge_type=types, facts=stated, time=when),
    op("batch", told=st.lists(st.tuples(memory_ids, link, types, stated), min_size=1, max_size=4)),
    op(
        "update",
        memory_id=memory_ids,
        fields_=st.sets(st.sampled_from(MEMORY_FIELDS), min_size=1, max_size=3),
        said=link,
        edge_type=types,
        facts=stated,
        time=when,
    ),
    op("forget_or_restore", memory_id=memory_ids),
    op("erase", memory_id=memory_ids),
    op("talk", key=memory_ids, said=link),
    op("declare", relation=st.sampled_from(RELATIONS), functional=st.booleans()),
    op("import_own"),
    op("relate", relation=st.sampled_from(LINEAGE), newer=ids, older=ids),
    op("wait"),
    op("apply_again"),
    op("enrol_again"),
)


class Walker:
    """Does writes as they come, on whatever is there by then."""

    def __init__(self, live: World, agreed: Agreed) -> None:
        self.live = live
        self.agreed = agreed
        self.calls = agreed.calls

    async def do(self, name: str, arguments: dict[str, object]) -> None:
        """Do one write; a refusal must be one of those that a caller can understand."""
        attempt: Callable[..., Awaitable[None]] = getattr(self, f"_{name}")
        try:
            await attempt(**arguments)
        except grpc.aio.AioRpcError as error:
            if from_rpc_error(error).reason not in KNOWN_REFUSALS:
                raise

    async def _id(self, end_: str) -> str:
        kind, _, rest = end_.partition(":")
        if kind == "edge":
            edges = await live_edges(self.calls)
            return edges[int(rest) % len(edges)].id
        if kind == "node":
            reply = await self.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=rest))
            return reply.node.id or "nowhere"
        return end_

    async def _end(self, end_: str) -> type_pb2.EdgeEnd:
        return named(end_) if end_ in NAMES else by_id(await self._id(end_))

    async def _text(self, said: tuple[str, str, str]) -> str:
        word, form, target = said
        return f"{word} {form.format(await self._id(target))}"

    async def _upsert_edge(self, source: str, relation: str, target: str, **rest: object) -> None:
        ends = [await self._end(source), await self._end(target)]
        await self.calls.upsert(edge_of(ends[0], relation, ends[1], **rest))  # type: ignore[arg-type]

    async def _update_edge(
        self, which: int, fields_: set[str], edge_type: int, target: str, time: int | None
    ) -> None:
        edges = await live_edges(self.calls)
        edge = edges[which % len(edges)]
        edge.weight = 0.5
        edge.relation = "LIKES"
        edge.importance = type_pb2.IMPORTANCE_LOW
        edge.properties.CopyFrom(struct({"changed": True}))
        edge.edge_type = edge_type  # type: ignore[assignment] # drawn from the contract's
        edge.source.CopyFrom(await self._end(target))
        edge.target.CopyFrom(await self._end(target))
        date(edge, time, _end_of(time))
        await self.calls.update_edge(edge, *sorted(fields_))

    async def _delete_edge(self, which: int) -> None:
        edges = await live_edges(self.calls)
        await self.calls.delete_edge(edges[which % len(edges)])

    async def _upsert_node(self, name: str, value: int) -> None:
        label = "" if value else "Thing"
        await self.calls.put_node(name, label=label, properties=struct({"value": value}))

    async def _update_node(self, name: str, field: str, value: str) -> None:
        node = (await self.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
        if node.id:
            node.name = node.label = node.vector_id = value
            node.properties.CopyFrom(struct({"value": value}))
            await self.calls.update_node(node, field)

    async def _delete_node(self, name: str, cascade: bool) -> None:
        node = (await self.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
        if node.id:
            await self.calls.delete_node(node, cascade=cascade)

    async def _add(
        self,
        memory_id: str,
        said: tuple[str, str, str],
        edge_type: int,
        facts: list[Triple],
        time: int | None,
    ) -> None:
        memory = await self._memory(memory_id, said, edge_type, facts)
        date(memory, time, _end_of(time))
        await self.calls.add_memory(memory)

    async def _batch(self, told: list[tuple[str, tuple[str, str, str], int, list[Triple]]]) -> None:
        memories = [await self._memory(*one) for one in told]
        reply = await self.calls.batch(memories, update_existing=True)
        assert {error.reason for error in reply.errors} <= KNOWN_REFUSALS

    async def _memory(
        self, memory_id: str, said: tuple[str, str, str], edge_type: int, facts: list[Triple]
    ) -> type_pb2.Memory:
        content = await self._text(said)
        memory = type_pb2.Memory(id=memory_id, content=content, facts=facts_of(facts))
        memory.edge_type = edge_type  # type: ignore[assignment] # drawn from the contract's
        return memory

    async def _update(
        self,
        *,
        memory_id: str,
        fields_: set[str],
        said: tuple[str, str, str],
        edge_type: int,
        facts: list[Triple],
        time: int | None,
    ) -> None:
        memory = (await self.calls.states((memory_id, 0)))[0].memory
        memory.content = await self._text(said)
        del memory.facts[:]
        memory.facts.extend(facts_of(facts))
        memory.edge_type = edge_type  # type: ignore[assignment] # drawn from the contract's
        memory.kind = type_pb2.MEMORY_KIND_JOURNAL
        memory.importance = type_pb2.IMPORTANCE_LOW
        memory.domain = memory.category = memory.external_id = "changed"
        memory.sources.add(speaker="somebody")
        memory.properties["changed"] = True
        for texts in (memory.tags, memory.concepts, memory.surfaces_when):
            texts.append("changed")
        date(memory, time, _end_of(time))
        await self.calls.update(memory, *sorted(fields_))

    async def _forget_or_restore(self, memory_id: str) -> None:
        memory = (await self.calls.states((memory_id, 0)))[0].memory
        if memory.HasField("forget_time"):
            await self.calls.restore(memory)
        elif memory.id:
            await self.calls.forget(memory)

    async def _erase(self, memory_id: str) -> None:
        memory = (await self.calls.states((memory_id, 0)))[0].memory
        if memory.id:
            await self.calls.erase(memory)

    async def _talk(self, key: str, said: tuple[str, str, str]) -> None:
        turn = dialogue_pb2.DialogueTurn(
            speaker="Ann", content=await self._text(said), external_id=key
        )
        request = dialogue_pb2.AppendDialogueRequest(
            request_id=self.calls.request_id(), session_id="talk", turns=[turn]
        )
        await self.calls.dialogue_service.AppendDialogue(request)

    async def _declare(self, relation: str, functional: bool) -> None:
        await self.calls.declare(relation, functional=functional)

    async def _import_own(self) -> None:
        await import_into(self.calls, await export_of(self.calls))

    async def _relate(self, relation: int, newer: str, older: str) -> None:
        ends = [await self._id(newer), await self._id(older)]
        await self.calls.relate(relation, *ends)  # type: ignore[arg-type] # drawn from the contract's

    async def _wait(self) -> None:
        self.live.clock.pass_(DAY)

    async def _apply_again(self) -> None:
        await self.agreed.parties.apply(self.calls, *self.agreed.last, self.agreed.last_grant)

    async def _enrol_again(self) -> None:
        await self.live.parties(self.calls.space).enrol(self.calls)


def _end_of(time: int | None) -> int | None:
    return None if time is None else time + 2 * DAY


_breach = protection.breach


@dataclass
class Guarding:
    """Which of the two lines of protection stand; the use cases' can be taken away in the midst."""

    use_cases: bool = True
    store: bool = True
    walking: bool = field(default=False, init=False)

    def breach(self, before: Item | None, after: Item, around: Surroundings) -> str | None:
        """Judge as the use cases do, unless that is switched off for the walk."""
        if self.walking and not self.use_cases:
            return None
        return _breach(before, after, around)


async def walk(live: World, guarding: Guarding, space: str, operations: list[Op]) -> None:
    """Do the writes in a space with constitutive items, which are afterwards as they were."""
    live.clock.now = START
    guarding.walking = False
    agreed = await agree(live, space)
    before = await what_defines(agreed)
    guarding.walking = True
    walker = Walker(live, agreed)
    for name, arguments in operations:
        await walker.do(name, arguments)

    assert await what_defines(agreed) == before


def walk_about(tmp_path: Path, guarding: Guarding, examples: int) -> None:
    """Walk through as many spaces, behind the lines of protection that stand."""
    spaces = [f"space-{number}" for number in range(20 * examples)]
    unused = iter(spaces)
    with asyncio.Runner() as runner, ExitStack() as undo:
        path = tmp_path / "graph.db"
        patch = undo.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(protection, "breach", guarding.breach)
        running = world(path, spaces=spaces)
        live = runner.run(running.__aenter__())
        if not guarding.store:
            undo.enter_context(raw_store.unprotected(path))

        @settings(UNSHRUNK, max_examples=examples)
        @given(st.lists(writes, min_size=5, max_size=25))
        def walks(operations: list[Op]) -> None:
            runner.run(walk(live, guarding, next(unused), operations))

        try:
            walks()
        finally:
            runner.run(running.__aexit__(None, None, None))


@pytest.mark.parametrize("examples", [5, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "guarding",
    [Guarding(), Guarding(store=False), Guarding(use_cases=False)],
    ids=["both lines", "the use cases alone", "the store alone"],
)
def test_no_walk_of_writes_finds_a_way_through(
    tmp_path: Path, guarding: Guarding, examples: int
) -> None:
    """G4 G5 T2 No writes of one principal change, hide or add anything constitutive."""
    walk_about(tmp_path, guarding, examples)


def test_without_protection_a_walk_finds_its_way(tmp_path: Path) -> None:
    """G4 The walks are wide enough: with both lines taken away, they soon do harm."""
    with pytest.raises(AssertionError):
        walk_about(tmp_path, Guarding(use_cases=False, store=False), examples=60)
