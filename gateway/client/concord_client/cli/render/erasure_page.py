"""A look at what an erasure by selection would take, and its receipt, as pages."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from concord.type.v1 import type_pb2

from concord_client.cli.render.page import fields, show, table, text, when

if TYPE_CHECKING:
    from concord.graph.v1 import erasure_pb2

MOST_SHOWN = 200
"""Rows of one list; --json has all of them."""
_PARTS = (
    ("SELECTED_PART_SAID", "Said or written by them"),
    ("SELECTED_PART_FACTS", "States facts of them"),
    ("SELECTED_PART_DERIVED", "Derived from that, not made again"),
    ("SELECTED_PART_MENTION", "Mentions them"),
)
WHY = {
    "CONSTITUTIVE": "constitutive, or a consent depends on it: concord propose erase ID",
    "SHARED": "about somebody else, too: --shared",
    "MENTION": "mentions them: --mentions",
    "CHANGED": "changed since the look: look again",
    "NAMED": "a node that something names which stays",
    "DECLARATION": "the declaration of a relation: declare it anew",
}


def show_look(
    seen: "erasure_pb2.PreviewErasureResponse", proposals: Sequence[str], kept: Sequence[str]
) -> None:
    """Print the lists of a look."""
    from concord.graph.v1 import erasure_pb2

    for name, title in _PARTS:
        part = erasure_pb2.SelectedPart.Value(name)
        _show_items(title, [each for each in seen.items if each.part == part and not each.kept])
    _show_kept([each for each in seen.items if each.kept], seen.kept_count)
    erased = sum(not each.kept for each in seen.items)
    pairs = [
        ("would be erased", f"{erased:,}"),
        ("would stay", f"{seen.kept_count:,}"),
        ("queries, votes, recalls", str(seen.query_count or "")),
        ("words of proposals", ", ".join(proposals)),
        ("proposals that stay", ", ".join(kept)),
        ("ids and names that stay", ", ".join(seen.kept_ids)),
        ("spelt alike, not taken", ", ".join(seen.near_names)),
    ]
    show(fields([(name, value) for name, value in pairs if value]))
    if seen.near_names:
        show(text("--also NAME takes another name of the same one.", "dim"))


def show_receipt(reply: "erasure_pb2.GetSelectionReceiptResponse") -> None:
    """Print a receipt: what was erased, what stays and why, and who has confirmed."""
    receipt: dict[str, Any] = json.loads(reply.receipt)
    done = reply.HasField("complete_time")
    show(text("Erased, and gone from every store." if done else "Erased; stores still tidy up."))
    backups = receipt["backups_before"]
    if backups is None:
        old = "none are recorded here: who has copies of the stores has what was erased"
    else:
        old = ", ".join(backups) or "none is known"
    pairs = [
        ("receipt", receipt["erase_id"]),
        ("erased", receipt["erase_time"]),
        ("asked for by", receipt["principal"]),
        ("reason", receipt["reason"]),
        ("items", f"{len(receipt['erased']):,}"),
        ("derived, not made again", f"{receipt.get('derived_not_made_again') or ''}"),
        ("queries, votes, recalls", str(receipt["queries_blanked"] or "")),
        ("words of proposals", ", ".join(receipt["proposals"])),
        ("ids and names that stay", ", ".join(receipt["kept_ids"])),
        ("backups from before", old),
        *(
            (each.confirmer, when(each.confirm_time) if each.HasField("confirm_time") else "waits")
            for each in reply.confirmations
        ),
    ]
    show(fields([(name, value) for name, value in pairs if value]))
    if receipt["kept"]:
        made = table("Stays", "Id", "Why")
        for each in receipt["kept"][:MOST_SHOWN]:
            made.add_row(text(each["kind"].lower()), text(each["id"]), text(WHY[each["why"]]))
        show(made)


def _show_items(title: str, items: "Sequence[erasure_pb2.SelectedItem]") -> None:
    if not items:
        return
    show(text(f"{title}: {len(items):,}", "bold"))
    made = table("What", "Id", "It says", "Also about")
    for each in items[:MOST_SHOWN]:
        made.add_row(_kind(each), text(each.id), text(each.label), text(", ".join(each.others)))
    show(made)
    _show_more(len(items))


def _show_kept(items: "Sequence[erasure_pb2.SelectedItem]", count: int) -> None:
    from concord.graph.v1 import erasure_pb2

    if not items:
        return
    show(text(f"Stays: {count:,}", "bold"))
    made = table("What", "Id", "It says", "Why it stays")
    for each in items[:MOST_SHOWN]:
        why = WHY[erasure_pb2.KeptReason.Name(each.kept).removeprefix("KEPT_REASON_")]
        about = f" (also about {', '.join(each.others)})" if each.others else ""
        made.add_row(_kind(each), text(each.id), text(each.label), text(why + about))
    show(made)
    _show_more(len(items))


def _show_more(count: int) -> None:
    if count > MOST_SHOWN:
        show(text(f"… and {count - MOST_SHOWN:,} more: --json has all of them.", "dim"))


def _kind(item: "erasure_pb2.SelectedItem") -> Any:
    name = type_pb2.ItemKind.Name(item.kind).removeprefix("ITEM_KIND_")
    return text(name.lower().replace("_", " "))
