"""The list of commands, and what all of them share: global options, failures, exit status."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from concord_client.cli import (
    auditing,
    changing,
    deciding,
    demonstration,
    erasing,
    experiencing,
    exporting,
    finding,
    forgetting,
    holding,
    importing,
    key,
    linking,
    listing,
    moving,
    principals,
    proposing,
    reconciling,
    recording,
    relating,
    remembering,
    running,
    space,
    talking,
    walking,
)
from concord_client.cli.failing import OUTPUT_FORSAKEN, complaint, forsaken, told
from concord_client.cli.session import Globals, JsonOption, SpaceOption


class Commands(TyperGroup):
    """Ends a command that was refused or failed with its reason and exit status 1."""

    def invoke(self, ctx: Any) -> Any:  # the types are of typer's private copy of click
        """Runs the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            forsaken()
            raise typer.Exit(OUTPUT_FORSAKEN) from error
        except told() as error:
            typer.echo(complaint(error), err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"concord {metadata.version('concord-client')}")
        raise typer.Exit


@app.callback()
def concord(
    ctx: typer.Context,
    space: SpaceOption = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Data directory of `concord up`, instead of CONCORD_URL, CONCORD_API_KEY "
            "and CONCORD_DATA.",
            show_default="CONCORD_DATA, else ~/.local/share/concord",
        ),
    ] = None,
    as_json: JsonOption = False,
    version: Annotated[  # noqa: ARG001 - its callback has answered already
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Remember, link, search, and see why: governed, time-aware memory for AI agents."""
    ctx.obj = Globals(space=space, data=data, as_json=as_json)


app.command("up")(running.up)
app.command("status")(running.status)
app.command("reconcile")(reconciling.reconcile)
app.command("add")(remembering.add)
app.command("get")(remembering.get)
app.command("list")(listing.list_)
app.command("update")(changing.update)
app.command("forget")(forgetting.forget)
app.command("restore")(forgetting.restore)
app.command("delete")(forgetting.delete)
app.command("link")(linking.link)
app.command("import")(importing.import_)
app.command("search")(finding.search)
app.command("neighbors")(walking.neighbors)
app.command("path")(walking.path)
app.command("lineage")(linking.lineage)
app.command("relation")(relating.relation)
app.command("relations")(relating.relations)
app.command("say")(talking.say)
app.command("dialogue")(talking.dialogue)
app.command("episode")(experiencing.episode)
app.command("episodes")(experiencing.episodes)
app.command("hold")(holding.hold)
app.command("working")(holding.working)
app.command("history")(erasing.history)
app.command("erase")(erasing.erase)
app.command("receipt")(erasing.receipt)
app.command("operations")(recording.operations)
app.command("export")(exporting.export)
app.command("import-space")(moving.import_space)
app.add_typer(principals.app, name="principal")
app.add_typer(proposing.app, name="propose")
app.command("proposals")(deciding.proposals)
app.command("review")(deciding.review)
app.command("approve")(deciding.approve)
app.command("reject")(deciding.reject)
app.command("withdraw")(deciding.withdraw)
app.command("revoke")(deciding.revoke)
app.command("undo")(deciding.undo)
app.command("briefing")(deciding.briefing)
app.add_typer(auditing.app, name="audit")
app.add_typer(space.app, name="space")
app.add_typer(key.app, name="key")
app.command("demo")(demonstration.demo)
