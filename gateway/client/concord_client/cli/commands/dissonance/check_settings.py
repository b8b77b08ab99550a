"""`concord check-settings`: what a space lets checks record by themselves."""

from typing import Annotated

import typer
from concord.graph.v1.conflict_pb2 import (
    CheckSettings,
    GetCheckSettingsRequest,
    GetCheckSettingsResponse,
    SetCheckSettingsRequest,
    SetCheckSettingsResponse,
)

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
    reply: GetCheckSettingsResponse | SetCheckSettingsResponse
    if text_findings is None:
        with session.client() as client:
            reply = client.conflict.GetCheckSettings(GetCheckSettingsRequest())
    else:
        settings = CheckSettings(records_text_findings=text_findings)
        with session.client(Role.ADMIN) as client:
            reply = client.conflict.SetCheckSettings(SetCheckSettingsRequest(settings=settings))
    what = "facts and texts" if reply.settings.records_text_findings else "facts alone"
    name = session.space_name
    session.answer(reply, f"Checks that follow a write compare {what} in {name!r}.")
