"""Actions that both principals may agree to, and short ways to apply them."""

from __future__ import annotations

import itertools
from typing import Any

from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from graph_world import SUPERSEDES, Calls, Parties, World

Action = governed_pb2.GovernedAction
Applied = governed_pb2.ApplyGovernedChangeResponse

_numbers = itertools.count(1)


def action_of(kind: str, /, *mask: str, **fields: Any) -> Action:
    """Return the action of a kind, such as "delete_edge", from the fields of its request.

    `mask`: the fields that an update names.
    """
    if mask:
        fields["update_mask"] = {"paths": mask}
    request: dict[str, Any] = {kind: {"request_id": f"governed-{next(_numbers)}", **fields}}
    return Action(**request)


def reverting(done: Applied) -> Action:
    """Return the action that undoes a change."""
    items = [
        governed_pb2.RevertedItem(
            id=each.id,
            revision=each.before_revision,
            expected_revision=each.after_revision,
            cascaded=each.cascaded,
        )
        for each in done.effects
    ]
    return action_of("revert_items", items=items)


async def applied(calls: Calls, action: Action) -> Applied:
    """Apply an action that needs no consent, on the versions that its preview shows."""
    preview = await calls.governed.PreviewChange(governed_pb2.PreviewChangeRequest(action=action))
    etags = [governed_pb2.ItemEtag(id=each.id, etag=each.etag) for each in preview.items]
    request = governed_pb2.ApplyGovernedChangeRequest(
        request_id=calls.request_id(), action=action, etags=etags
    )
    return await calls.governed.ApplyGovernedChange(request)


async def with_constitutive(live: World) -> None:
    """Furnish a space: constitutive are the edge Me VALUES Honesty and the memory "core", which
    the memory "note" replaces with consent."""
    home, parties = live.calls(), live.parties()
    await parties.enrol(home)
    await parties.constitutive_edge(home)
    await parties.constitutive_memory(home, "core")
    await home.add("note", id="note")
    await replaced(home, parties, "note", "core")


async def replaced(
    calls: Calls,
    parties: Parties,
    newer_id: str,
    older_id: str,
    relation: type_pb2.LineageRelation.ValueType = SUPERSEDES,
) -> type_pb2.Edge:
    """Make lineage with both principals' consent."""
    action = action_of("add_lineage", relation=relation, newer_id=newer_id, older_id=older_id)
    return (await parties.apply(calls, action)).edge
