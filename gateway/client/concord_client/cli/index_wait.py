"""Waits, with a progress bar, until search finds a write."""

from typing import TYPE_CHECKING

import typer

from concord_client.cli.errors import CommandError

if TYPE_CHECKING:
    from concord_client.client import Client


def await_index(client: "Client", token: str) -> None:
    """Returns once search has seen the write `token`. Raises `CommandError` if it is stuck.

    An interrupt is raised again, after a line on what is not indexed yet.
    """
    from concord_client.cli.render.progress import bar
    from concord_client.freshness import IndexStuckError, follow

    left = ""
    with bar("Indexing") as advance:
        try:
            for done, total in follow(client, token):
                left = f" ({total - done:,} changes of the space)"
                advance(done, total)
        except IndexStuckError as error:
            raise CommandError(str(error), reason="ERROR_REASON_INDEX_STALE") from error
        except KeyboardInterrupt:
            typer.echo(
                f"What is remembered stays, and search does not find all of it yet{left}: the "
                "index goes on by itself, and `concord status` shows how far it is.",
                err=True,
            )
            raise
