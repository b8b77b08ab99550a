"""As of when a command reads: `--as-of` and `--as-known-at`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.choices import instant

if TYPE_CHECKING:
    from concord.type.v1.type_pb2 import AsOf

AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="What held at this time (ISO 8601)."),
]
KnownAtOption = Annotated[
    str | None,
    typer.Option("--as-known-at", metavar="TIME", help="What was known at this time (ISO 8601)."),
]


def asked_time(as_of: str | None, known_at: str | None) -> "AsOf | None":
    """The instant that a reader asks about; None for now."""
    from concord.type.v1.type_pb2 import AsOf

    if as_of is None and known_at is None:
        return None
    return AsOf(valid_time=instant(as_of), record_time=instant(known_at))
