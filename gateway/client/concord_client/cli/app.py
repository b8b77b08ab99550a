"""The list of commands, with the global options, error reports and exit statuses of all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from concord_attestation.identifiers import full_ids
from typer.core import TyperGroup

from concord_client.cli.commands.agents import hook, mcp
from concord_client.cli.commands.dissonance import (
    check,
    check_settings,
    conflicts,
    resolve,
    review_answer,
    review_conflict,
    synthesize,
)
from concord_client.cli.commands.governance import (
    approve,
    audit,
    claims,
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
    extract,
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
from concord_client.cli.commands.system import backup, demo, doctor, page, reconcile, reindex, up
from concord_client.cli.errors import (
    BROKEN_PIPE,
    discard_output,
    error_report,
    reported_errors,
)
from concord_client.cli.help_pages import make_options_readable, make_readable, panel_examples
from concord_client.cli.session import Globals, JsonOption, Party, SessionCommands, SpaceOption
from concord_client.credentials import ACT_AS_VARIABLE


class Commands(TyperGroup):
    """Reports the reason of a refused or failed command, and exits with status 1."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # as below
        """Returns the command with this name, after `make_readable`."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            make_readable(ctx, found, cmd_name)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> Any:  # as below
        """Reads the arguments, with the ids in full that the tools for agents give in short."""
        return super().parse_args(ctx, [full_ids(each) for each in args])

    def format_help(self, ctx: Any, formatter: Any) -> None:  # as above
        """Writes the help of `concord` itself."""
        make_options_readable(ctx, self)
        super().format_help(ctx, formatter)

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


app = SessionCommands(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    epilog=panel_examples(),
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
    *,
    as_json: JsonOption = False,
    act_as: Annotated[
        Party,
        typer.Option(
            "--act-as",
            envvar=ACT_AS_VARIABLE,
            help="Whose key of credentials.json to present: the owner's, or the agent's.",
        ),
    ] = Party.OWNER,
    version: Annotated[  # noqa: ARG001 - its callback has answered already
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Remember, link, search, and see why: governed, time-aware memory for AI agents."""
    ctx.obj = Globals(space=space, data=data, as_json=as_json, act_as=act_as)


_COMMANDS: Mapping[str, Mapping[str, Callable[..., None] | typer.Typer]] = {
    "Everyday": {
        "add": add.add,
        "search": search.search,
        "get": get.get,
        "list": list_.list_,
        "update": update.update,
        "forget": forget.forget,
        "restore": forget.restore,
        "import": import_.import_,
        "extract": extract.extract,
        "integrative": integrative.integrative,
        "suggest": suggest.suggest,
        "say": dialogue.say,
        "dialogue": dialogue.dialogue,
        "session": session.app,
        "episode": episode.episode,
        "episodes": episode.episodes,
        "hold": working.hold,
        "working": working.working,
        "feedback": feedback.feedback,
        "briefing": proposals.briefing,
        "demo": demo.demo,
    },
    "Graph": {
        "link": link.link,
        "neighbors": neighbors.neighbors,
        "path": neighbors.path,
        "follow": follow.follow,
        "relation": relation.relation,
        "relations": relation.relations,
        "delete": delete.delete,
    },
    "Lineage and conflicts": {
        "lineage": lineage.lineage,
        "history": erase.history,
        "check": check.check,
        "check-settings": check_settings.check_settings,
        "conflicts": conflicts.conflicts,
        "conflict": conflicts.conflict,
        "claims": claims.claims,
        "claim": claims.app,
        "confirm": review_conflict.confirm,
        "dismiss": review_conflict.dismiss,
        "except": review_conflict.except_,
        "reclassify": review_conflict.reclassify,
        "reopen": review_conflict.reopen,
        "resolve": resolve.resolve,
        "synthesize": synthesize.synthesize,
        "review-answer": review_answer.review_answer,
        "health": health.health,
    },
    "Governance": {
        "propose": propose.app,
        "proposals": proposals.proposals,
        "review": review.review,
        "approve": approve.approve,
        "reject": approve.reject,
        "withdraw": approve.withdraw,
        "revoke": approve.revoke,
        "undo": approve.undo,
        "principal": principal.app,
        "audit": audit.app,
    },
    "Operation": {
        "up": up.up,
        "status": up.status,
        "page": page.page,
        "doctor": doctor.doctor,
        "backup": backup.app,
        "mcp": mcp.app,
        "hook": hook.app,
        "key": key.app,
        "space": space.app,
        "export": export.export,
        "import-space": import_space.import_space,
        "erase": erase.erase,
        "receipt": erase.receipt,
        "operations": operations.operations,
        "recall": recall.app,
        "reconcile": reconcile.reconcile,
        "reindex": reindex.reindex,
        "parked": reindex.parked,
        "calibrate": feedback.calibrate,
    },
}
"""The commands by their groups, in the order in which `concord --help` shows them."""

for _group, _each in _COMMANDS.items():
    for _name, _command in _each.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_group)
        else:
            app.command(_name, rich_help_panel=_group)(_command)
