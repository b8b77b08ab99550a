"""`concord propose`: changes that wait for consent."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.action_file import EPILOG, read, salt
from concord_client.cli.governance.actions import (
    edge_now,
    edge_type_of,
    memory_now,
    memory_update,
    put_forward,
    retyped,
)
from concord_client.cli.governance.session import governance_session
from concord_client.cli.items import absent, found_item
from concord_client.cli.options import KindOption, ValidFromOption, ValidUntilOption
from concord_client.cli.session import JsonOption, Session, SpaceOption, with_options
from concord_client.cli.values import (
    END_HELP,
    LINEAGE,
    edge_end,
    instant,
    lineage_request,
    plain_id,
    properties,
)

if TYPE_CHECKING:
    from concord.graph.v1.governed_pb2 import GovernedAction

    from concord_client.cli.governance.session import GovernanceSession

Make = Callable[["GovernanceSession"], "GovernedAction"]
"""Makes an action on the items as they stand when it is called."""

app = typer.Typer(
    invoke_without_command=True,
    help="Propose a change. Nothing happens before whoever must agree has signed it.",
)

ConstitutiveOption = Annotated[
    bool, typer.Option("--constitutive", help="It defines the agent: both must agree.")
]
WeightOption = Annotated[
    float | None, typer.Option(min=0.0, max=1.0, help="Strength.", show_default="1")
]
PropertyOption = Annotated[
    list[str] | None,
    typer.Option("--property", metavar="NAME=VALUE", help="VALUE is JSON, else text."),
]
ItemArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the item.")]
NoteOption = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        help="What you add, up to 500 characters; shown last, quoted, as yours.",
    ),
]


@app.callback(epilog=EPILOG)
def propose(
    ctx: typer.Context,
    action: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="In place of a command: an action as protobuf JSON, as described below.",
            exists=True,
        ),
    ] = None,
    space: SpaceOption = None,
    note: NoteOption = "",
    as_json: JsonOption = False,
) -> None:
    """Propose a change. Nothing happens before whoever must agree has signed it."""
    if ctx.invoked_subcommand is not None:
        if action or space or note or as_json:
            raise typer.BadParameter("options stand after the command's name.")
        return
    if action is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)
    _propose(Session.of(ctx, space, as_json), note, lambda _: read(action))


def _propose(session: Session, note: str, make: Make) -> None:
    with governance_session(session) as governance:
        put_forward(governance, make(governance), note)


def _proposes(name: str) -> Callable[[Callable[..., Make]], Callable[..., Make]]:
    """Registers a command that makes an action, which is proposed with the note beside it."""

    def registered(command: Callable[..., Make]) -> Callable[..., Make]:
        def run(
            ctx: typer.Context,
            *,
            space: SpaceOption = None,
            note: NoteOption = "",
            as_json: JsonOption = False,
            **given: Any,
        ) -> None:
            _propose(Session.of(ctx, space, as_json), note, command(**given))

        options = inspect.signature(command).parameters.values()
        app.command(name)(with_options(run, command, options))
        return command

    return registered


@_proposes("set")
def set_(
    source: Annotated[str, typer.Argument(help=f"{END_HELP} A new name makes a node.")],
    relation: Annotated[str, typer.Argument(help='E.g. "VALUES".')],
    target: Annotated[str, typer.Argument(help=f"{END_HELP} A new name makes a node.")],
    *,
    constitutive: ConstitutiveOption = False,
    weight: WeightOption = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    prop: PropertyOption = None,
) -> Make:
    """An edge: make it, or say more about the one of this triple."""
    from concord.graph.v1 import governed_pb2, graph_pb2

    edge = type_pb2.Edge(
        source=edge_end(source),
        relation=relation,
        target=edge_end(target),
        weight=weight,
        properties=properties(prop),
        valid_from=instant(valid_from),
        valid_until=instant(valid_until),
        edge_type=edge_type_of(constitutive),
    )
    request = graph_pb2.UpsertEdgeRequest(request_id=salt(), edge=edge)
    return lambda _: governed_pb2.GovernedAction(upsert_edge=request)


@_proposes("change")
def change(item: ItemArgument, *, weight: WeightOption = None, prop: PropertyOption = None) -> Make:
    """An edge's weight or properties."""
    from concord.graph.v1 import governed_pb2, graph_pb2

    changed = {
        name: value
        for name, value in (("weight", weight), ("properties", properties(prop)))
        if value is not None
    }
    if not changed:
        raise typer.BadParameter("say what changes: --weight or --property.")

    def make(governance: "GovernanceSession") -> "GovernedAction":
        etag = edge_now(governance.client, plain_id(item)).etag
        edge = type_pb2.Edge(id=plain_id(item), etag=etag, **changed)  # type: ignore[arg-type] # by name
        request = graph_pb2.UpdateEdgeRequest(
            request_id=salt(), edge=edge, update_mask=FieldMask(paths=list(changed))
        )
        return governed_pb2.GovernedAction(update_edge=request)

    return make


@_proposes("delete")
def delete(
    item: Annotated[str, typer.Argument(metavar="ID", help="An edge's or node's, or a name.")],
    *,
    cascade: Annotated[bool, typer.Option("--cascade", help="A node's edges go with it.")] = False,
) -> Make:
    """An edge or a node, to be deleted."""
    from concord.graph.v1 import governed_pb2, graph_pb2

    def make(governance: "GovernanceSession") -> "GovernedAction":
        found = found_item(governance.client, governance.session, item)
        named = {"request_id": salt(), "id": found.id, "etag": found.etag}
        if isinstance(found, type_pb2.Memory):
            raise CommandError(f"{found.id} is a memory: concord propose forget, or erase.")
        if isinstance(found, type_pb2.Edge):
            return governed_pb2.GovernedAction(delete_edge=graph_pb2.DeleteEdgeRequest(**named))
        request = graph_pb2.DeleteNodeRequest(**named, cascade=cascade)
        return governed_pb2.GovernedAction(delete_node=request)

    return make


@_proposes("rename")
def rename(
    node: Annotated[str, typer.Argument(metavar="NODE", help="Its id or its name.")],
    name: Annotated[str, typer.Argument(help="Its name from then on.")],
) -> Make:
    """A node that what defines the agent ends at."""
    from concord.graph.v1 import governed_pb2, graph_pb2

    def make(governance: "GovernanceSession") -> "GovernedAction":
        found = found_item(governance.client, governance.session, node)
        if not isinstance(found, type_pb2.Node):
            raise absent(governance.session, node, what="node")
        request = graph_pb2.UpdateNodeRequest(
            request_id=salt(),
            node=type_pb2.Node(id=found.id, etag=found.etag, name=name),
            update_mask=FieldMask(paths=["name"]),
        )
        return governed_pb2.GovernedAction(update_node=request)

    return make


@_proposes("add")
def add(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    *,
    own_id: Annotated[str, typer.Option("--id", help="Your own id for it.")] = "",
    kind: KindOption = None,
    constitutive: ConstitutiveOption = False,
) -> Make:
    """A new memory."""
    from concord.graph.v1 import governed_pb2, memory_pb2

    memory = type_pb2.Memory(
        id=own_id,
        content=text,
        kind=kind.value_of() if kind else type_pb2.MEMORY_KIND_UNSPECIFIED,
        edge_type=edge_type_of(constitutive),
    )
    request = memory_pb2.AddMemoryRequest(request_id=salt(), memory=memory)
    return lambda _: governed_pb2.GovernedAction(add_memory=request)


@_proposes("update")
def update(
    item: ItemArgument,
    text: Annotated[str, typer.Argument(help="What it says from then on.")],
) -> Make:
    """What a memory says."""
    return lambda governance: memory_update(governance.client, item, "content", content=text)


@_proposes("forget")
def forget(item: ItemArgument) -> Make:
    """A memory, to be forgotten."""
    return _of_memory("forget_memory", item)


@_proposes("erase")
def erase(
    item: ItemArgument,
    *,
    reason: Annotated[str, typer.Option(help="Why; kept in the receipt.")] = "",
) -> Make:
    """A memory, to be taken out for good: every version, in every store. Nothing undoes it."""
    return _of_memory("erase_memory", item, reason=reason)


@_proposes("restore")
def restore(item: ItemArgument) -> Make:
    """A forgotten memory, to come back."""
    return _of_memory("restore_memory", item)


@_proposes("promote")
def promote(item: ItemArgument) -> Make:
    """A memory or edge, to define the agent."""
    return lambda governance: retyped(governance.client, item, constitutive=True)


@_proposes("demote")
def demote(item: ItemArgument) -> Make:
    """A memory or edge, to define the agent no longer."""
    return lambda governance: retyped(governance.client, item, constitutive=False)


@_proposes("link")
def link(
    newer: Annotated[str, typer.Argument(help="memory:ID or edge:ID.")],
    relation: Annotated[str, typer.Argument(help="SUPERSEDES, DEPRECATES, AMENDS or CONTRADICTS.")],
    older: Annotated[str, typer.Argument(help="memory:ID or edge:ID.")],
    *,
    context: Annotated[str, typer.Option(help="Why.")] = "",
) -> Make:
    """Lineage between two memories or two edges."""
    from concord.graph.v1 import governed_pb2

    if relation.upper() not in LINEAGE:
        raise typer.BadParameter(f"{relation!r} is none of {', '.join(LINEAGE)}.")
    request = lineage_request(newer, relation.upper(), older, context)
    request.request_id = salt()
    return lambda _: governed_pb2.GovernedAction(add_lineage=request)


def _of_memory(action: str, item: str, **more: str) -> Make:
    """The contract's action with this name on the present version of a memory."""
    from concord.graph.v1.governed_pb2 import GovernedAction

    def make(governance: "GovernanceSession") -> "GovernedAction":
        memory = memory_now(governance.client, plain_id(item))
        request = {"request_id": salt(), "id": memory.id, "etag": memory.etag, **more}
        return GovernedAction(**{action: request})  # type: ignore[arg-type] # by name

    return make
