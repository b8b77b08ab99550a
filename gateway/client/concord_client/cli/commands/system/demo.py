"""`concord demo`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_client.cli.session import JsonOption, Session, demand_embedded


def demo(
    ctx: typer.Context,
    *,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Keep the data in this new directory.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """See it work, in a minute: a corpus, a successor, its history, and what nobody forgets."""
    demand_embedded()
    from concord_client.cli.demo.tour import run

    session = Session.of(ctx, None, as_json)
    raise typer.Exit(run(keep, as_json=session.as_json))
