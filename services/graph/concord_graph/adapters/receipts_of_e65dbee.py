"""Receipts as lists of references [kind, id, revision, outcome], whose outcome was a text.

Only governance's decisions still have such receipts seven days after these lists were last written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from concord_graph.domain.items import ItemKind
from concord_graph.ports import (
    Acknowledged,
    BatchAdded,
    Cascaded,
    ChangeApplied,
    ItemEffect,
    MemoryErased,
    NodeDeleted,
    Outcome,
    Ref,
    Result,
    TurnsAppended,
    WorkingMemoryPut,
    WorkingMemoryRemoved,
    Written,
)

Row = tuple[int, str, int, str]
_EFFECT: Final = "from "
_CASCADED: Final = "along from "
_COUNTED: Final = "taken along"


def result_of(method: str, rows: Sequence[Row]) -> Result:
    """Return the result that a method's references stand for."""
    return _READ.get(method, _written)(rows)


def _ref(row: Row) -> Ref:
    return Ref(ItemKind(row[0]), row[1], row[2])


def _one(row: Row) -> Written:
    outcome = Outcome[row[3].upper()] if row[3] else Outcome.UPDATED
    return Written(_ref(row), outcome)


def _written(rows: Sequence[Row]) -> Result:
    return _one(rows[0]) if rows else Acknowledged()


def _change(rows: Sequence[Row]) -> Result:
    item, *rest = rows
    effects, orphaned, counted = [], [], Cascaded(0, "")
    for row in rest:
        if row[3] == _COUNTED:
            counted = Cascaded(row[2], row[1])
        elif row[3].startswith(_CASCADED):
            before = int(row[3].removeprefix(_CASCADED))
            effects.append(ItemEffect(_ref(row), before, cascaded=True))
        elif row[3].startswith(_EFFECT):
            before, *governed = map(int, row[3].removeprefix(_EFFECT).split())
            effects.append(ItemEffect(_ref(row), before, tuple(governed)))
        else:
            orphaned.append(row[1])
    return ChangeApplied(_ref(item), tuple(effects), counted, tuple(orphaned))


_READ: Final[dict[str, Callable[[Sequence[Row]], Result]]] = {
    "ApplyGovernedChange": _change,
    "AppendDialogue": lambda rows: TurnsAppended(tuple(map(_one, rows))),
    "BatchAddMemories": lambda rows: BatchAdded(tuple(map(_one, rows))),
    "ClearWorkingMemory": lambda rows: WorkingMemoryRemoved(len(rows)),
    "DeleteNode": lambda rows: NodeDeleted(_ref(rows[0]), len(rows) - 1),
    "EnrolPrincipals": lambda _: Acknowledged(),
    "EraseMemory": lambda rows: MemoryErased(_ref(rows[0]), rows[0][3]),
    "PutWorkingMemory": lambda rows: WorkingMemoryPut(_ref(rows[0]), tuple(map(_ref, rows[1:]))),
    "RemoveWorkingMemory": lambda rows: WorkingMemoryRemoved(len(rows)),
}
