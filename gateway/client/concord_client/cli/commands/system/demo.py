"""`concord demo`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_client.cli.session import SystemSession, demand_embedded


def demo(
    session: SystemSession,
    *,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Keep the data in this new directory.")
    ] = None,
) -> None:
    """See it work, in a minute: a corpus, a successor, its history, and what nobody forgets."""
    demand_embedded()
    from concord_client.cli.demo.tour import run

    raise typer.Exit(run(keep, as_json=session.as_json))
