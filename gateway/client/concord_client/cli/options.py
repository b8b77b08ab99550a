"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from concord_client.cli.choices import Importance, MemoryKind, Origin

AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="What held at this time (ISO 8601)."),
]
KnownAtOption = Annotated[
    str | None,
    typer.Option("--as-known-at", metavar="TIME", help="What was known at this time (ISO 8601)."),
]
InSessionOption = Annotated[
    str,
    typer.Option("--session", help="Session id: its results count as read together in it."),
]
ConflictArgument = Annotated[str, typer.Argument(metavar="ID", help="A conflict's number or id.")]
EtagOption = Annotated[
    str,
    typer.Option(help="Only if it still has this etag, as `concord get` shows it."),
]
KEPT_NOWHERE = "It is shown once and kept nowhere:"
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="Keep it in credentials.json for --space, instead of printing it."),
]
DerivedFromOption = Annotated[
    list[str] | None,
    typer.Option(metavar="ID", help="A memory that it was drawn from; may be repeated."),
]
CategoryOption = Annotated[str | None, typer.Option(help="A free category.")]
DomainOption = Annotated[str | None, typer.Option(help='Dotted, e.g. "work.billing".')]
ExternalIdOption = Annotated[str | None, typer.Option(help="Its key in another system.")]
ImportanceOption = Annotated[
    Importance | None, typer.Option(case_sensitive=False, help="How much it matters.")
]
KindOption = Annotated[
    MemoryKind | None,
    typer.Option(case_sensitive=False, help="What kind of text it is.", show_default="fact"),
]
LONG_CHECK = 600.0
"""The timeout in seconds of a check for conflicts."""

LimitOption = Annotated[int, typer.Option(min=1, max=200, help="Most items shown.")]
MemoryArgument = Annotated[str, typer.Argument(metavar="ID", help="A memory's id.")]
OriginOption = Annotated[
    list[Origin] | None,
    typer.Option(case_sensitive=False, help="Only memories of this origin; may be repeated."),
]
WriterOption = Annotated[
    str, typer.Option("--principal", help="Only memories that this principal wrote first.")
]
WordsOriginOption = Annotated[
    list[Origin] | None,
    typer.Option(
        "--words-of",
        case_sensitive=False,
        help="Only memories whose words now are of this origin; may be repeated.",
    ),
]
PageTokenOption = Annotated[str, typer.Option(help="Go on after an earlier page.")]
SurfacesWhenOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TRIGGER",
        help="Suggest it by itself: file:GLOB, error:REGEX, or words; may be repeated.",
    ),
]
SpeakerOption = Annotated[str | None, typer.Option(help="Who said it.")]
ValidFromOption = Annotated[str | None, typer.Option(help="From when it holds (ISO 8601).")]
ValidUntilOption = Annotated[str | None, typer.Option(help="Until when (exclusive).")]

FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="Write to this file.", show_default="stdout"),
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The same.")]


def chosen_file(file: Path | None, out: Path | None) -> Path | None:
    """The file to write to, from either option; None for standard output."""
    if file is not None and out is not None:
        raise typer.BadParameter("name the file once: FILE or --out FILE.")
    return file or out
