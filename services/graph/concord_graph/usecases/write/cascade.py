"""The cascade of a governed change: items that need no consent and that its action does not name.

Anybody may attach descriptive edges to any item. If the action had to name each of them with its
version, someone who attaches many edges, or changes one at the right moment, could block a change
that both principals consented to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from concord_attestation.bounds import MAX_ITEMS, MAX_REVERTED

from concord_graph.domain.errors import NotUndoable
from concord_graph.ports import Cascaded, ItemEffect, Ref
from concord_graph.usecases.write.recorder import Effect

MOST_LISTED = MAX_REVERTED - MAX_ITEMS
"""More cascaded items than these are only counted: an undo could not name them all."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The items that a governed action names itself.

    `named`: ids; None: the item of its reply. `erases`: no undo restores the cascaded items, and
    new items only repeat facts of other memories. `irreversible`: both principals agreed that no
    undo will be possible.
    """

    named: frozenset[str] | None = None
    erases: bool = False
    irreversible: bool = False

    def naming(self, item_id: str) -> Scope:
        """Return the scope once the item of the action's reply is known."""
        return self if self.named is not None else replace(self, named=frozenset([item_id]))

    def cascades_to(self, effect: Effect) -> bool:
        """Return whether an effect is cascaded: the signed envelopes need not name its item."""
        if effect.needs_consent or effect.id in (self.named or ()):
            return False
        return bool(effect.before) or self.erases

    def is_beyond_undo(self, count: int) -> bool:
        """Return whether there are more cascaded items than an undo could restore."""
        return count > MOST_LISTED and not self.erases


def cascade(effects: Sequence[Effect], scope: Scope) -> tuple[list[ItemEffect], Cascaded]:
    """Return the effect on each cascaded item, and their number.

    They are only counted after an erasure, which no undo follows, and if there are more than
    `MOST_LISTED`.

    Raises:
        NotUndoable: there are more, and the principals did not agree to an irreversible change.
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
