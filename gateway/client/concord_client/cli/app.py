"""The list of commands; the global options, failures and exit statuses that all of them share."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from concord_client.cli.commands.agents import mcp
from concord_client.cli.commands.dissonance import (
    check,
    conflicts,
    resolve,
    review_conflict,
    synthesize,
)
from concord_client.cli.commands.governance import (
    approve,
    audit,
    principal,
    proposals,
    propose,
    review,
)
from concord_client.cli.commands.graph import delete, follow, neighbors, relation
from concord_client.cli.commands.memories import (
    add,
    dialogue,
    episode,
    erase,
    feedback,
    forget,
    get,
    health,
    integrative,
    lineage,
    link,
    list_,
    recall,
    search,
    session,
    suggest,
    update,
    working,
)
from concord_client.cli.commands.spaces import export, import_, import_space, key, operations, space
from concord_client.cli.commands.system import demo, reconcile, reindex, up
from concord_client.cli.errors import BROKEN_PIPE, discard_output, error_report, reported_errors
from concord_client.cli.session import Globals, JsonOption, SpaceOption


class Commands(TyperGroup):
    """Ends a command that was refused or failed with its reason and exit status 1."""

    def invoke(self, ctx: Any) -> Any:  # the types are of typer's private copy of click
        """Runs the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            discard_output()
            raise typer.Exit(BROKEN_PIPE) from error
        except reported_errors() as error:
            typer.echo(error_report(error), err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


def _show_version(asked: bool) -> None:
    if asked:
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


app.command("up")(up.up)
app.command("status")(up.status)
app.command("reconcile")(reconcile.reconcile)
app.command("reindex")(reindex.reindex)
app.command("parked")(reindex.parked)
app.command("add")(add.add)
app.command("get")(get.get)
app.command("list")(list_.list_)
app.command("update")(update.update)
app.command("forget")(forget.forget)
app.command("restore")(forget.restore)
app.command("delete")(delete.delete)
app.command("link")(link.link)
app.command("import")(import_.import_)
app.command("search")(search.search)
app.command("integrative")(integrative.integrative)
app.command("health")(health.health)
app.command("suggest")(suggest.suggest)
app.command("feedback")(feedback.feedback)
app.command("calibrate")(feedback.calibrate)
app.command("neighbors")(neighbors.neighbors)
app.command("path")(neighbors.path)
app.command("follow")(follow.follow)
app.command("lineage")(lineage.lineage)
app.command("relation")(relation.relation)
app.command("relations")(relation.relations)
app.command("say")(dialogue.say)
app.command("dialogue")(dialogue.dialogue)
app.command("episode")(episode.episode)
app.command("episodes")(episode.episodes)
app.add_typer(session.app, name="session")
app.add_typer(recall.app, name="recall")
app.command("hold")(working.hold)
app.command("working")(working.working)
app.command("history")(erase.history)
app.command("erase")(erase.erase)
app.command("receipt")(erase.receipt)
app.command("operations")(operations.operations)
app.command("export")(export.export)
app.command("import-space")(import_space.import_space)
app.command("check")(check.check)
app.command("conflicts")(conflicts.conflicts)
app.command("conflict")(conflicts.conflict)
app.command("confirm")(review_conflict.confirm)
app.command("dismiss")(review_conflict.dismiss)
app.command("except")(review_conflict.except_)
app.command("reclassify")(review_conflict.reclassify)
app.command("reopen")(review_conflict.reopen)
app.command("resolve")(resolve.resolve)
app.command("synthesize")(synthesize.synthesize)
app.add_typer(principal.app, name="principal")
app.add_typer(propose.app, name="propose")
app.command("proposals")(proposals.proposals)
app.command("review")(review.review)
app.command("approve")(approve.approve)
app.command("reject")(approve.reject)
app.command("withdraw")(approve.withdraw)
app.command("revoke")(approve.revoke)
app.command("undo")(approve.undo)
app.command("briefing")(proposals.briefing)
app.add_typer(audit.app, name="audit")
app.add_typer(space.app, name="space")
app.add_typer(key.app, name="key")
app.add_typer(mcp.app, name="mcp")
app.command("demo")(demo.demo)
