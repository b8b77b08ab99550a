"""`concord feedback` and `concord calibrate`."""

from typing import Annotated

import typer

from concord_client.cli.render.page import plural, show
from concord_client.cli.session import Session
from concord_client.credentials import Role


def feedback(
    session: Session,
    query_id: Annotated[str, typer.Argument(help="From the end of `concord integrative`.")],
    *,
    helpful: Annotated[
        bool | None,
        typer.Option("--helpful/--unhelpful", help="Whether it helped; neither is not counted."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Say whether the results of an integrative search helped. One vote a query moves nothing."""
    from concord.search.v1 import feedback_pb2

    said = {
        None: feedback_pb2.HELPFULNESS_UNSPECIFIED,
        True: feedback_pb2.HELPFULNESS_HELPFUL,
        False: feedback_pb2.HELPFULNESS_UNHELPFUL,
    }
    request = feedback_pb2.SubmitFeedbackRequest(
        query_id=query_id, helpfulness=said[helpful], reason=reason
    )
    with session.client() as client:
        reply = client.feedback.SubmitFeedback(request)
    votes = plural(reply.new_vote_count, "new vote")
    weight = f"{reply.constitutive_weight:.2f}"
    session.answer(reply, f"Kept. The constitutive weight is {weight}, with {votes}.")


def calibrate(
    session: Session,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and why. The default.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Move the weight.")] = False,
    revert: Annotated[bool, typer.Option("--revert", help="Take the last move back.")] = False,
) -> None:
    """Move the constitutive weight by the evidence of votes, or show how it would move."""
    from concord.search.v1 import feedback_pb2

    if dry_run + apply + revert > 1:
        raise typer.BadParameter("--dry-run, --apply and --revert exclude each other.")
    action = "APPLY" if apply else "REVERT" if revert else "DRY_RUN"
    request = feedback_pb2.RecalibrateRequest(
        action=feedback_pb2.RecalibrateAction.Value(f"RECALIBRATE_ACTION_{action}")
    )
    with session.client(Role.ADMIN) as client:
        reply = client.feedback.Recalibrate(request)
    if session.as_json:
        session.reply(reply)
        return
    moved = "moved" if reply.moved else "would move" if action == "DRY_RUN" else "stays"
    if reply.old_weight == reply.new_weight:
        moved = "stays"
    show(f"The constitutive weight {moved}: {reply.old_weight:.2f} to {reply.new_weight:.2f}.")
    show(f"Evidence: {reply.evidence}.")
