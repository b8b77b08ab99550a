"""`concord confirm`, `dismiss`, `except`, `reclassify` and `reopen`: reviews of a conflict."""

from typing import Annotated

import typer

from concord_client.cli.choices import ConflictClass
from concord_client.cli.items import absent
from concord_client.cli.options import LONG_CHECK, ConflictArgument
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.session import Session
from concord_client.cli.values import plain_id

ContextOption = Annotated[str, typer.Option("--because", metavar="TEXT", help="Why.")]
ConflictEtagOption = Annotated[
    str, typer.Option(help="Only if it still has this etag, as `concord conflict` shows it.")
]


def confirm(
    session: Session,
    conflict_id: ConflictArgument,
    *,
    because: ContextOption = "",
    etag: ConflictEtagOption = "",
) -> None:
    """Say that a conflict is one."""
    _review(session, "CONFIRM", conflict_id=conflict_id, etag=etag, context=because)


def dismiss(
    session: Session,
    conflict_id: Annotated[
        str, typer.Argument(metavar="[CONFLICT]", help="Its number or id.", show_default=False)
    ] = "",
    *,
    run_id: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Instead: all that this run of a check recorded and nobody has reviewed.",
        ),
    ] = "",
    rule: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Instead: all that this rule found in texts and nobody has reviewed.",
        ),
    ] = "",
    group: Annotated[
        str,
        typer.Option(
            metavar="GROUP",
            help="Instead: all findings in texts of this group that nobody has reviewed.",
        ),
    ] = "",
    because: ContextOption = "",
    etag: ConflictEtagOption = "",
) -> None:
    """Say that a conflict is none: it does not come back unless a side changes."""
    if sum(map(bool, (conflict_id, run_id, rule, group))) != 1:
        raise typer.BadParameter("name a conflict, or a --run, a --rule or a --group.")
    if not conflict_id:
        if etag:
            raise typer.BadParameter("--etag goes with a conflict.")
        _dismiss_all(session, run_id=run_id, rule=rule, group_id=group, because=because)
        return
    _review(session, "DISMISS", conflict_id=conflict_id, etag=etag, context=because)


def except_(
    session: Session,
    conflict_id: ConflictArgument,
    *,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why both may stand.")],
    etag: ConflictEtagOption = "",
) -> None:
    """Let both sides of a conflict stand."""
    _review(session, "EXCEPT", conflict_id=conflict_id, etag=etag, context=because)


def reclassify(
    session: Session,
    conflict_id: ConflictArgument,
    conflict_class: Annotated[
        ConflictClass, typer.Argument(metavar="CLASS", case_sensitive=False, help="What it is.")
    ],
    *,
    older: Annotated[
        str, typer.Option(metavar="ID", help="Of an evolution: the side that was true earlier.")
    ] = "",
    because: ContextOption = "",
    etag: ConflictEtagOption = "",
) -> None:
    """Say that a conflict is of another class."""
    _review(
        session,
        "RECLASSIFY",
        conflict_id=conflict_id,
        etag=etag,
        context=because,
        conflict_class=conflict_class.value_of(),
        older_id=plain_id(older),
    )


def reopen(
    session: Session,
    conflict_id: ConflictArgument,
    *,
    etag: ConflictEtagOption = "",
) -> None:
    """Take the last review or resolution of a conflict back."""
    _review(session, "REOPEN", conflict_id=conflict_id, etag=etag)


def _dismiss_all(session: Session, *, because: str, **by: str) -> None:
    """Dismiss by the only one of the keywords that is not empty."""
    from concord.dissonance.v1.dissonance_pb2 import DismissConflictsRequest, ListConflictsRequest

    ((by_field, name),) = [(field, name) for field, name in by.items() if name]
    request = DismissConflictsRequest(context=because)
    setattr(request, by_field, name)
    run_id = request.run_id
    with session.client() as client:
        reply = client.dissonance.DismissConflicts(request, timeout=LONG_CHECK)
        if run_id and not reply.dismissed_count and not reply.left_count:
            of_run = ListConflictsRequest(run_id=run_id, page_size=1)
            if not client.dissonance.ListConflicts(of_run).conflicts:
                more = " `concord conflict ID` names the run that recorded a conflict."
                raise absent(session, run_id, what="run that recorded conflicts", more=more)
    what = by_field.removesuffix("_id")
    if not run_id and not reply.dismissed_count and not reply.left_count:
        raise absent(session, name, what=f"finding in texts that nobody has reviewed, of {what}")
    if session.as_json:
        session.reply(reply)
        return
    show(f"Dismissed {plural(reply.dismissed_count, 'conflict')} of {what} {name}.")
    if reply.left_count:
        left = plural(reply.left_count, "conflict")
        how = f"concord conflicts --run {run_id}" if run_id else "concord conflicts"
        show(text(f"{left} of it must be reviewed alone: {how}"))


def _review(session: Session, action: str, **given: object) -> None:
    """Sends a review with these fields of its request."""
    from concord.dissonance.v1.dissonance_pb2 import ReviewAction, ReviewConflictRequest

    request = ReviewConflictRequest(
        action=ReviewAction.Value(f"REVIEW_ACTION_{action}"),
        **given,  # type: ignore[arg-type] # by name
    )
    with session.client() as client:
        reply = client.dissonance.ReviewConflict(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.conflict_page import decided

    show(*decided(reply))
