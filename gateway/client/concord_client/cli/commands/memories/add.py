"""`concord add`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1 import type_pb2
from concord.type.v1.type_pb2 import LOOKUP_STATUS_NOT_FOUND

from concord_client.cli.amendments import show_amendments
from concord_client.cli.options import (
    CategoryOption,
    DerivedFromOption,
    DomainOption,
    ExternalIdOption,
    ImportanceOption,
    KindOption,
    SpeakerOption,
    SurfacesWhenOption,
    ValidFromOption,
    ValidUntilOption,
)
from concord_client.cli.render.claim_page import show_claims
from concord_client.cli.render.extraction import show_outcome
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.session import Session
from concord_client.cli.values import (
    STDIN,
    instant,
    properties,
    read_stdin,
    stated_fact,
    stated_sources,
)
from concord_client.facts import said_in, take_facts
from concord_client.links import with_links

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import AddMemoryResponse

    from concord_client.client import Client


def add(
    session: Session,
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
    surfaces_when: SurfacesWhenOption = None,
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
    extract: Annotated[
        bool, typer.Option("--extract", help="It also states the sure facts of its text.")
    ] = False,
) -> None:
    """Remember a text."""
    from concord.graph.v1.memory_pb2 import AddMemoryRequest

    from concord_client.freshness import settle

    links = {
        "Supersedes": supersedes,
        "Deprecates": deprecates,
        "Amends": amends,
        "Contradicts": contradicts,
    }
    words = read_stdin() if text == STDIN else text
    memory = type_pb2.Memory(
        id=own_id or "",
        content=with_links(words, links),
        kind=kind.value_of() if kind else type_pb2.MEMORY_KIND_UNSPECIFIED,
        domain=domain or "",
        tags=tag or (),
        concepts=concept or (),
        facts=[stated_fact(stated) for stated in fact or ()],
        surfaces_when=surfaces_when or (),
        importance=importance.value_of() if importance else type_pb2.IMPORTANCE_UNSPECIFIED,
        valid_from=instant(valid_from),
        valid_until=instant(valid_until),
        sources=stated_sources(source, derived_from),
        properties=properties(prop),
        external_id=external_id or "",
        category=category or "",
        session_id=session_id or "",
    )
    with session.client() as client:
        if extract:
            _extract(client, session, memory, words)
        reply = client.memory.AddMemory(AddMemoryRequest(memory=memory))
        settle(client, reply.token)
        if session.as_json:
            session.reply(reply)
        else:
            _show_added(reply)
            if reply.created:
                show_amendments(client, [reply.memory.id], reply.token)
            _show_ghosts(client, {target for each in links.values() for target in each or ()})


def _extract(client: "Client", session: Session, memory: type_pb2.Memory, words: str) -> None:
    """Let a memory state the sure facts of its words."""
    from concord.dissonance.v1.dissonance_pb2 import ExtractFactsRequest

    request = ExtractFactsRequest(texts=[said_in(memory, words)])
    found = client.dissonance.ExtractFacts(request)
    left = take_facts(memory, found)
    if not session.as_json:
        show_outcome(found)
        for each in memory.facts:
            if each.extracted:
                show(text(f"  {each.subject} —{each.relation}→ {each.object}"))
        if left:
            show(text(f"{plural(left, 'fact')} left: see concord extract.", "yellow"))


def _show_ghosts(client: "Client", targets: set[str]) -> None:
    """Name the link targets that do not exist, since an id may be misspelt."""
    from concord.graph.v1.memory_pb2 import GetMemoryRequest

    for target in sorted(targets):
        found = client.memory.GetMemory(GetMemoryRequest(id=target, peek=True))
        if found.status == LOOKUP_STATUS_NOT_FOUND:
            notice = f"There is no memory {target} yet: the link waits for one of this id."
            show(text(notice, "yellow"))


def _show_added(reply: "AddMemoryResponse") -> None:
    line = text("Remembered " if reply.created else "Known already: ")
    show(line.append(reply.memory.id, "bold"))
    if reply.memory.supersession.is_superseded:
        show(
            text(f"It is superseded by {', '.join(reply.memory.supersession.head_ids)}.", "yellow")
        )
    show_gave_way(reply.gave_way)
    show_claims(reply)
