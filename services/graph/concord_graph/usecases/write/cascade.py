"""What a governed change takes along: what needs no consent, and what its action does not name.

Anybody may hang descriptive edges on anything. Were each to be named with its version, who hangs
many, or changes one at the right moment, would keep what both parties agreed to from being done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from concord_attestation.bounds import MAX_ITEMS, MAX_REVERTED

from concord_graph.domain.errors import NotUndoable
from concord_graph.domain.items import ItemKind
from concord_graph.ports import Ref
from concord_graph.usecases.write.writer import Effect

MOST_TOLD = MAX_REVERTED - MAX_ITEMS
"""More than these are only counted: an undo could not name them."""
ALONG = "along from "
"""Begins the outcome of a reference to what went along: the revision before follows."""
COUNTED = "taken along"
"""The outcome of the reference that counts what went along: its id is the digest."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a governed action names itself.

    `named`: by id; None where it is the item of its reply. `erases`: what it takes along does not
    come back, and what it makes stands for what others still say. `final`: what was agreed to says
    that it cannot be undone.
    """

    named: frozenset[str] | None = None
    erases: bool = False
    final: bool = False

    def of(self, refs: Sequence[Ref]) -> Scope:
        """Return the same of an action that was done, or rehearsed: its ids are known."""
        if self.named is not None:
            return self
        return replace(self, named=frozenset(each.id for each in refs[:1]))

    def takes_along(self, effect: Effect) -> bool:
        """Return whether the papers need not name an item."""
        if effect.needs_consent or effect.id in (self.named or ()):
            return False
        return bool(effect.before) or self.erases

    def is_beyond_undo(self, count: int) -> bool:
        """Return whether so many that go along are more than an undo could bring back."""
        return count > MOST_TOLD and not self.erases


def references(effects: Sequence[Effect], scope: Scope) -> list[Ref]:
    """Return a reference to each item that went along, and one that counts them.

    Of an erasure, which ends undo, and of more than `MOST_TOLD` there is only the count.

    Raises:
        NotUndoable: there are more, and nobody who agreed was told that it is final.
    """
    along = sorted((each for each in effects if scope.takes_along(each)), key=lambda each: each.id)
    if not along:
        return []
    said = "".join(f"{each.id} {each.before} {each.after}\n" for each in along)
    counted = Ref(ItemKind.GHOST, sha256(said.encode()).hexdigest(), len(along), COUNTED)
    if scope.is_beyond_undo(len(along)) and not scope.final:
        raise NotUndoable(len(along), MOST_TOLD)
    if scope.erases or len(along) > MOST_TOLD:
        return [counted]
    return [
        *(Ref(each.kind, each.id, each.after, f"{ALONG}{each.before}") for each in along),
        counted,
    ]
