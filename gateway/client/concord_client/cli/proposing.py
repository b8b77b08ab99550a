"""`concord propose`: changes that wait for consent."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from concord_client.cli.choices import instant
from concord_client.cli.desk import Desk, desk
from concord_client.cli.ends import END_HELP, item_id
from concord_client.cli.failing import CommandError
from concord_client.cli.options import KindOption, ValidFromOption, ValidUntilOption
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from concord.graph.v1.governed_pb2 import GovernedAction
    from concord.type.v1 import type_pb2

    from concord_client.client import Client

Make = Callable[["Client"], "GovernedAction"]

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
ItemArgument = Annotated[str, typer.Argument(metavar="ID")]


def salt() -> str:
    """An action's own request id: random, since it salts the digests that outlive it."""
    return secrets.token_urlsafe(24)


@app.callback()
def propose(
    ctx: typer.Context,
    action: Annotated[
        Path | None,
        typer.Option(help="A GovernedAction as protobuf JSON, in place of a command.", exists=True),
    ] = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Propose a change. Nothing happens before whoever must agree has signed it."""
    if ctx.invoked_subcommand is not None:
        if action or space or as_json:
            raise typer.BadParameter("options stand after the command's name.")
        return
    if action is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)
    _propose(ctx, space, as_json, lambda _: _from_file(action))


@app.command("set")
def set_(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(help=f"{END_HELP} A new name makes a node.")],
    relation: Annotated[str, typer.Argument(help='E.g. "VALUES".')],
    target: Annotated[str, typer.Argument(help=f"{END_HELP} A new name makes a node.")],
    *,
    constitutive: ConstitutiveOption = False,
    weight: WeightOption = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    prop: PropertyOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """An edge: make it, or say more about the one of this triple."""
    from concord.graph.v1 import governed_pb2, graph_pb2
    from concord.type.v1 import type_pb2

    from concord_client.cli.ends import edge_end
    from concord_client.cli.linking import properties

    edge = type_pb2.Edge(
        source=edge_end(source),
        relation=relation,
        target=edge_end(target),
        weight=weight,
        properties=properties(prop),
        valid_from=instant(valid_from),
        valid_until=instant(valid_until),
        edge_type=_edge_type(constitutive),
    )
    request = graph_pb2.UpsertEdgeRequest(request_id=salt(), edge=edge)
    _propose(ctx, space, as_json, lambda _: governed_pb2.GovernedAction(upsert_edge=request))


@app.command("change")
def change(
    ctx: typer.Context,
    item: ItemArgument,
    *,
    weight: WeightOption = None,
    prop: PropertyOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """An edge's weight or properties."""
    from concord.graph.v1 import governed_pb2, graph_pb2
    from concord.type.v1 import type_pb2
    from google.protobuf.field_mask_pb2 import FieldMask

    from concord_client.cli.linking import properties

    changed = {
        name: value
        for name, value in (("weight", weight), ("properties", properties(prop)))
        if value is not None
    }
    if not changed:
        raise typer.BadParameter("say what changes: --weight or --property.")

    def make(client: "Client") -> "GovernedAction":
        edge = type_pb2.Edge(id=_id(item), etag=_edge(client, _id(item)).etag, **changed)  # type: ignore[arg-type] # by name
        request = graph_pb2.UpdateEdgeRequest(
            request_id=salt(), edge=edge, update_mask=FieldMask(paths=list(changed))
        )
        return governed_pb2.GovernedAction(update_edge=request)

    _propose(ctx, space, as_json, make)


@app.command("delete")
def delete(
    ctx: typer.Context, item: ItemArgument, space: SpaceOption = None, as_json: JsonOption = False
) -> None:
    """An edge, to be deleted."""
    from concord.graph.v1 import governed_pb2, graph_pb2

    def make(client: "Client") -> "GovernedAction":
        etag = _edge(client, _id(item)).etag
        request = graph_pb2.DeleteEdgeRequest(request_id=salt(), id=_id(item), etag=etag)
        return governed_pb2.GovernedAction(delete_edge=request)

    _propose(ctx, space, as_json, make)


@app.command("add")
def add(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What to remember.")],
    *,
    own_id: Annotated[str, typer.Option("--id", help="Your own id for it.")] = "",
    kind: KindOption = None,
    constitutive: ConstitutiveOption = False,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """A new memory."""
    from concord.graph.v1 import governed_pb2, memory_pb2
    from concord.type.v1 import type_pb2

    memory = type_pb2.Memory(
        id=own_id,
        content=text,
        kind=kind.value_of() if kind else type_pb2.MEMORY_KIND_UNSPECIFIED,
        edge_type=_edge_type(constitutive),
    )
    request = memory_pb2.AddMemoryRequest(request_id=salt(), memory=memory)
    _propose(ctx, space, as_json, lambda _: governed_pb2.GovernedAction(add_memory=request))


@app.command("update")
def update(
    ctx: typer.Context,
    item: ItemArgument,
    text: Annotated[str, typer.Argument(help="What it says from then on.")],
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """What a memory says."""
    _propose(
        ctx, space, as_json, lambda client: _memory_update(client, item, "content", content=text)
    )


@app.command("forget")
def forget(
    ctx: typer.Context, item: ItemArgument, space: SpaceOption = None, as_json: JsonOption = False
) -> None:
    """A memory, to be forgotten."""
    from concord.graph.v1 import governed_pb2, memory_pb2

    def make(client: "Client") -> "GovernedAction":
        etag = _memory(client, _id(item)).etag
        request = memory_pb2.ForgetMemoryRequest(request_id=salt(), id=_id(item), etag=etag)
        return governed_pb2.GovernedAction(forget_memory=request)

    _propose(ctx, space, as_json, make)


@app.command("restore")
def restore(
    ctx: typer.Context, item: ItemArgument, space: SpaceOption = None, as_json: JsonOption = False
) -> None:
    """A forgotten memory, to come back."""
    from concord.graph.v1 import governed_pb2, memory_pb2

    def make(client: "Client") -> "GovernedAction":
        etag = _memory(client, _id(item)).etag
        request = memory_pb2.RestoreMemoryRequest(request_id=salt(), id=_id(item), etag=etag)
        return governed_pb2.GovernedAction(restore_memory=request)

    _propose(ctx, space, as_json, make)


@app.command("promote")
def promote(
    ctx: typer.Context, item: ItemArgument, space: SpaceOption = None, as_json: JsonOption = False
) -> None:
    """A memory or edge, to define the agent."""
    _propose(ctx, space, as_json, lambda client: _retyped(client, item, constitutive=True))


@app.command("demote")
def demote(
    ctx: typer.Context, item: ItemArgument, space: SpaceOption = None, as_json: JsonOption = False
) -> None:
    """A memory or edge, to define the agent no longer."""
    _propose(ctx, space, as_json, lambda client: _retyped(client, item, constitutive=False))


@app.command("link")
def link(
    ctx: typer.Context,
    newer: Annotated[str, typer.Argument(help="memory:ID or edge:ID.")],
    relation: Annotated[str, typer.Argument(help="SUPERSEDES, DEPRECATES, AMENDS or CONTRADICTS.")],
    older: Annotated[str, typer.Argument(help="memory:ID or edge:ID.")],
    *,
    context: Annotated[str, typer.Option(help="Why.")] = "",
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lineage between two memories or two edges."""
    from concord.graph.v1 import governed_pb2

    from concord_client.cli.linking import LINEAGE, lineage_request

    if relation.upper() not in LINEAGE:
        raise typer.BadParameter(f"{relation!r} is none of {', '.join(LINEAGE)}.")
    request = lineage_request(newer, relation.upper(), older, context)
    request.request_id = salt()
    _propose(ctx, space, as_json, lambda _: governed_pb2.GovernedAction(add_lineage=request))


def put_forward(at: Desk, action: "GovernedAction") -> None:
    """Makes the proposal and tells it."""
    from concord.governance.v1.proposal_pb2 import CreateProposalRequest

    from concord_client.cli.proposal_page import tell

    reply = at.client.proposals.CreateProposal(CreateProposalRequest(action=action))
    tell(at.session, reply, reply.proposal)


def _propose(ctx: typer.Context, space: str | None, as_json: bool, make: Make) -> None:
    with desk(Session.of(ctx, space, as_json)) as at:
        put_forward(at, make(at.client))


def _from_file(path: Path) -> "GovernedAction":
    from concord.graph.v1.governed_pb2 import GovernedAction
    from google.protobuf.json_format import Parse, ParseError

    try:
        action = Parse(path.read_text("utf-8"), GovernedAction())
    except (OSError, UnicodeDecodeError, ParseError) as error:
        raise CommandError(f"{path} is no GovernedAction: {error}.") from None
    chosen = action.WhichOneof("action")
    if chosen is not None and not getattr(action, chosen).request_id:
        getattr(action, chosen).request_id = salt()
    return action


def _retyped(client: "Client", item: str, *, constitutive: bool) -> "GovernedAction":
    from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
    from concord.type.v1 import type_pb2
    from google.protobuf.field_mask_pb2 import FieldMask

    found = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=_id(item), peek=True))
    wanted = type_pb2.EDGE_TYPE_CONSTITUTIVE if constitutive else type_pb2.EDGE_TYPE_DESCRIPTIVE
    if found.status == type_pb2.LOOKUP_STATUS_FOUND:
        return _memory_update(client, item, "edge_type", edge_type=wanted)
    edge = type_pb2.Edge(id=_id(item), etag=_edge(client, _id(item)).etag, edge_type=wanted)
    request = graph_pb2.UpdateEdgeRequest(
        request_id=salt(), edge=edge, update_mask=FieldMask(paths=["edge_type"])
    )
    return governed_pb2.GovernedAction(update_edge=request)


def _memory_update(client: "Client", item: str, path: str, **fields: object) -> "GovernedAction":
    from concord.graph.v1 import governed_pb2, memory_pb2
    from concord.type.v1 import type_pb2
    from google.protobuf.field_mask_pb2 import FieldMask

    etag = _memory(client, _id(item)).etag
    memory = type_pb2.Memory(id=_id(item), etag=etag, **fields)  # type: ignore[arg-type] # by name
    request = memory_pb2.UpdateMemoryRequest(
        request_id=salt(), memory=memory, update_mask=FieldMask(paths=[path])
    )
    return governed_pb2.GovernedAction(update_memory=request)


def _memory(client: "Client", memory_id: str) -> "type_pb2.Memory":
    from concord.graph.v1.memory_pb2 import GetMemoryRequest

    reply = client.memory.GetMemory(GetMemoryRequest(id=memory_id, peek=True))
    return reply.memory if reply.memory.id else _absent("memory", memory_id)


def _edge(client: "Client", edge_id: str) -> "type_pb2.Edge":
    from concord.graph.v1.graph_pb2 import GetEdgeRequest

    reply = client.graph.GetEdge(GetEdgeRequest(id=edge_id, peek=True))
    return reply.edge if reply.edge.id else _absent("edge", edge_id)


def _absent(what: str, item: str) -> NoReturn:
    raise CommandError(f"There is no {what} {item!r}.", reason="LOOKUP_STATUS_NOT_FOUND")


def _id(item: str) -> str:
    return item_id(item) or item


def _edge_type(constitutive: bool) -> "type_pb2.EdgeType.ValueType":
    from concord.type.v1 import type_pb2

    return type_pb2.EDGE_TYPE_CONSTITUTIVE if constitutive else type_pb2.EDGE_TYPE_DESCRIPTIVE
