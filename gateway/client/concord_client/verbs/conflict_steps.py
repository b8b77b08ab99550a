"""The verbs of conflicts: check, list, review and resolve them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import grpc
from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import conflict_pb2

from concord_client.refusal import NotFound
from concord_client.verbs import conflict_things as things
from concord_client.verbs import read_conflict
from concord_client.verbs.arguments import instant, invalid, value_of
from concord_client.verbs.conflict_things import ConflictClass, ConflictState
from concord_client.verbs.steps import Step, Steps, taken
from concord_client.verbs.things import Page

LONG_CHECK = 600.0
"""The timeout of a check, in seconds."""


def check(node: str, *, dry_run: bool = False, max_text_findings: int = 0) -> Step[things.Check]:
    """Check the statements around a node for contradictions.

    `dry_run`: nothing is recorded. `max_text_findings`: the most new findings in texts to record,
    0 = 20; of more none is, and `Check.unrecorded` counts them.
    """
    request = dissonance_pb2.CheckDissonanceRequest(
        context_node=node, dry_run=dry_run, max_text_findings=max_text_findings
    )

    return Step(request, read_conflict.checked, LONG_CHECK)


def conflicts(
    *,
    states: Sequence[ConflictState] = ("POTENTIAL", "CONFIRMED"),
    classes: Sequence[ConflictClass] = (),
    item_ids: Sequence[str] = (),
    run_id: str = "",
    limit: int = 50,
    page_token: str = "",
) -> Step[Page[things.Conflict]]:
    """A page of the conflicts, the newest first. `limit`: 1 to 200.

    `item_ids`: only those of these items; `run_id`: only those that this check recorded.
    """
    request = dissonance_pb2.ListConflictsRequest(
        states=[value_of(conflict_pb2.ConflictState, each, "states") for each in states],
        classes=[value_of(conflict_pb2.ConflictClass, each, "classes") for each in classes],
        item_ids=item_ids,
        run_id=run_id,
        page_size=limit,
        page_token=page_token,
    )

    def read(reply: dissonance_pb2.ListConflictsResponse) -> Page[things.Conflict]:
        found = tuple(read_conflict.conflict(each) for each in reply.conflicts)
        return Page(found, reply.next_page_token)

    return Step(request, read)


def conflict(
    id: str,  # noqa: A002 - what it is
    *,
    as_of: datetime | None = None,
) -> Step[things.Conflict | None]:
    """The conflict with this id, or None."""
    request = conflict_pb2.GetConflictRequest(id=id, as_of=instant(as_of))

    def read(reply: conflict_pb2.GetConflictResponse) -> things.Conflict | None:
        return read_conflict.conflict(reply.conflict) if reply.HasField("conflict") else None

    return Step(request, read)


def confirm(conflict: things.Conflict | str, *, because: str = "") -> Step[things.Decision]:
    """Say that a conflict is one.

    `conflict`: as it was read, or its id. One that was read is reviewed only if nobody has changed
    it since: else raises `EtagMismatch`. What is constitutive becomes a proposal: see `Decision`.
    """
    return _review("CONFIRM", conflict, because)


def dismiss(conflict: things.Conflict | str, *, because: str = "") -> Step[things.Decision]:
    """Say that a conflict is none: it does not come back unless a side changes. See `confirm`."""
    return _review("DISMISS", conflict, because)


def dismiss_all(
    *, run_id: str = "", rule: str = "", group_id: str = "", because: str = ""
) -> Step[things.Dismissed]:
    """Dismiss all conflicts of a run, a rule or a group that nobody has reviewed. Give one of them.

    `run_id`: all that this run of a check recorded. `rule`, `group_id`: what was found in texts.
    """
    asked = {"run_id": run_id, "rule": rule, "group_id": group_id}
    by = {name: value for name, value in asked.items() if value}
    if len(by) != 1:
        raise invalid("run_id", "is given, or a rule, or a group_id.")
    request = dissonance_pb2.DismissConflictsRequest(context=because, **by)

    def read(reply: dissonance_pb2.DismissConflictsResponse) -> things.Dismissed:
        return things.Dismissed(reply.dismissed_count, reply.left_count)

    return Step(request, read, LONG_CHECK)


def except_(conflict: things.Conflict | str, *, because: str) -> Step[things.Decision]:
    """Let both sides of a conflict stand. `because`: why they may. See `confirm`."""
    return _review("EXCEPT", conflict, because)


def reclassify(
    conflict: things.Conflict | str,
    conflict_class: ConflictClass,
    *,
    older: str = "",
    because: str = "",
) -> Step[things.Decision]:
    """Say that a conflict is of another class. See `confirm`.

    `older`: of an evolution, the id of the side that was true earlier.
    """
    return _review("RECLASSIFY", conflict, because, conflict_class, older)


def reopen(conflict: things.Conflict | str) -> Step[things.Decision]:
    """Take the last review or resolution of a conflict back. See `confirm`."""
    return _review("REOPEN", conflict)


def resolve(
    conflict: things.Conflict | str | tuple[str, str],
    *,
    resolution: ConflictClass | None = None,
    superseded: str = "",
    because: str = "",
) -> Steps[things.Decision]:
    """Resolve a conflict, or the disagreement of two memories or two edges, by their ids.

    `resolution`: None for the class that the conflict has; two ids need one. Of an EVOLUTION the
    older side gives way, of others only the one with the id `superseded`. What is constitutive
    becomes a proposal: see `Decision`.
    """
    request = dissonance_pb2.ResolveDissonanceRequest(superseded_id=superseded, context=because)
    if isinstance(conflict, tuple):
        first, second = conflict
        request.pair.first_id, request.pair.second_id = first, second
        if resolution is None:
            raise invalid("resolution", "is needed with two ids: say how they disagree.")
    else:
        request.conflict_id = conflict if isinstance(conflict, str) else conflict.id
    if resolution is None:
        resolution = yield from _class_of(request.conflict_id)
    request.resolution_type = value_of(conflict_pb2.ConflictClass, resolution, "resolution")
    return (yield from taken(Step(request, read_conflict.decision)))


def _class_of(id: str) -> Steps[ConflictClass]:  # noqa: A002
    found = yield from taken(conflict(id))
    if found is None:
        raise NotFound(
            grpc.StatusCode.NOT_FOUND,
            "ERROR_REASON_ITEM_NOT_FOUND",
            f"There is no conflict {id!r}.",
            metadata={"item_id": id},
        )
    match found.conflict_class:
        case "EVOLUTION" | "CONTRADICTION" | "NUANCE" as known:
            return known
    raise invalid("resolution", "is needed: no judge could say how the sides disagree.")


def _review(
    action: str,
    conflict: things.Conflict | str,
    because: str = "",
    conflict_class: ConflictClass | None = None,
    older: str = "",
) -> Step[things.Decision]:
    request = dissonance_pb2.ReviewConflictRequest(
        action=dissonance_pb2.ReviewAction.Value(f"REVIEW_ACTION_{action}"),
        conflict_id=conflict if isinstance(conflict, str) else conflict.id,
        etag="" if isinstance(conflict, str) else conflict.etag,
        context=because,
        conflict_class=value_of(conflict_pb2.ConflictClass, conflict_class, "conflict_class"),
        older_id=older,
    )
    return Step(request, read_conflict.decision)
