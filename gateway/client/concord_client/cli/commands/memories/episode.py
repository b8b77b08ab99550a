"""`concord episode` and `concord episodes`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render.page import show, table, text, when
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time, instant

if TYPE_CHECKING:
    from concord.graph.v1.episode_pb2 import ListEpisodesResponse


def episode(
    session: Session,
    query: Annotated[str, typer.Argument(help="What was asked or tried.")],
    *,
    reward: Annotated[
        float,
        typer.Option(min=-1.0, max=1.0, help="How it went, from -1 to 1.", show_default=False),
    ],
    reflection: Annotated[str, typer.Option(help="What to learn from it.")] = "",
    about: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A memory that it is about; may be repeated."),
    ] = None,
    session_id: Annotated[str, typer.Option("--session", help="Session id.")] = "",
) -> None:
    """Keep what was tried and how it went."""
    from concord.graph.v1.episode_pb2 import AddEpisodeRequest

    request = AddEpisodeRequest(
        query=query,
        reward=reward,
        reflection=reflection,
        session_id=session_id,
        memory_ids=about or (),
    )
    with session.client() as client:
        reply = client.episode.AddEpisode(request)
    session.answer(reply, lambda reply: show(text("Kept ").append(reply.episode.id, "bold")))


def episodes(
    session: Session,
    *,
    since: Annotated[str | None, typer.Option(help="Not before this time (ISO 8601).")] = None,
    session_id: Annotated[str, typer.Option("--session", help="Only of this session.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most episodes shown.")] = 50,
    skip: Annotated[int, typer.Option(min=0, help="Leave out the newest.")] = 0,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """List what was tried, the newest first."""
    from concord.graph.v1.episode_pb2 import ListEpisodesRequest

    request = ListEpisodesRequest(
        since=instant(since),
        session_id=session_id,
        page_size=limit,
        skip=skip,
        as_of=asked_time(as_of, known_at),
    )
    with session.client() as client:
        reply = client.episode.ListEpisodes(request)
    session.answer(reply, _show)


def _show(reply: "ListEpisodesResponse") -> None:
    if not reply.total_count:
        near = ", ".join(reply.near_names)
        show(text(f"No episodes. Sessions spelt alike: {near}" if near else "No episodes."))
        return
    made = table("When", "#Reward", "Episode")
    for each in reply.episodes:
        line = text(each.query, "bold")
        if each.reflection:
            line.append("\n").append(text(each.reflection))
        made.add_row(
            when(each.create_time), f"{each.reward:+.2f}", line.append(f"\n{each.id}", "dim")
        )
    show(made, text(f"{len(reply.episodes)} of {reply.total_count}", "dim"))
