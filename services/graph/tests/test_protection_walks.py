"""Random walks over every write, none of which finds a way to what defines the agent."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from concord_chassis.failure import from_rpc_error
from graph_world import (
    AMENDS,
    CONSTITUTIVE,
    CONTRADICTS,
    DAY,
    DEPRECATES,
    DESCRIPTIVE,
    START,
    SUPERSEDES,
    Calls,
    World,
    by_id,
    edge_of,
    named,
    stamp,
    struct,
    world,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NAMES = ("Me", "Honesty", "Tea", "New")
EXAMPLES = 20
IDS = ("core", "note", "ghost", "late", "edge:0", "edge:1", "node:Me")
WORDS = ("Supersedes", "Deprecates", "Amends", "See")
TYPES = (0, DESCRIPTIVE, CONSTITUTIVE)
LINEAGE = (SUPERSEDES, DEPRECATES, AMENDS, CONTRADICTS)
KNOWN_REFUSALS = {
    "ERROR_REASON_" + name
    for name in (
        *("CONSTITUTIVE_EDGE_PROTECTED", "ITEM_NOT_FOUND", "ITEM_EXISTS", "ITEM_STATE"),
        *("LINEAGE_CYCLE", "FIELD_INVALID", "RESERVED_NAME", "NODE_HAS_EDGES"),
        *("ETAG_MISMATCH", "UPDATE_MASK_INVALID"),
    )
}

end = st.sampled_from([*NAMES, *IDS])
when = st.sampled_from([None, START - DAY, START + DAY])
Op = tuple[str, dict[str, object]]


def op(name: str, /, **arguments: st.SearchStrategy[object]) -> st.SearchStrategy[Op]:
    """Return a strategy for one write with its arguments."""
    return st.tuples(st.just(name), st.fixed_dictionaries(dict(arguments)))


writes = st.one_of(
    op(
        "upsert_edge",
        source=end,
        relation=st.sampled_from(["VALUES", "LIKES", "RELATED_TO"]),
        target=end,
        edge_type=st.sampled_from(TYPES),
        weight=st.sampled_from([None, 0.1, 0.9]),
        valid_from=when,
        valid_until=st.sampled_from([None, START + 2 * DAY]),
    ),
    op(
        "update_edge",
        which=st.integers(0, 9),
        field=st.sampled_from(["weight", "properties", "edge_type", "source", "target"]),
        edge_type=st.sampled_from(TYPES),
        target=end,
    ),
    op("delete_edge", which=st.integers(0, 9)),
    op("upsert_node", name=st.sampled_from(NAMES), value=st.integers(0, 3)),
    op("rename_node", name=st.sampled_from(NAMES)),
    op("delete_node", name=st.sampled_from(NAMES), cascade=st.booleans()),
    op(
        "add",
        memory_id=st.sampled_from(IDS[:4]),
        word=st.sampled_from(WORDS),
        target=st.sampled_from(IDS),
        edge_type=st.sampled_from(TYPES),
        batched=st.booleans(),
    ),
    op(
        "update",
        memory_id=st.sampled_from(IDS[:4]),
        field=st.sampled_from(["content", "edge_type", "valid_until", "tags"]),
        word=st.sampled_from(WORDS),
        target=st.sampled_from(IDS),
        edge_type=st.sampled_from(TYPES),
    ),
    op("forget_or_restore", memory_id=st.sampled_from(IDS[:4])),
    op(
        "relate",
        relation=st.sampled_from(LINEAGE),
        newer=st.sampled_from(IDS),
        older=st.sampled_from(IDS),
    ),
)


class Walker:
    """Does writes as they come, on whatever is there by then."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

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
            edges = await self._edges()
            return edges[int(rest) % len(edges)].id
        if kind == "node":
            reply = await self.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=rest))
            return reply.node.id or "nowhere"
        return end_

    async def _end(self, end_: str) -> type_pb2.EdgeEnd:
        return named(end_) if end_ in NAMES else by_id(await self._id(end_))

    async def _edges(self) -> list[type_pb2.Edge]:
        reply = await self.calls.graph.ListEdges(graph_pb2.ListEdgesRequest(page_size=200))
        return [edge for edge in reply.edges if not edge.relation.startswith("concord:")]

    async def _upsert_edge(self, source: str, relation: str, target: str, **rest: object) -> None:
        ends = [await self._end(source), await self._end(target)]
        await self.calls.upsert(edge_of(ends[0], relation, ends[1], **rest))  # type: ignore[arg-type]

    async def _update_edge(self, which: int, field: str, edge_type: int, target: str) -> None:
        edges = await self._edges()
        edge = edges[which % len(edges)]
        edge.weight = 0.5
        edge.properties.CopyFrom(struct({"changed": True}))
        edge.edge_type = edge_type  # type: ignore[assignment] # drawn from the contract's
        edge.source.CopyFrom(await self._end(target))
        edge.target.CopyFrom(await self._end(target))
        await self.calls.update_edge(edge, field)

    async def _delete_edge(self, which: int) -> None:
        edges = await self._edges()
        await self.calls.delete_edge(edges[which % len(edges)])

    async def _upsert_node(self, name: str, value: int) -> None:
        await self.calls.put_node(name, properties=struct({"value": value}))

    async def _rename_node(self, name: str) -> None:
        node = (await self.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
        if node.id:
            node.name = f"{name}2"
            await self.calls.update_node(node, "name")

    async def _delete_node(self, name: str, cascade: bool) -> None:
        node = (await self.calls.graph.GetNode(graph_pb2.GetNodeRequest(name=name))).node
        if node.id:
            await self.calls.delete_node(node, cascade=cascade)

    async def _add(
        self, memory_id: str, word: str, target: str, edge_type: int, *, batched: bool
    ) -> None:
        memory = type_pb2.Memory(id=memory_id, content=await self._content(word, target))
        memory.edge_type = edge_type  # type: ignore[assignment] # drawn from the contract's
        if not batched:
            await self.calls.add_memory(memory)
            return
        reply = await self.calls.batch([memory], update_existing=True)
        assert {error.reason for error in reply.errors} <= KNOWN_REFUSALS

    async def _content(self, word: str, target: str) -> str:
        return f"{word}: [[memory:{await self._id(target)}]]"

    async def _update(
        self, memory_id: str, field: str, word: str, target: str, edge_type: int
    ) -> None:
        memory = type_pb2.Memory(id=memory_id, etag="none")
        if memory_id in await self.calls.listed(include_superseded=True):
            memory = await self.calls.get(memory_id)
        memory.content = await self._content(word, target)
        memory.edge_type = edge_type  # type: ignore[assignment] # drawn from the contract's
        memory.valid_until.CopyFrom(stamp(START + DAY))
        memory.tags.append("tagged")
        await self.calls.update(memory, field)

    async def _forget_or_restore(self, memory_id: str) -> None:
        memory = (await self.calls.states((memory_id, 0)))[0].memory
        if memory.HasField("forget_time"):
            await self.calls.restore(memory)
        elif memory.id:
            await self.calls.forget(memory)

    async def _relate(self, relation: int, newer: str, older: str) -> None:
        ids = [await self._id(newer), await self._id(older)]
        await self.calls.relate(relation, *ids)  # type: ignore[arg-type] # drawn from the contract's


async def what_defines(calls: Calls) -> object:
    """Return everything constitutive, and how it is met, as readers see it."""
    page = await calls.neighbors("Me", filter=graph_pb2.EdgeFilter(edge_types=[CONSTITUTIVE]))
    core = await calls.get("core")
    assert "core" in await calls.listed(page_size=200)
    assert not core.standing.is_superseded
    return (
        [neighbor.SerializeToString(deterministic=True) for neighbor in page.neighbors],
        [(await calls.get_node(name)).etag for name in ("Me", "Honesty")],
        core.etag,
        [line for line in await calls.export() if "CONSTITUTIVE" in line],
    )


async def walk(live: World, space: str, operations: list[Op]) -> None:
    """Do the writes in a space with constitutive items, which are afterwards as they were."""
    calls, parties = live.calls(space), live.parties(space)
    await parties.enrol(calls)
    await parties.constitutive_edge(calls)
    await parties.constitutive_memory(calls, "core")
    await calls.add("A note", id="note")
    before = await what_defines(calls)
    walker = Walker(calls)
    for name, arguments in operations:
        await walker.do(name, arguments)

    assert await what_defines(calls) == before


def test_no_walk_of_writes_finds_a_way_through(tmp_path: Path) -> None:
    """G4 G5 T2 No sequence of a caller's writes changes, hides or adds anything constitutive."""
    spaces = [f"space-{number}" for number in range(2_000)]
    unused = iter(spaces)
    with asyncio.Runner() as runner:
        running = world(tmp_path / "graph.db", spaces=spaces)
        live = runner.run(running.__aenter__())

        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(writes, min_size=5, max_size=25))
        def walks(operations: list[Op]) -> None:
            runner.run(walk(live, next(unused), operations))

        try:
            walks()
        finally:
            runner.run(running.__aexit__(None, None, None))
