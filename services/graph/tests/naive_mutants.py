"""Replays that get one rule of supersession wrong: random writes must tell each from the truth."""

from __future__ import annotations

from naive_replay import FOREVER, REPLACING, Known, Version


class NoRows(Known):
    """No value follows another in time."""

    def is_functional(self, relation: str) -> bool:  # noqa: ARG002 - it is wrong
        return False


class EveryRow(Known):
    """Every relation is functional, declared so or not."""

    def is_functional(self, relation: str) -> bool:
        return relation not in ("KEEPS", *REPLACING)


class NoTies(Known):
    """Of values of one instant, one alone follows."""

    def next_values(self, edge: Version) -> list[Version]:
        return super().next_values(edge)[:1]


class Extracted(Known):
    """A value that nobody stated ends others."""

    def next_values(self, edge: Version) -> list[Version]:
        others = [e for e in self.row(edge) if e.target != edge.target]
        later = [e for e in others if e.begins > edge.begins]
        return [e for e in later if e.begins == later[0].begins]


class ExtractedStay(Known):
    """A value that nobody stated gives way to none."""

    def next_values(self, edge: Version) -> list[Version]:
        return [] if edge.extracted else super().next_values(edge)


class NoReturns(Known):
    """A value that returns follows itself."""

    def next_values(self, edge: Version) -> list[Version]:
        later = [e for e in self.row(edge) if e.begins > edge.begins]
        return [e for e in later if e.begins == later[0].begins]


class Definitions(Known):
    """What defines the agent gives way as other values do."""

    def is_fixed(self, item: Version) -> bool:
        undefined = Version(**{**vars(item), "told": {**item.told, "edge_type": "DESCRIPTIVE"}})
        return super().is_fixed(undefined)


class NoAgreement(Known):
    """An edge gives way although lineage starts at it that both agreed to."""

    def is_agreed(self, item_id: str) -> bool:  # noqa: ARG002 - it is wrong
        return False


class Unpinned(Known):
    """A memory at which an agreed edge ends gives way."""

    def is_fixed(self, item: Version) -> bool:
        return item.edge_type == "CONSTITUTIVE" or self.is_agreed(item.id)


class Ungranted(Known):
    """Lineage that both agreed to counts no more than one principal's."""

    def counts(self, lineage: Version, older: Version) -> bool:
        return not (self.is_fixed(older) or self.is_early(lineage, older))


class Early(Known):
    """What names a ghost counts, whoever writes the memory later."""

    def is_early(self, lineage: Version, older: Version) -> bool:  # noqa: ARG002 - it is wrong
        return False


class OnceHeld(Known):
    """A value that an earlier one replaced stays in its row."""

    def never_held(self, edge: Version) -> bool:  # noqa: ARG002 - it is wrong
        return False


class ManyLevels(Known):
    """A value that never held itself does not take another out of its row."""

    def never_held(self, edge: Version) -> bool:
        row = (edge.source, edge.relation)
        newer = [n for n in self.replacers(edge) if (n.source, n.relation) == row]
        return any(n.begins < edge.begins and not self.never_held(n) for n in newer)


class EndlessFacts(Known):
    """A memory outlasts its facts."""

    def ended(self, item: Version) -> int:  # noqa: ARG002 - it is wrong
        return FOREVER


class FirstFact(Known):
    """A memory ends with the first of its facts that ends."""

    def ended(self, item: Version) -> int:
        values = self.values_of(item)
        return min(map(self.until, values)) if super().ended(item) != FOREVER else FOREVER


class FixedEnds(Known):
    """A memory that is fixed ends with its facts."""

    def ended(self, item: Version) -> int:
        values = self.values_of(item) if item.kind == "memory" else []
        return max(map(self.until, values), default=FOREVER)


class NoHeirs(Known):
    """No memory takes over from one whose facts have ended."""

    def _restated(self, memory: Version, v: int) -> list[Version]:  # noqa: ARG002 - it is wrong
        return []


class ShortRows(Known):
    """The heads of a value end at the first that gives way to none."""

    def successors(self, item: Version, v: int) -> list[Version]:
        found = super().successors(item, v)
        stays = [e.begins for e in found if e.kind == "edge" and self.is_fixed(e)]
        return [n for n in found if n.begins <= min(stays, default=v)]


class Twice(Known):
    """A value that another replaces and follows counts twice."""

    def predecessors(self, item: Version) -> int:
        others = [o for o in self.live(item.kind) if o.id != item.id]
        return sum((*self.replacers(o), *self.followers(o)).count(item) for o in others)


class Beginnings(Known):
    """A successor takes over from when it was written, whenever it begins."""

    def superseded_from(self, item: Version) -> int:
        newer = (*self.replacers(item), *self.followers(item))
        return min([n.created for n in newer] + [self.ended(item)])


MUTANTS = tuple(Known.__subclasses__())
