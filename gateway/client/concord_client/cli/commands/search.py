"""`concord search`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.asked_time import AsOfOption, KnownAtOption, asked_time
from concord_client.cli.choices import Kind
from concord_client.cli.session import JsonOption, Session, SpaceOption

if TYPE_CHECKING:
    from concord.search.v1.search_pb2 import SearchResponse, SearchResult
    from rich.text import Text

    from concord_client.client import Client

SHOWN_CHARACTERS = 280


def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    *,
    history: Annotated[
        bool, typer.Option("--history", help="The whole chains of the results, by valid time.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Superseded memories too.")] = False,
    domain: Annotated[str | None, typer.Option(help="Only this domain and those below.")] = None,
    kind: Annotated[
        list[Kind] | None, typer.Option(case_sensitive=False, help="Only this kind; repeatable.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; repeated: with each of them.")
    ] = None,
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="Only with this property."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most results.")] = 10,
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave out results below this score.")
    ] = 0.0,
    fresh: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="See at least the write with this token.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Every signal of the score.")] = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    space: SpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find memories by meaning and by words, and say why each came up."""
    from concord.search.v1 import search_pb2
    from concord.type.v1.type_pb2 import Consistency
    from google.protobuf.struct_pb2 import Struct

    from concord_client.cli.commands.link import properties

    if history and everything:
        raise typer.BadParameter("--history and --all exclude each other.")
    session = Session.of(ctx, space, as_json)
    mode = "HISTORY" if history else "INCLUDE" if everything else "EXCLUDE"
    request = search_pb2.SearchRequest(
        query=query,
        domain=domain or "",
        superseded=search_pb2.SupersededMode.Value(f"SUPERSEDED_MODE_{mode}"),
        page_size=limit,
        min_score=min_score,
        consistency=Consistency(at_least_as_fresh=fresh) if fresh else None,
        as_of=asked_time(as_of, known_at),
    )
    if domain or kind or tag or prop:
        request.filter.domain = domain or ""
        request.filter.kinds.extend(each.value_of() for each in kind or ())
        request.filter.tags_all.extend(tag or ())
        request.filter.properties.MergeFrom(properties(prop) or Struct())
    with session.client() as client:
        reply = client.search.Search(request)
        behind = 0 if reply.results or session.as_json else _lag(client)
    if session.as_json:
        session.reply(reply)
    else:
        show_results(reply, explain=explain, behind=behind)


def _lag(client: "Client") -> int:
    """How many changes the index has yet to follow."""
    from concord.search.v1.search_pb2 import GetIndexStatusRequest

    index = client.index.GetIndexStatus(GetIndexStatusRequest())
    return index.head_seq - index.applied_seq


def show_results(reply: "SearchResponse", *, explain: bool = False, behind: int = 0) -> None:
    """Prints the STAC lines and the results, or that there are none.

    `behind`: changes that the index has yet to follow; then nothing found proves little.
    """
    from concord.search.v1.search_pb2 import ConfidenceBand

    from concord_client.cli.render.page import plural, show, table, text, word

    for line in reply.stac_lines:
        show(text(line, "italic"))
    if reply.index_incomplete:
        show(text("The disk of the index has no room: there may be more than it knows.", "yellow"))
    if not reply.results:
        if behind > 0:
            lag = f"The index is {plural(behind, 'change')} behind"
            show(text(f"{lag}: it finds what was written last later.", "yellow"))
        show("Nothing was found.")
        return
    made = table("#Score", "Memory")
    for result in reply.results:
        band = word(ConfidenceBand.Name(result.confidence), "CONFIDENCE_BAND_")
        score = text(f"{result.composite_score:.3f}", "bold")
        made.add_row(score.append(f"\n{band}", "dim"), _result(result, explain))
    show("", made)
    if reply.next_page_token:
        show(text("There are more: ask with a larger --limit.", "dim"))


def _result(result: "SearchResult", explain: bool) -> "Text":
    from concord_client.cli.render.item_page import amended
    from concord_client.cli.render.page import lines, shortened, text, when

    memory = result.memory
    head = text(memory.id, "bold")
    if memory.standing.is_superseded:
        since = when(memory.standing.superseded_from)
        head.append(f"  superseded from {since}", "yellow")
    head.append(amended(memory.standing), "yellow")
    parts = [head, text(shortened(memory.content, SHOWN_CHARACTERS))]
    parts.append(text(result.explanation.relevance_reason, "dim"))
    if explain:
        parts += [
            text(
                f"  {each.signal_name} {each.score:.2f} × {each.weight:.2f}"
                f" = {each.contribution:.3f}  {each.reason}",
                "dim",
            )
            for each in result.explanation.signals
        ]
        parts += [
            text(f"  {each.signal_name}: no data, {each.reason}", "dim")
            for each in result.explanation.dropped
        ]
    return lines(*parts)
