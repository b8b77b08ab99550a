"""The history of a space as a list, and every read answered by going through it from its start.

Written from the specification (T2 to T5, G2, G4, M1, M3; decision 0043), not from the product: no
index, no interval, no SQL; what was known at r is what the list says up to r. Times are
microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

FOREVER = 2**63 - 1
LINEAGE = ("SUPERSEDES", "DEPRECATES", "AMENDS", "CONTRADICTS")
REPLACING = ("SUPERSEDES", "DEPRECATES")
UNTOLD: dict[str, Any] = {"edge_type": "DESCRIPTIVE", "maker": ""}
UNTOLD |= dict.fromkeys(("governed", "erased", "extracted"), False)


@dataclass(frozen=True)
class Version:
    """What an item was from one record time on. `told` holds what its writer said.

    `maker` is the principal who wrote its first version, `governed` whether both agreed to it.
    """

    kind: str
    id: str
    recorded: int
    deleted: bool
    created: int
    told: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        """Return what was told under a name."""
        try:
            return self.told[name] if name in self.told else UNTOLD[name]
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


@dataclass(frozen=True)
class Stated:
    """The edges of a memory's facts, from one record time on."""

    memory: str
    edges: tuple[str, ...]
    recorded: int


@dataclass
class Replay:
    """Every version of every item, in the order in which they were recorded."""

    versions: list[Version] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    knows: type[Known] | None = None

    def known(self, r: int) -> Known:
        """Return what was known at r."""
        latest = {v.id: v for v in self.versions if v.recorded <= r}
        facts = {s.memory: s.edges for s in self.stated if s.recorded <= r}
        return (self.knows or Known)(latest, facts)

    @property
    def complete_since(self) -> int:
        """Since when no value was erased: before, the record does not say what that one ended."""
        erased = [v for v in self.versions if v.kind == "edge" and v.erased and not v.is_lineage]
        return max((v.recorded for v in erased), default=0)

    def history(self, item_id: str, r: int) -> list[tuple[Version, int]]:
        """Return the versions known at r, newest first, each with when it ended as known at r."""
        found = [v for v in self.versions if v.id == item_id and v.recorded <= r]
        later = [v.recorded for v in found[1:]] + [FOREVER]
        return [(v, later[place]) for place, v in enumerate(found)][::-1]


@dataclass
class Known:
    """The items as they were known at one record time, deleted ones among them."""

    items: dict[str, Version]
    facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _live: dict[str, list[Version]] = field(default_factory=dict)

    def live(self, kind: str) -> list[Version]:
        """Return what is there of a kind."""
        if kind not in self._live:
            there = [v for v in self.items.values() if v.kind == kind and not v.deleted]
            self._live[kind] = there
        return self._live[kind]

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

    def is_functional(self, relation: str) -> bool:
        """Return whether a source has one value of a relation at a time."""
        return any(r.name == relation and r.functional for r in self.live("relation"))

    @cached_property
    def lineage(self) -> list[Version]:
        """The live edges that are lineage."""
        return [e for e in self.live("edge") if e.is_lineage]

    def is_agreed(self, item_id: str) -> bool:
        """Return whether lineage starts at it that both principals agreed to."""
        return any(e.governed and e.source == item_id for e in self.lineage)

    def is_fixed(self, item: Version) -> bool:
        """Return whether it gives way to nothing that one principal says alone (G4)."""
        if item.edge_type == "CONSTITUTIVE" or self.is_agreed(item.id):
            return True
        if item.kind != "memory":
            return False
        at = [e for e in self.live("edge") if item.id in (e.source, e.target)]
        return any(e.edge_type == "CONSTITUTIVE" or self.is_agreed(e.id) for e in at)

    def counts(self, lineage: Version, older: Version) -> bool:
        """Return whether lineage takes effect on what it names as the older."""
        return bool(lineage.governed) or not (self.is_fixed(older) or self.is_early(lineage, older))

    def is_early(self, lineage: Version, older: Version) -> bool:
        """Return whether it named a memory before somebody else wrote it under that id (M3)."""
        ghost = older.kind == "memory" and lineage.created < older.created
        return ghost and lineage.maker != older.maker

    def replacers(self, item: Version) -> list[Version]:
        """Return the live items that take over from it by lineage at some time (T2), each once."""
        found: dict[str, Version] = {}
        for edge in self.lineage:
            if edge.relation in REPLACING and edge.target == item.id and self.counts(edge, item):
                newer = self.get(edge.source, item.kind)
                found |= {newer.id: newer} if newer else {}
        return list(found.values())

    def never_held(self, edge: Version) -> bool:
        """Return whether an earlier value of its row replaced it (decision 0043)."""
        row = (edge.source, edge.relation)
        newer = [n for n in self.replacers(edge) if (n.source, n.relation) == row]
        return any(n.begins < edge.begins for n in newer)

    def row(self, edge: Version) -> list[Version]:
        """Return the values that its source has of its relation, by when they begin."""
        row = (edge.source, edge.relation)
        if edge.is_lineage or edge.deleted or not self.is_functional(edge.relation):
            return []
        found = [e for e in self.live("edge") if (e.source, e.relation) == row]
        return sorted((e for e in found if not self.never_held(e)), key=lambda e: e.begins)

    def next_values(self, edge: Version) -> list[Version]:
        """Return the stated values that follow it in its row; those of one instant tie (0095)."""
        others = [e for e in self.row(edge) if e.target != edge.target and not e.extracted]
        later = [e for e in others if e.begins > edge.begins]
        return [e for e in later if e.begins == later[0].begins]

    def followers(self, edge: Version) -> list[Version]:
        """Return the values that it gives way to as time passes (T2)."""
        stays = edge.kind != "edge" or self.is_fixed(edge) or self.never_held(edge)
        return [] if stays else self.next_values(edge)

    def values_of(self, memory: Version) -> list[Version]:
        """Return the live edges that a memory states, if it was not forgotten."""
        if memory.deleted:
            return []
        found = [self.get(edge_id, "edge") for edge_id in self.facts.get(memory.id, ())]
        return [edge for edge in found if edge]

    def ended(self, item: Version) -> int:
        """Return when the last fact of a memory ends: then it is superseded (M1)."""
        values = self.values_of(item) if item.kind == "memory" else []
        if not values or self.is_fixed(item):
            return FOREVER
        return max(map(self.until, values))

    def predecessors(self, item: Version) -> int:
        """Return how many live items it takes over from, of which values that it follows.

        A memory takes over from memories, and its facts from values.
        """
        others = [o for o in self.live(item.kind) if o.id != item.id]
        before = [o for o in others if item in (*self.replacers(o), *self.followers(o))]
        if item.kind == "memory":
            return len(before) + sum(map(self.former_values, self.values_of(item)))
        return len(before)

    def former_values(self, edge: Version) -> int:
        """Return how many values it follows directly."""
        return sum(edge in self.followers(other) for other in self.live("edge"))

    def superseded_from(self, item: Version) -> int:
        """Return when the earliest successor begins, or the last fact ends."""
        newer = (*self.replacers(item), *self.followers(item))
        return min([n.begins for n in newer] + [self.ended(item)])

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
        later = [e for e in said if self.held(e, v) and e.begins > edge.begins]
        return self.held(edge, v) and (not later or self.is_fixed(edge))

    def successors(self, item: Version, v: int) -> list[Version]:
        """Return what has taken over from it by v: of a row, all values that came to be since."""
        found = [n for n in self.replacers(item) if n.begins <= v]
        if item.kind == "memory":
            return found + self._restated(item, v)
        if self.is_fixed(item) or self.never_held(item):
            return found
        since = [e for e in self.row(item) if item.begins < e.begins <= v]
        return found + [e for e in since if self.is_new(e)]

    def is_new(self, edge: Version) -> bool:
        """Return whether its source had another value right before it."""
        return any(edge in self.next_values(e) for e in self.row(edge))

    def _restated(self, memory: Version, v: int) -> list[Version]:
        """Return the memories that state the successors of facts that have all ended by v."""
        if self.ended(memory) > v:
            return []
        facts = [self.items[edge_id] for edge_id in self.facts[memory.id]]
        taken = {n.id for edge in facts for n in self.successors(edge, v) if self.met(n, edge, v)}
        return [m for m in self.stating(taken) if m.id != memory.id]

    def met(self, newer: Version, edge: Version, v: int) -> bool:
        """Return whether memories that state a successor take over from those of an edge.

        Those do that state the values right after it, and the last ones of the row.
        """
        lineage = any(e.relation in REPLACING and e.target == newer.id for e in self.live("edge"))
        last = lineage or self.is_fixed(newer) or all(n.begins > v for n in self.next_values(newer))
        return last or newer in (*self.replacers(edge), *self.followers(edge))

    def amendments(self, item: Version, v: int) -> set[str]:
        """Return the ids of the items that amend it and held at v (T4)."""
        lineage = [e for e in self.lineage if e.relation == "AMENDS" and e.target == item.id]
        newer = [self.get(e.source, item.kind) for e in lineage if self.counts(e, item)]
        return {n.id for n in newer if n and self.held(n, v)}

    def heads(self, item: Version, v: int) -> set[str]:
        """Return the live ends of its chain at v."""
        if self.superseded_from(item) > v:
            return set() if item.deleted else {item.id}
        reached, frontier, ends = {item.id}, [item], set()
        while frontier:
            here = frontier.pop()
            begun = self.successors(here, v)
            if not begun and here is not item:  # facts may have ended without a successor
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
        defining = [e for e in best if e.edge_type == "CONSTITUTIVE"]
        best = defining or [e for e in best if self.is_fixed(e)] or best
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
        """Return the items of a chain and the lineage edges among them (T5).

        The chain of a memory has the memories that state values of the chains of its facts.
        """
        facts = set(self.facts.get(item_id, ()))
        values = self._linked(facts) - facts
        ids = self._linked({item_id} | {m.id for m in self.stating(values)})
        return ids, {e.id for e in self.lineage if {e.source, e.target} <= ids}

    def stating(self, edge_ids: set[str]) -> list[Version]:
        """Return the live memories that state any of these edges (M1)."""
        return [m for m in self.live("memory") if edge_ids & set(self.facts.get(m.id, ()))]

    def _linked(self, ids: set[str]) -> set[str]:
        """Return all items that lineage and rows join to these."""
        while True:
            more = set(ids)
            for edge in self.live("edge"):
                ends = {edge.source, edge.target}
                more |= ends if edge.is_lineage and ends & ids else set()
                more |= {e.id for e in self.row(edge)} if edge.id in ids else set()
            if more == ids:
                return ids
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
