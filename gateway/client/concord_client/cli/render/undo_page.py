"""A look at what an undo would bring back, and its summary, as pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from concord.type.v1 import type_pb2

from concord_client.cli.render.page import fields, show, table, text, when, word

if TYPE_CHECKING:
    from concord.graph.v1 import undo_pb2

MOST_SHOWN = 200
"""Rows of one list; --json has all of them."""
WHY = {
    "CHANGED": "changed or replaced since",
    "PROTECTED": "constitutive, or a consent depends on it: undo its proposal",
    "ERASED": "erased",
    "NEEDED": "others need it, or have its place",
    "SETTLED": "somebody settled a claim of it",
    "FORBIDDEN": "not yours to undo: its writer does, or a person who governs",
    "ABOVE": "it stands above you",
}


def show_look(seen: "undo_pb2.PreviewUndoResponse") -> None:
    """Print the lists of a look."""
    undone = [each for each in seen.items if not each.left]
    _show("Would go: it is new since then", [each for each in undone if not each.back_to])
    _show("Would be as it was", [each for each in undone if each.back_to])
    _show_left([each for each in seen.items if each.left])
    pairs = [("would be undone", seen.undone_count), ("would be left", seen.left_count)]
    show(fields([(name, f"{count:,}") for name, count in pairs]))


def show_summary(reply: "undo_pb2.GetUndoResponse") -> None:
    """Print what was undone, and what was left and why."""
    pairs = [
        ("undone", f"{reply.undone_count:,}"),
        ("left", f"{reply.left_count:,}"),
        ("at", when(reply.undo_time)),
        ("by", reply.principal),
    ]
    show(fields(pairs))
    _show_left([each for each in reply.items if each.left])


def _show(title: str, items: "Sequence[undo_pb2.UndoneItem]") -> None:
    if not items:
        return
    show(text(f"{title}: {len(items):,}", "bold"))
    made = table("What", "Id", "It says now", "#Back to revision")
    for each in sorted(items, key=lambda each: each.kind != type_pb2.ITEM_KIND_MEMORY)[:MOST_SHOWN]:
        back = str(each.back_to or "—")
        made.add_row(_kind(each), text(each.id), text(each.label), back)
    show(made)
    _show_more(len(items))


def _show_left(items: "Sequence[undo_pb2.UndoneItem]") -> None:
    from concord.graph.v1 import undo_pb2

    if not items:
        return
    show(text(f"Left as it is: {len(items):,}", "bold"))
    says = ["It says"] if any(each.label for each in items) else []  # a summary has no words
    made = table("What", "Id", *says, "Why")
    for each in items[:MOST_SHOWN]:
        why = WHY[word(undo_pb2.LeftReason, each.left).upper()]
        by = f", by {', '.join(each.changed_by)}" if each.changed_by else ""
        label = [text(each.label)] if says else []
        made.add_row(_kind(each), text(each.id), *label, text(why + by))
    show(made)
    _show_more(len(items))


def _show_more(count: int) -> None:
    if count > MOST_SHOWN:
        show(text(f"… and {count - MOST_SHOWN:,} more: --json has all of them.", "dim"))


def _kind(item: "undo_pb2.UndoneItem") -> Any:
    return text(word(type_pb2.ItemKind, item.kind))
