"""`concord check-settings`: what a space lets checks record by themselves."""

from typing import Annotated

import typer

from concord_client.cli.session import Session
from concord_client.credentials import Role


def check_settings(
    session: Session,
    *,
    text_findings: Annotated[
        bool | None,
        typer.Option(
            "--text-findings/--no-text-findings",
            help="Whether checks at the end of a session and of reflections compare texts, too.",
            show_default="as it is",
        ),
    ] = None,
) -> None:
    """Show or set what the checks that follow a write record. Facts are always compared."""
    from concord.graph.v1.conflict_pb2 import (
        CheckSettings,
        GetCheckSettingsRequest,
        GetCheckSettingsResponse,
        SetCheckSettingsRequest,
        SetCheckSettingsResponse,
    )

    reply: GetCheckSettingsResponse | SetCheckSettingsResponse
    if text_findings is None:
        with session.client() as client:
            reply = client.conflict.GetCheckSettings(GetCheckSettingsRequest())
    else:
        settings = CheckSettings(records_text_findings=text_findings)
        with session.client(Role.ADMIN) as client:
            reply = client.conflict.SetCheckSettings(SetCheckSettingsRequest(settings=settings))
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.page import show

    what = "facts and texts" if reply.settings.records_text_findings else "facts alone"
    show(f"Checks that follow a write compare {what} in {session.space_name!r}.")
