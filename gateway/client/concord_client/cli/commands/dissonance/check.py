"""`concord check`."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from concord.graph.v1.conflict_pb2 import Conflict
from concord.type.v1.type_pb2 import LOOKUP_STATUS_NOT_FOUND
from google.protobuf.json_format import MessageToJson

from concord_client.cli.choices import CheckScope
from concord_client.cli.errors import CommandError
from concord_client.cli.items import absent
from concord_client.cli.options import LONG_CHECK
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session, write_line

if TYPE_CHECKING:
    from concord.dissonance.v1.dissonance_pb2 import (
        CheckDissonanceRequest,
        CheckStatus,
        Coverage,
        DetectContradictionsRequest,
        DetectContradictionsResponse,
        RuleFindings,
    )

_ALL = 2**31 - 1
NOTHING_NEW = "Nothing was found. What was found before: concord conflicts"


def check(
    session: Session,
    node: Annotated[
        str,
        typer.Argument(
            metavar="[NODE]", help="Only around this node: its id or name.", show_default="space"
        ),
    ] = "",
    *,
    radius: Annotated[int, typer.Option(min=1, max=3, help="How many edges away.")] = 1,
    scope: Annotated[
        CheckScope,
        typer.Option(
            case_sensitive=False,
            help="Around a node: what was changed or read within 30 days, or all. Of the space: "
            "what changed since the last check, or all.",
        ),
    ] = CheckScope.RECENT,
    session_id: Annotated[
        str, typer.Option("--session", help="What belongs to it counts as recent.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge, and record nothing.")] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="Record what is found in texts without asking, however much it is."
        ),
    ] = False,
) -> None:
    """Look for statements that disagree. Nothing is resolved by it.

    Facts are compared exactly. Texts are compared by rules that can be wrong: of more than 20 new
    findings in texts none is recorded until you say so.
    """
    from concord.dissonance.v1 import dissonance_pb2

    request: CheckDissonanceRequest | DetectContradictionsRequest
    if node:
        request = dissonance_pb2.CheckDissonanceRequest(
            context_node=node,
            radius=radius,
            scope=scope.value_of(),
            session_id=session_id,
            dry_run=dry_run,
        )
    else:
        full = scope is CheckScope.FULL
        request = dissonance_pb2.DetectContradictionsRequest(full=full, dry_run=dry_run)
    found = _checked(session, request, most=_ALL if yes else 0)
    if not found.coverage.unrecorded:
        return
    count = f"{found.coverage.unrecorded:,} findings in texts"
    if session.as_json or not sys.stdin.isatty():
        raise CommandError(
            f"{count} were not recorded: that is more than 20. To record them: concord check --yes"
        )
    if not typer.confirm(f"Record all {count}?", err=True):
        raise CommandError(f"{count} were not recorded.")
    _checked(session, request, most=_ALL)


class _Found(NamedTuple):
    """What a check found."""

    run_id: str
    status: "CheckStatus.ValueType"
    coverage: "Coverage"
    conflicts: Sequence[Conflict]
    rules: "Sequence[RuleFindings]"


def _checked(
    session: Session,
    request: "CheckDissonanceRequest | DetectContradictionsRequest",
    *,
    most: int,
) -> _Found:
    """Run a check, and print what it found. `most`: findings in texts to record; 0: the default."""
    from uuid import uuid4

    from concord.dissonance.v1.dissonance_pb2 import CheckDissonanceRequest

    request.request_id, request.max_text_findings = str(uuid4()), most
    with session.client() as client:
        if isinstance(request, CheckDissonanceRequest):
            reply = client.dissonance.CheckDissonance(request, timeout=LONG_CHECK)
            found = _Found(
                request.request_id, reply.status, reply.coverage, reply.conflicts, reply.rules
            )
            if session.as_json:
                session.reply(reply)
            elif reply.node_status == LOOKUP_STATUS_NOT_FOUND:
                raise absent(session, request.context_node, what="node")
        else:
            events = client.dissonance.DetectContradictions(request, timeout=LONG_CHECK)
            found = _read(events, request.request_id, as_json=session.as_json)
    if not session.as_json:
        _show(found)
    return found


def _read(
    events: "Iterator[DetectContradictionsResponse]", run_id: str, *, as_json: bool
) -> _Found:
    """Read a check of the space to its end; with `as_json`, print each event as it comes."""
    from concord_client.cli.render.progress import bar

    conflicts = []
    with bar("Checking", 100) as advance:
        for event in events:
            if as_json:
                write_line(MessageToJson(event, indent=None, ensure_ascii=False))
            if event.HasField("progress"):
                advance(round(event.progress.percent))
            elif event.HasField("conflict"):
                conflicts.append(event.conflict)
            else:
                end = event.summary
    return _Found(run_id, end.status, end.coverage, conflicts, end.rules)


def _show(found: _Found) -> None:
    from concord_client.cli.render.conflict_page import by_rule, checked

    show(*checked(found.status, found.coverage))
    show(*by_rule(found.conflicts, found.rules) or [text(NOTHING_NEW, "dim")])
    if found.coverage.recorded:
        show(text(f"To take these back: concord dismiss --run {found.run_id}", "dim"))
