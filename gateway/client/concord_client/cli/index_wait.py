"""Waits, with a progress bar, until search finds a write."""

from typing import TYPE_CHECKING

from concord_client.cli.errors import CommandError

if TYPE_CHECKING:
    from concord_client.client import Client


def await_index(client: "Client", token: str) -> None:
    """Returns once search has seen the write `token`. Raises `CommandError` if it is stuck."""
    from concord_client.cli.render.progress import bar
    from concord_client.freshness import IndexStuckError, follow

    with bar("Indexing") as advance:
        try:
            for done, total in follow(client, token):
                advance(done, total)
        except IndexStuckError as error:
            raise CommandError(str(error), reason="ERROR_REASON_INDEX_STALE") from error
