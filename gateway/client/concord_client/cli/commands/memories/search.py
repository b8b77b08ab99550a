"""`concord search`."""

from typing import TYPE_CHECKING, Annotated

import typer
from concord.search.v1 import search_pb2
from concord.search.v1.search_pb2 import GetIndexStatusRequest
from concord.type.v1.type_pb2 import Consistency
from google.protobuf.struct_pb2 import Struct

from concord_client.cli.choices import MemoryKind
from concord_client.cli.options import (
    AsOfOption,
    InSessionOption,
    KnownAtOption,
    OriginOption,
    WordsOriginOption,
    WriterOption,
)
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.render.search_page import show_results
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, instant, properties

if TYPE_CHECKING:
    from concord_client.client import Client


def search(
    session: Session,
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    *,
    history: Annotated[
        bool, typer.Option("--history", help="The whole chains of the results, by valid time.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Superseded memories too.")] = False,
    domain: Annotated[str | None, typer.Option(help="Only this domain and those below.")] = None,
    kind: Annotated[
        list[MemoryKind] | None,
        typer.Option(case_sensitive=False, help="Only this kind; repeatable."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; repeated: with each of them.")
    ] = None,
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="Only with this property."),
    ] = None,
    origin: OriginOption = None,
    words_of: WordsOriginOption = None,
    principal: WriterOption = "",
    node: Annotated[
        str, typer.Option(help="Only what is stated about or linked with this node, by name or id.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most results.")] = 10,
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave out results below this score.")
    ] = 0.0,
    fresh: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="See at least the write with this token.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Every signal of the score.")] = False,
    context: Annotated[
        bool,
        typer.Option("--context", help="A text for a prompt, with ids and dates."),
    ] = False,
    pack: Annotated[
        int,
        typer.Option(
            min=0,
            max=8_000,
            metavar="TOKENS",
            help="As --context, within so many tokens, with what stands beside the results.",
        ),
    ] = 0,
    session_id: InSessionOption = "",
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    today: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Read "last week" as on this day (ISO 8601).'),
    ] = None,
    no_window: Annotated[
        bool, typer.Option("--no-window", help="Do not rank by the times that the query names.")
    ] = False,
    edges: Annotated[
        bool, typer.Option("--edges", help="Edges between nodes, too, whoever states them.")
    ] = False,
) -> None:
    """Find memories by meaning and by words, and say why each came up."""
    if history and everything:
        raise typer.BadParameter("--history and --all exclude each other.")
    mode = "HISTORY" if history else "INCLUDE" if everything else "EXCLUDE"
    request = search_pb2.SearchRequest(
        query=query,
        domain=domain or "",
        superseded=search_pb2.SupersededMode.Value(f"SUPERSEDED_MODE_{mode}"),
        page_size=limit,
        min_score=min_score,
        consistency=Consistency(at_least_as_fresh=fresh) if fresh else None,
        session_id=session_id,
        as_of=asked_time(as_of, known_at),
        include_context=context,
        pack_tokens=pack,
        today=instant(today),
        no_window=no_window,
        include_edges=edges,
    )
    if domain or kind or tag or prop or origin or words_of or principal or node:
        request.filter.domain = domain or ""
        request.filter.kinds.extend(each.value_of() for each in kind or ())
        request.filter.tags_all.extend(tag or ())
        request.filter.origins.extend(each.value_of() for each in origin or ())
        request.filter.words_origins.extend(each.value_of() for each in words_of or ())
        request.filter.node = node
        request.filter.principal = principal
        request.filter.properties.MergeFrom(properties(prop) or Struct())
    with session.client() as client:
        reply = client.search.Search(request)
        behind = 0 if reply.results or session.as_json else _lag(client)
    if session.as_json:
        session.reply(reply)
    elif (context or pack) and reply.results:
        show(text(reply.context or f"None of the results fits into {plural(pack, 'token')}."))
        if unfit := reply.unfit_memory_ids:
            names = ", ".join(f"memory:{each}" for each in unfit)
            show("", text(f"Did not fit into {plural(pack, 'token')}: {names}", "dim"))
    else:
        show_results(reply, explain=explain, behind=behind)


def _lag(client: "Client") -> int:
    """The number of changes that are not indexed yet."""
    index = client.index.GetIndexStatus(GetIndexStatusRequest())
    return index.head_seq - index.applied_seq
