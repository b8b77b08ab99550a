"""`concord add` and `concord get`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.asked_time import AsOfOption, KnownAtOption, asked_time
from concord_client.cli.choices import instant
from concord_client.cli.naming import absent, plain_id
from concord_client.cli.options import (
    CategoryOption,
    DerivedFromOption,
    DomainOption,
    ExternalIdOption,
    ImportanceOption,
    KindOption,
    SpeakerOption,
    ValidFromOption,
    ValidUntilOption,
)
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import AddMemoryResponse
    from concord.type.v1.type_pb2 import AsOf, Fact, Source

    from concord_client.client import Client

STDIN = "-"


def add(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help='What to remember; "-" reads standard input.')],
    *,
    own_id: Annotated[
        str | None, typer.Option("--id", help="Your own id for it; links name it by that.")
    ] = None,
    kind: KindOption = None,
    domain: DomainOption = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")] = None,
    concept: Annotated[
        list[str] | None,
        typer.Option(help="What it is about; may be repeated. Else found in the text."),
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SUBJECT|RELATION|OBJECT", help="What it states, as an edge; may be repeated."
        ),
    ] = None,
    importance: ImportanceOption = None,
    supersedes: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It replaces this memory.")
    ] = None,
    deprecates: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It makes this memory obsolete.")
    ] = None,
    amends: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It corrects part of this memory.")
    ] = None,
    contradicts: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It cannot hold beside this memory.")
    ] = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    source: SpeakerOption = None,
    external_id: ExternalIdOption = None,
    category: CategoryOption = None,
    prop: Annotated[
        list[str] | None,
        typer.Option(
            "--property", metavar="NAME=VALUE", help="What else to keep with it; may be repeated."
        ),
    ] = None,
    derived_from: DerivedFromOption = None,
    session_id: Annotated[str | None, typer.Option("--session", help="Session id.")] = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a text."""
    from concord.graph.v1.memory_pb2 import AddMemoryRequest
    from concord.type.v1 import type_pb2

    from concord_client.cli.commands.link import properties
    from concord_client.freshness import settle

    links = {
        "Supersedes": supersedes,
        "Deprecates": deprecates,
        "Amends": amends,
        "Contradicts": contradicts,
    }
    memory = type_pb2.Memory(
        id=own_id or "",
        content=with_links(sys.stdin.read() if text == STDIN else text, links),
        kind=kind.value_of() if kind else type_pb2.MEMORY_KIND_UNSPECIFIED,
        domain=domain or "",
        tags=tag or (),
        concepts=concept or (),
        facts=[stated_fact(stated) for stated in fact or ()],
        importance=importance.value_of() if importance else type_pb2.IMPORTANCE_UNSPECIFIED,
        valid_from=instant(valid_from),
        valid_until=instant(valid_until),
        sources=stated_sources(source, derived_from),
        properties=properties(prop),
        external_id=external_id or "",
        category=category or "",
        session_id=session_id or "",
    )
    session = Session.of(ctx, space, as_json)
    with session.client() as client:
        reply = client.memory.AddMemory(AddMemoryRequest(memory=memory))
        settle(client, reply.token)
        if session.as_json:
            session.reply(reply)
        else:
            _tell_added(reply)
            _tell_ghosts(client, {target for each in links.values() for target in each or ()})


def _tell_ghosts(client: "Client", targets: set[str]) -> None:
    """Say which of the memories that were named are not there, such as a misspelt one."""
    from concord.graph.v1.memory_pb2 import GetMemoryRequest
    from concord.type.v1.type_pb2 import LOOKUP_STATUS_NOT_FOUND

    from concord_client.cli.render.page import show, text

    for target in sorted(targets):
        found = client.memory.GetMemory(GetMemoryRequest(id=target, peek=True))
        if found.status == LOOKUP_STATUS_NOT_FOUND:
            told = f"There is no memory {target} yet: the link waits for one of this id."
            show(text(told, "yellow"))


def stated_sources(speaker: str | None, derived_from: list[str] | None) -> "list[Source]":
    """The one source that the command line names, if any."""
    from concord.type.v1.type_pb2 import Source

    if not speaker and not derived_from:
        return []
    return [Source(speaker=speaker or "", memory_ids=map(plain_id, derived_from or ()))]


def stated_fact(stated: str) -> "Fact":
    """A fact as it is written on the command line."""
    from concord_client.facts import fact_of

    try:
        return fact_of(stated)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fact") from error


def with_links(content: str, links: dict[str, list[str] | None]) -> str:
    """The content with its lineage as links, which the graph writes in the same transaction.

    They stand below it; above where a code fence or comment could hide them.
    """
    written = [
        f"{relation}: {', '.join(f'[[memory:{target}]]' for target in targets)}"
        for relation, targets in links.items()
        if targets
    ]
    content = content.rstrip("\n")
    if not written:
        return content
    above = any(mark in content for mark in ("```", "~~~", "<!--"))
    lines = "\n".join(written)
    return f"{lines}\n\n{content}" if above else f"{content}\n\n{lines}"


def _tell_added(reply: "AddMemoryResponse") -> None:
    from concord_client.cli.render.page import show, text

    line = text("Remembered " if reply.created else "Known already: ")
    show(line.append(reply.memory.id, "bold"))
    if reply.memory.standing.is_superseded:
        show(text(f"It is superseded by {', '.join(reply.memory.standing.head_ids)}.", "yellow"))


def get(
    ctx: typer.Context,
    item: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's, node's or edge's id, or a node's name.")
    ],
    *,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one item: a memory, else a node or an edge."""
    session = Session.of(ctx, space, as_json)
    at = asked_time(as_of, known_at)
    with session.client() as client:
        near = _look_up(client, session, item, at)
    if near is not None:
        alike = f" Spelt alike: {', '.join(near)}." if near else ""
        raise absent(session, item, more=alike, at=at)


def _look_up(client: "Client", session: Session, item: str, at: "AsOf | None") -> list[str] | None:
    """Shows the first of the things that `item` may name; else the names that are spelt alike."""
    from concord.graph.v1 import graph_pb2, memory_pb2
    from concord.type.v1.type_pb2 import LOOKUP_STATUS_ERASED, LOOKUP_STATUS_FOUND

    from concord_client.cli.render import item_page
    from concord_client.cli.render.page import show

    own_id = plain_id(item)
    memory = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=own_id, as_of=at))
    if memory.status in {LOOKUP_STATUS_FOUND, LOOKUP_STATUS_ERASED}:
        session.reply(memory) if session.as_json else show(*item_page.of_memory(memory.memory))
        return None
    near = list(memory.near_names)
    for named in (
        graph_pb2.GetNodeRequest(id=own_id, as_of=at),
        graph_pb2.GetNodeRequest(name=item, as_of=at),
    ):
        node = client.graph.GetNode(named)
        near += node.near_names
        if node.status == LOOKUP_STATUS_FOUND:
            session.reply(node) if session.as_json else show(*item_page.of_node(node.node))
            return None
    edge = client.graph.GetEdge(graph_pb2.GetEdgeRequest(id=own_id, as_of=at))
    if edge.status == LOOKUP_STATUS_FOUND:
        session.reply(edge) if session.as_json else show(*item_page.of_edge(edge.edge))
        return None
    if session.as_json:
        session.reply(memory)
    return [name for name in dict.fromkeys(near) if name != own_id]  # itself, at another time
