"""Writes to a space, each done to graph by RPC and to a naive replay as a list of effects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import grpc
from concord.graph.v1 import feed_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from graph_world import (
    AMENDS,
    CONTRADICTS,
    DEPRECATES,
    SUPERSEDES,
    Calls,
    Clock,
    by_id,
    edge_of,
    micros,
    stamp,
)
from naive_replay import FOREVER, Known, Replay, Version

Told = Callable[[list[str]], dict[str, Any]]
"""What an item is told to be, given the ids of what the same request made before it."""

Interval = tuple[int | None, int | None]
"""Stated valid_from and valid_until; None = not stated."""

WORDS = {
    "SUPERSEDES": SUPERSEDES,
    "DEPRECATES": DEPRECATES,
    "AMENDS": AMENDS,
    "CONTRADICTS": CONTRADICTS,
}
KINDS = {
    type_pb2.ITEM_KIND_NODE: "node",
    type_pb2.ITEM_KIND_EDGE: "edge",
    type_pb2.ITEM_KIND_MEMORY: "memory",
}
WRITTEN = {
    feed_pb2.CHANGE_TYPE_CREATED,
    feed_pb2.CHANGE_TYPE_UPDATED,
    feed_pb2.CHANGE_TYPE_DELETED,
    feed_pb2.CHANGE_TYPE_RESTORED,
}
REFUSALS = {
    "ERROR_REASON_FIELD_INVALID",
    "ERROR_REASON_ITEM_EXISTS",
    "ERROR_REASON_ITEM_STATE",  # an edge that a content says goes with the content alone
    "ERROR_REASON_LINEAGE_CYCLE",
}


@dataclass(frozen=True)
class Effect:
    """One version that a write should record; a new item gives itself its id when it is None."""

    kind: str
    id: str | None
    told: Told
    deleted: bool = False


def changed(item: Version, fields: Mapping[str, Any]) -> Effect:
    """Return the effect of changing some of an item's fields."""
    return Effect(item.kind, item.id, lambda _: {**item.told, **fields}, item.deleted)


def gone(item: Version) -> Effect:
    """Return the effect of an item's going."""
    return Effect(item.kind, item.id, lambda _: item.told, deleted=True)


@dataclass
class Writes:
    """A space under writes, and its replay."""

    calls: Calls
    clock: Clock
    replay: Replay = field(default_factory=Replay)
    seq: int = 0
    last: int = 0

    @property
    def time(self) -> int:
        """The present: never before what is recorded."""
        return max(self.clock(), self.last)

    @property
    def now(self) -> Known:
        """What is known."""
        return self.replay.known(FOREVER)

    async def done(self, call: Awaitable[object], effects: list[Effect]) -> None:
        """Do a write; record its effects with the ids and times that the change feed gives them.

        What is refused must have left nothing.
        """
        try:
            await call
        except grpc.aio.AioRpcError as error:
            failure = from_rpc_error(error)
            assert failure.reason in REFUSALS, failure
            effects = []
        changes = await self.calls.changes(self.seq)
        if changes:
            self.seq, self.last = changes[-1].seq, micros(changes[-1].record_time)
        # Conflicts follow from the lineage that is written, and have tests of their own.
        written = [
            change
            for change in changes
            if change.type in WRITTEN and change.item_kind != type_pb2.ITEM_KIND_CONFLICT
        ]
        assert len(written) == len(effects), (written, effects)
        made: list[str] = []
        for change in written:
            made += self._record(change, effects, made)

    def _record(self, change: feed_pb2.Change, effects: list[Effect], made: list[str]) -> list[str]:
        kind = KINDS[change.item_kind]
        known = {version.id for version in self.replay.versions}
        wanted = change.item_id if change.item_id in known else None
        effect = next(e for e in effects if (e.kind, e.id) == (kind, wanted))
        effects.remove(effect)
        time = micros(change.record_time)
        before = self.now.items.get(change.item_id)
        created = before.created if before else time
        version = Version(kind, change.item_id, time, effect.deleted, created, effect.told(made))
        self.replay.versions.append(version)
        return [] if before else [change.item_id]

    async def put_node(self, name: str, label: str) -> None:
        """Upsert a node."""
        stored = self.now.named(name)
        effects = []
        if stored is None:
            effects = [_new_node(name, label)]
        elif label not in ("", "Entity", stored.label):
            effects = [changed(stored, {"label": label})]
        await self.done(self.calls.put_node(name, label=label), effects)

    async def rename_node(self, node: Version, name: str) -> None:
        """Give a node another name, if that is free."""
        message = type_pb2.Node(id=node.id, etag=(await self._node(node)).etag, name=name)
        effects = [] if node.name == name else [changed(node, {"name": name})]
        await self.done(self.calls.update_node(message, "name"), effects)

    async def delete_node(self, node: Version) -> None:
        """Delete a node with its edges."""
        edges = [e for e in self.now.live("edge") if node.id in (e.source, e.target)]
        effects = [gone(item) for item in (node, *edges)]
        await self.done(self.calls.delete_node(await self._node(node), cascade=True), effects)

    async def _node(self, node: Version) -> type_pb2.Node:
        return await self.calls.get_node(node.name)

    async def put_edge(
        self, triple: tuple[str, str, str], weight: float, interval: Interval
    ) -> None:
        """Upsert an edge between nodes; the source may also be a live memory, by its id."""
        source, relation, target = triple
        told = {"weight": weight, **_stated(interval)}
        start = by_id(source) if self.now.get(source, "memory") else source
        edge = edge_of(start, relation, target, **told)  # type: ignore[arg-type] # as its writer says
        await self.done(self.calls.upsert(edge), self._upserted(triple, told))

    def _upserted(self, triple: tuple[str, str, str], told: dict[str, Any]) -> list[Effect]:
        source, relation, target = triple
        ids = [self._end(source), self._end(target)]
        stored = None
        if ids[0] and ids[1]:
            stored = self._addressed(self.now.triple(ids[0], relation, ids[1]), told["valid_from"])
        if stored is not None:
            given = {name: value for name, value in told.items() if value is not None}
            if given.get("valid_from") == stored.begins:
                del given["valid_from"]
            same = all(stored.told[name] == value for name, value in given.items())
            return [] if same else [changed(stored, given)]
        new = dict.fromkeys(n for n, known in zip((source, target), ids, strict=True) if not known)
        nodes = [_new_node(name) for name in new]
        places = {name: place for place, name in enumerate(new)}

        def tell(made: list[str]) -> dict[str, Any]:
            ends = [
                known or made[places[name]]
                for name, known in zip((source, target), ids, strict=True)
            ]
            return edge_told(ends[0], relation, ends[1], **told)

        return [*nodes, Effect("edge", None, tell)]

    def _end(self, name: str) -> str | None:
        found = self.now.get(name, "memory") or self.now.named(name)
        return found.id if found else None

    def _addressed(self, edges: list[Version], valid_from: int | None) -> Version | None:
        """Return the edge that an upsert means (G2): the current one, or the one that begins so."""
        if valid_from is not None:
            return next((e for e in edges if e.begins == valid_from), None)
        current = [e for e in edges if self.now.held(e, self.time)]
        return current[-1] if current else None

    async def retime_edge(self, edge: Version, interval: Interval) -> None:
        """State other times of an edge."""
        message = await self.calls.get_edge(edge.id)
        fields = _stated(interval)
        _state(message, fields)
        same = fields.items() <= edge.told.items()
        effects = [] if same else [changed(edge, fields)]
        await self.done(self.calls.update_edge(message, *fields), effects)

    async def delete_edge(self, edge: Version) -> None:
        """Delete an edge, lineage or a resolution."""
        message = await self.calls.get_edge(edge.id)
        await self.done(self.calls.delete_edge(message), [gone(edge)])

    async def add_memory(
        self,
        memory_id: str,
        link: tuple[str, str] | None,
        external_id: str,
        interval: Interval,
    ) -> None:
        """Remember a text under an id of its own, perhaps with a link."""
        fields = _stated(interval)
        content = written(memory_id, link)
        message = type_pb2.Memory(id=memory_id, content=content, external_id=external_id)
        _state(message, fields)
        told = {"content": content, "external_id": external_id, **fields}
        effects = [Effect("memory", None, lambda _: told), *self._linked(memory_id, link)]
        await self.done(self.calls.add_memory(message), effects)

    async def update_memory(
        self, memory: Version, link: tuple[str, str] | None, external_id: str
    ) -> None:
        """Write a memory anew: other words, other links, another key."""
        message = await self.calls.get(memory.id)
        content = written(f"{memory.id} again", link)
        message.content, message.external_id = content, external_id
        fields = {"content": content, "external_id": external_id}
        effects = [] if fields.items() <= memory.told.items() else [changed(memory, fields)]
        if content != memory.content:
            effects += self._linked(memory.id, link)
        await self.done(self.calls.update(message, *fields), effects)

    def _linked(self, memory_id: str, link: tuple[str, str] | None) -> list[Effect]:
        """Return what becomes of the edges that a content makes."""
        mine = [e for e in self.now.live("edge") if e.source == memory_id and e.from_content]
        effects = [gone(e) for e in mine if (e.relation, e.target) != link]
        if link is not None and not self.now.triple(memory_id, *link):
            told = edge_told(memory_id, *link, from_content=True)
            effects.append(Effect("edge", None, lambda _: told))
        return effects

    async def retime_memory(self, memory: Version, interval: Interval) -> None:
        """State other times of a memory."""
        message = await self.calls.get(memory.id)
        fields = _stated(interval)
        _state(message, fields)
        same = fields.items() <= memory.told.items()
        effects = [] if same else [changed(memory, fields)]
        await self.done(self.calls.update(message, *fields), effects)

    async def toggle_memory(self, memory: Version) -> None:
        """Forget a memory, or restore it."""
        message = await self.calls.get(memory.id)
        toggle = self.calls.restore if memory.deleted else self.calls.forget
        effect = replace(gone(memory), deleted=not memory.deleted)
        await self.done(toggle(message), [effect])

    async def relate(self, relation: str, newer: Version, older: str) -> None:
        """State lineage between two memories (the older may be a ghost) or two edges."""
        source, target = newer.id, older
        if relation == "CONTRADICTS" and source > target:
            source, target = target, source
        stored = self.now.triple(source, relation, target)
        if relation == "CONTRADICTS":
            stored += self.now.triple(target, relation, source)
        if stored:
            said = not stored[-1].from_content
            effects = [] if said else [changed(stored[-1], {"from_content": False})]
        else:
            told = edge_told(source, relation, target, resolution=newer.kind == "edge")
            effects = [Effect("edge", None, lambda _: told)]
        await self.done(self.calls.relate(WORDS[relation], newer.id, older), effects)


def written(text: str, link: tuple[str, str] | None) -> str:
    """Return a content with a link."""
    return text if link is None else f"{text}\n{link[0].title()}: [[memory:{link[1]}]]"


def edge_told(source: str, relation: str, target: str, **fields: Any) -> dict[str, Any]:
    """Return all that an edge is told to be."""
    usual = {"weight": 1.0, "valid_from": None, "valid_until": None}
    usual |= {"from_content": False, "resolution": False}
    return {"source": source, "relation": relation, "target": target, **usual, **fields}


def _new_node(name: str, label: str = "") -> Effect:
    told = {"name": name, "label": label or "Entity"}
    return Effect("node", None, lambda _: told)


def _stated(interval: Interval) -> dict[str, int | None]:
    return {"valid_from": interval[0], "valid_until": interval[1]}


def _state(message: Any, fields: dict[str, int | None]) -> None:
    for name, time in fields.items():
        message.ClearField(name)
        if time is not None:
            getattr(message, name).CopyFrom(stamp(time))
