"""`concord list`: memories, or nodes, or edges, page by page."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from concord.graph.v1.graph_pb2 import (
    ListEdgesRequest,
    ListEdgesResponse,
    ListNodesRequest,
    ListNodesResponse,
)
from concord.type.v1.type_pb2 import EDGE_TYPE_UNSPECIFIED

from concord_client.cli.choices import EdgeType, Importance, MemoryKind
from concord_client.cli.options import (
    AsOfOption,
    KnownAtOption,
    LimitOption,
    OriginOption,
    PageTokenOption,
    WordsOriginOption,
    WriterOption,
)
from concord_client.cli.render.health_page import note
from concord_client.cli.render.item_page import amended, statement
from concord_client.cli.render.page import shortened, show, show_more, table, text, when, word
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, properties

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import ListMemoriesRequest, ListMemoriesResponse

SHOWN_CHARACTERS = 160


def list_(
    session: Session,
    *,
    nodes: Annotated[bool, typer.Option("--nodes", help="Nodes, by name.")] = False,
    edges: Annotated[bool, typer.Option("--edges", help="Edges, the oldest first.")] = False,
    kind: Annotated[
        list[MemoryKind] | None, typer.Option(case_sensitive=False, help="Memories of this kind.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Memories with this tag.")] = None,
    domain: Annotated[str | None, typer.Option(help="Memories of this domain or below.")] = None,
    origin: OriginOption = None,
    words_of: WordsOriginOption = None,
    principal: WriterOption = "",
    session_id: Annotated[str | None, typer.Option("--session", help="Its memories.")] = None,
    everything: Annotated[
        bool | None,
        typer.Option(
            "--all/--current", help="Superseded memories too, marked so.", show_default="all"
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Nodes with this label.")] = None,
    relation: Annotated[list[str] | None, typer.Option(help="Edges of this relation.")] = None,
    importance: Annotated[
        list[Importance] | None,
        typer.Option(case_sensitive=False, help="Edges of this importance."),
    ] = None,
    prop: Annotated[
        list[str] | None,
        typer.Option(
            "--property", metavar="NAME=VALUE", help="Memories or edges with this property."
        ),
    ] = None,
    participant: Annotated[
        list[str] | None, typer.Option(help="Edges with this participant.")
    ] = None,
    edge_type: Annotated[
        EdgeType | None, typer.Option("--type", case_sensitive=False, help="Memories or edges.")
    ] = None,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """List memories, the newest first; with --nodes or --edges those. Nothing counts as read.

    Superseded memories are among them and marked so; --current leaves them out.
    """
    from concord.graph.v1 import graph_pb2, memory_pb2

    if nodes and edges:
        raise typer.BadParameter("--nodes and --edges exclude each other.")
    of_memories: dict[str, object] = {
        "--kind": kind,
        "--tag": tag,
        "--domain": domain,
        "--session": session_id,
    }
    of_memories |= {"--all or --current": everything is not None, "--origin": origin}
    of_memories |= {"--words-of": words_of, "--principal": principal}
    of_edges: dict[str, object] = {"--relation": relation, "--importance": importance}
    of_edges |= {"--participant": participant}
    of_both: dict[str, object] = {"--type": edge_type, "--property": prop}
    of_nodes: dict[str, object] = {"--label": label}
    page: dict[str, Any] = {"page_size": limit, "page_token": page_token}
    page["as_of"] = asked_time(as_of, known_at)
    if nodes:
        _demand_none(of_memories | of_edges | of_both, "nodes")
        _nodes(session, graph_pb2.ListNodesRequest(label=label or "", **page))
    elif edges:
        _demand_none(of_memories | of_nodes, "edges")
        of_these = graph_pb2.EdgeFilter(
            relations=relation,
            importances=[each.value_of() for each in importance or ()],
            properties=properties(prop),
            participants=participant,
            edge_types=[edge_type.value_of()] if edge_type else (),
        )
        _edges(session, graph_pb2.ListEdgesRequest(filter=of_these, **page))
    else:
        _demand_none(of_edges | of_nodes, "memories")
        chosen = memory_pb2.MemoryFilter(
            kinds=[each.value_of() for each in kind or ()],
            tag=tag or "",
            domain=domain or "",
            origins=[each.value_of() for each in origin or ()],
            words_origins=[each.value_of() for each in words_of or ()],
            principal=principal,
            session_id=session_id or "",
            properties=properties(prop),
            edge_type=edge_type.value_of() if edge_type else EDGE_TYPE_UNSPECIFIED,
        )
        _memories(
            session,
            memory_pb2.ListMemoriesRequest(
                filter=chosen, include_superseded=everything is not False, **page
            ),
        )


def _demand_none(options: Mapping[str, object], listed: str) -> None:
    """Refuse filters that are for other kinds of items, since none may be ignored silently."""
    given = [name for name, value in options.items() if value]
    if given:
        raise typer.BadParameter(f"{', '.join(given)}: no filter of {listed}.")


def _memories(session: Session, request: "ListMemoriesRequest") -> None:
    with session.client() as client:
        reply = client.memory.ListMemories(request)
    session.answer(reply, _show_memories)


def _nodes(session: Session, request: ListNodesRequest) -> None:
    with session.client() as client:
        reply = client.graph.ListNodes(request)
    session.answer(reply, _show_nodes)


def _edges(session: Session, request: ListEdgesRequest) -> None:
    with session.client() as client:
        reply = client.graph.ListEdges(request)
    session.answer(reply, _show_edges)


def _show_memories(reply: "ListMemoriesResponse") -> None:
    from concord.type.v1.type_pb2 import MemoryKind

    if not reply.memories:
        show("No memories.")
        return
    made = table("From", "Kind", "Memory")
    for each in reply.memories:
        head = text(each.id, "bold")
        if each.supersession.is_superseded:
            head.append("  (superseded)", "yellow")
        head.append(amended(each.supersession), "yellow")
        head.append(note(each.health), "yellow")
        made.add_row(
            when(each.supersession.effective_valid_from),
            word(MemoryKind, each.kind),
            head.append("\n").append(text(shortened(each.content, SHOWN_CHARACTERS))),
        )
    show(made)
    show_more(reply.next_page_token)


def _show_nodes(reply: ListNodesResponse) -> None:
    if not reply.nodes:
        show("No nodes.")
        return
    made = table("Label", "Node")
    for each in reply.nodes:
        made.add_row(text(each.label), text(each.name, "bold").append(f"\n{each.id}", "dim"))
    show(made)
    show_more(reply.next_page_token)


def _show_edges(reply: ListEdgesResponse) -> None:
    if not reply.edges:
        show("No edges.")
        return
    made = table("From", "Edge")
    for each in reply.edges:
        edge = text(statement(each), "bold")
        if each.supersession.is_superseded:
            edge.append("  (superseded)", "yellow")
        edge.append(amended(each.supersession), "yellow")
        made.add_row(
            when(each.supersession.effective_valid_from), edge.append(f"\n{each.id}", "dim")
        )
    show(made)
    show_more(reply.next_page_token)
