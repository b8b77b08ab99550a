"""The history of a space as a list, and every read answered by going through it from its start.

Written from the specification (T2 to T5, G2), not from the product: no index, no interval, no SQL;
what was known at r is what the list says up to r. Times are microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FOREVER = 2**63 - 1
LINEAGE = ("SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS")
REPLACING = ("SUPERSEDES", "DEPRECATES")


@dataclass(frozen=True)
class Version:
    """What an item was from one record time on. `told` holds what its writer said."""

    kind: str
    id: str
    recorded: int
    deleted: bool
    created: int
    told: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        """Return what was told under a name."""
        try:
            return self.told[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def begins(self) -> int:
        """From when it held."""
        return self.created if self.told["valid_from"] is None else int(self.told["valid_from"])

    @property
    def ends(self) -> int:
        """Until when it was said to hold."""
        return FOREVER if self.told["valid_until"] is None else int(self.told["valid_until"])

    @property
    def is_lineage(self) -> bool:
        """Whether it says how one item stands to another."""
        return self.kind == "edge" and self.told["relation"] in LINEAGE


@dataclass
class Replay:
    """Every version of every item, in the order in which they were recorded."""

    versions: list[Version] = field(default_factory=list)

    def known(self, r: int) -> Known:
        """Return what was known at r."""
        latest: dict[str, Version] = {}
        for version in self.versions:
            if version.recorded <= r:
                latest[version.id] = version
        return Known(latest)

    def history(self, item_id: str, r: int) -> list[tuple[Version, int]]:
        """Return the versions known at r, newest first, each with when it ended as known at r."""
        found = [v for v in self.versions if v.id == item_id and v.recorded <= r]
        later = [v.recorded for v in found[1:]] + [FOREVER]
        return [(v, later[place]) for place, v in enumerate(found)][::-1]


@dataclass
class Known:
    """The items as they were known at one record time, deleted ones among them."""

    items: dict[str, Version]

    def live(self, kind: str) -> list[Version]:
        """Return what is there of a kind."""
        return [v for v in self.items.values() if v.kind == kind and not v.deleted]

    def get(self, item_id: str, *kinds: str) -> Version | None:
        """Return a live item of one of the kinds."""
        found = self.items.get(item_id)
        return found if found and found.kind in kinds and not found.deleted else None

    def memory_or_ghost(self, item_id: str) -> str | None:
        """Return the id of a live memory, or of what only a live edge names yet."""
        if item_id in self.items:
            return item_id if self.get(item_id, "memory") else None
        ends = {end for edge in self.live("edge") for end in (edge.source, edge.target)}
        return item_id if item_id in ends else None

    def named(self, name: str) -> Version | None:
        """Return the live node of a name."""
        return next((n for n in self.live("node") if n.name == name), None)

    def triple(self, source: str, relation: str, target: str) -> list[Version]:
        """Return the live edges that say this, by when they begin."""
        said = (source, relation, target)
        found = [e for e in self.live("edge") if (e.source, e.relation, e.target) == said]
        return sorted(found, key=lambda e: e.begins)

    def replacers(self, item: Version) -> list[Version]:
        """Return the live items that take over from it at some time (T2), each once."""
        found: dict[str, Version] = {}
        for edge in self.live("edge"):
            if edge.relation in REPLACING and edge.target == item.id:
                newer = self.get(edge.source, item.kind)
                found |= {newer.id: newer} if newer else {}
        return list(found.values())

    def replaced_by(self, item: Version) -> list[Version]:
        """Return the live items that it takes over from at some time, each once."""
        others = [o for o in self.live(item.kind) if o.id != item.id]
        return [o for o in others if item.id in {n.id for n in self.replacers(o)}]

    def superseded_from(self, item: Version) -> int:
        """Return when the earliest successor begins."""
        return min((n.begins for n in self.replacers(item)), default=FOREVER)

    def until(self, item: Version) -> int:
        """Return its effective end."""
        taken = self.superseded_from(item)
        return min(item.ends, FOREVER if taken == FOREVER else max(item.begins, taken))

    def in_time(self, item: Version, v: int) -> bool:
        """Return whether v lies in its stated interval."""
        return item.begins <= v < item.ends

    def held(self, item: Version, v: int) -> bool:
        """Return whether it held at v: in time, and not superseded."""
        return self.in_time(item, v) and self.superseded_from(item) > v

    def stands(self, edge: Version, v: int) -> bool:
        """Return whether it held at v, and no later edge of its triple that did stands for it."""
        said = self.triple(edge.source, edge.relation, edge.target)
        return [e.id for e in said if self.held(e, v)][-1:] == [edge.id]

    def heads(self, item: Version, v: int) -> set[str]:
        """Return the live ends of its chain at v."""
        reached, frontier, ends = {item.id}, [item], set()
        while frontier:
            here = frontier.pop()
            begun = [n for n in self.replacers(here) if n.begins <= v]
            if not begun and not here.deleted:
                ends.add(here.id)
            frontier += [n for n in begun if n.id not in reached]
            reached |= {n.id for n in begun}
        return ends

    def chosen(self, edges: list[Version], v: int) -> Version | None:
        """Return the edge that stands for a triple at v: the current, else the latest begun, else
        the latest."""
        current = [e for e in edges if self.held(e, v)]
        begun = [e for e in edges if e.begins <= v]
        best = current or begun or edges
        return best[-1] if best else None

    def walkable(self, v: int, *, superseded: bool, resolutions: bool) -> list[Version]:
        """Return the edges that a walk at v may take."""
        found = []
        for edge in self.live("edge"):
            ends = [self.items.get(end) for end in (edge.source, edge.target)]
            if any(end and end.kind == "memory" and end.deleted for end in ends):
                continue
            if edge.resolution and not resolutions:
                continue
            if self.in_time(edge, v) if superseded else self.stands(edge, v):
                found.append(edge)
        return found

    def around(self, start: str, edges: list[Version], depth: int) -> dict[str, int]:
        """Return the distance of every edge in reach, either way, by id."""
        far = {start: 0}
        for distance in range(1, depth + 1):
            for edge in edges:
                for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                    if far.get(here) == distance - 1:
                        far.setdefault(there, distance)
        near = {e.id: 1 + min(far.get(n, depth) for n in (e.source, e.target)) for e in edges}
        for record in edges:  # as far away as the nearer of the edges that it names
            if record.resolution:
                named = [near[n] for n in (record.source, record.target) if n in near]
                near[record.id] = min([near[record.id], *named])
        return {edge_id: distance for edge_id, distance in near.items() if distance <= depth}

    def paths(
        self, start: str, end: str, edges: list[Version], depth: int
    ) -> list[tuple[str, ...]]:
        """Return every simple path of 1 to `depth` edges, either way."""
        found: list[tuple[str, ...]] = []

        def go(here: str, seen: tuple[str, ...], taken: tuple[str, ...]) -> None:
            if here == end and taken:
                found.append(taken)
                return
            for edge in edges if len(taken) < depth else ():
                for near, far in {(edge.source, edge.target), (edge.target, edge.source)}:
                    if near == here and far not in seen:
                        go(far, (*seen, far), (*taken, edge.id))

        go(start, (start,), ())
        return found

    def chain(self, item_id: str) -> tuple[set[str], set[str]]:
        """Return the items of a chain and the lineage edges among them (T5)."""
        ids = {item_id}
        while True:
            more = set(ids)
            lineage = [e for e in self.live("edge") if e.is_lineage]
            for edge in lineage:
                more |= {edge.source, edge.target} if {edge.source, edge.target} & ids else set()
            if more == ids:
                return ids, {e.id for e in lineage if {e.source, e.target} <= ids}
            ids = more

    def exported(self, v: int, *, stated: bool) -> dict[str, Version]:
        """Return what the state export shows: what is there [and held at v], with its ends."""
        there = {i: item for i, item in self.items.items() if not item.deleted}
        if stated:
            there = {
                i: item for i, item in there.items() if item.kind == "node" or self.held(item, v)
            }
        while True:
            gone = self.items.keys() - there.keys()
            left = {
                i: item
                for i, item in there.items()
                if item.kind != "edge" or not {item.source, item.target} & gone
            }
            if len(left) == len(there):
                return there
            there = left
