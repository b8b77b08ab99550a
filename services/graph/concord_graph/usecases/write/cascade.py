"""What a governed change cascades to: items that need no consent and that its action does not name.

Anybody may hang descriptive edges on anything. If the action had to name each of these with its
version, whoever hangs many edges, or changes one at the right moment, could block what both
principals agreed to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from concord_attestation.bounds import MAX_ITEMS, MAX_REVERTED

from concord_graph.domain.errors import NotUndoable
from concord_graph.ports import Cascaded, ItemEffect, Ref
from concord_graph.usecases.write.writer import Effect

MOST_LISTED = MAX_REVERTED - MAX_ITEMS
"""More cascaded items than these are only counted: an undo could not name them all."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a governed action names itself.

    `named`: ids; None: the item of its reply. `erases`: no undo brings back what it cascades to,
    and the items that it creates stand for what others still state. `irreversible`: both principals
    agreed that no undo will be possible.
    """

    named: frozenset[str] | None = None
    erases: bool = False
    irreversible: bool = False

    def naming(self, item_id: str) -> Scope:
        """Return the scope of an action that was done, or rehearsed: its reply's item is known."""
        return self if self.named is not None else replace(self, named=frozenset([item_id]))

    def cascades_to(self, effect: Effect) -> bool:
        """Return whether the signed envelopes need not name an item."""
        if effect.needs_consent or effect.id in (self.named or ()):
            return False
        return bool(effect.before) or self.erases

    def is_beyond_undo(self, count: int) -> bool:
        """Return whether an undo could not bring back so many cascaded items."""
        return count > MOST_LISTED and not self.erases


def cascade(effects: Sequence[Effect], scope: Scope) -> tuple[list[ItemEffect], Cascaded]:
    """Return the effect on each cascaded item, and how many there are.

    They are only counted after an erasure, which no undo follows, and when there are more than
    `MOST_LISTED`.

    Raises:
        NotUndoable: there are more, and the principals did not agree to what is irreversible.
    """
    found = sorted((each for each in effects if scope.cascades_to(each)), key=lambda each: each.id)
    if not found:
        return [], Cascaded(0, "")
    if scope.is_beyond_undo(len(found)) and not scope.irreversible:
        raise NotUndoable(len(found), MOST_LISTED)
    lines = "".join(f"{each.id} {each.before} {each.after}\n" for each in found)
    counted = Cascaded(len(found), sha256(lines.encode()).hexdigest())
    if scope.erases or len(found) > MOST_LISTED:
        return [], counted
    listed = [
        ItemEffect(Ref(each.kind, each.id, each.after), each.before, cascaded=True)
        for each in found
    ]
    return listed, counted
