"""`concord say` and `concord dialogue`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1 import type_pb2
from concord_attestation.visible import quoted

from concord_client.cli.choices import TurnRole
from concord_client.cli.options import (
    AsOfOption,
    ExternalIdOption,
    KnownAtOption,
    LimitOption,
    PageTokenOption,
)
from concord_client.cli.render.page import show, show_more, table, text, when
from concord_client.cli.render.page import text as shown
from concord_client.cli.session import Session
from concord_client.cli.values import STDIN, asked_time, instant, read_stdin

if TYPE_CHECKING:
    from concord.graph.v1.dialogue_pb2 import ListDialogueResponse


def say(
    session: Session,
    session_id: Annotated[str, typer.Argument(metavar="SESSION", help="Whose dialogue.")],
    speaker: Annotated[str, typer.Argument(help="Who says it.")],
    text: Annotated[str, typer.Argument(help='What; "-" reads standard input.')],
    *,
    time: Annotated[str | None, typer.Option(help="When (ISO 8601).", show_default="now")] = None,
    external_id: ExternalIdOption = None,
    role: Annotated[
        TurnRole | None,
        typer.Option(case_sensitive=False, help="In which role.", show_default="person"),
    ] = None,
) -> None:
    """Keep a turn at the end of a dialogue; nobody can reword it."""
    from concord.graph.v1.dialogue_pb2 import AppendDialogueRequest, DialogueTurn

    turn = DialogueTurn(
        speaker=speaker,
        content=read_stdin().rstrip("\n") if text == STDIN else text,
        time=instant(time),
        external_id=external_id or "",
        role=role.value_of() if role else type_pb2.TURN_ROLE_UNSPECIFIED,
    )
    with session.client() as client:
        reply = client.dialogue.AppendDialogue(
            AppendDialogueRequest(session_id=session_id, turns=[turn])
        )
    if session.as_json:
        session.reply(reply)
        return
    (kept,) = reply.turns
    line = shown(f"Turn {kept.turn_order} " if reply.created_count else "Known already: ")
    show(line.append(kept.id, "bold"))


def dialogue(
    session: Session,
    session_id: Annotated[str, typer.Argument(metavar="SESSION", help="Whose dialogue.")],
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """Show what was said in a session, in its order."""
    from concord.graph.v1.dialogue_pb2 import ListDialogueRequest

    request = ListDialogueRequest(
        session_id=session_id,
        as_of=asked_time(as_of, known_at),
        page_size=limit,
        page_token=page_token,
    )
    with session.client() as client:
        reply = client.dialogue.ListDialogue(request)
    session.answer(reply, _show)


def _show(reply: "ListDialogueResponse") -> None:
    if not reply.turns:
        show("Nothing was said.")
        return
    made = table("#Turn", "When", "Who", "What")
    for turn in reply.turns:
        made.add_row(
            str(turn.turn_order),
            when(turn.supersession.effective_valid_from),
            text(", ".join(quoted(each.speaker) for each in turn.sources), "bold"),
            text(turn.content),
        )
    show(made)
    show_more(reply.next_page_token)
