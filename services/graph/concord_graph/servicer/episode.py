"""EpisodeService."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from concord.graph.v1 import episode_pb2, episode_pb2_grpc

from concord_graph.domain.items import Entry, ItemKind
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import EntryFilter
from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.usecases.memory.entries import add_episode
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.write.commands import Commands


class EpisodeServicer(episode_pb2_grpc.EpisodeServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(self, commands: Commands, reader: Reader) -> None:
        self._commands = commands
        self._reader = reader

    async def AddEpisode(
        self, request: episode_pb2.AddEpisodeRequest, context: calls.Context
    ) -> episode_pb2.AddEpisodeResponse:
        command = partial(
            add_episode,
            query=request.query,
            reward=request.reward,
            reflection=request.reflection,
            session_id=request.session_id,
            memory_ids=tuple(request.memory_ids),
        )
        done = await calls.execute(self._commands, request, command)
        return calls.reply(episode_pb2.AddEpisodeResponse, done, episode=_episode(done.entries[0]))

    async def ListEpisodes(
        self, request: episode_pb2.ListEpisodesRequest, context: calls.Context
    ) -> episode_pb2.ListEpisodesResponse:
        filter_ = EntryFilter(
            ItemKind.EPISODE,
            session_id=request.session_id,
            since=incoming.instant(request, "since"),
        )
        skip = 0 if request.page_token else request.skip
        page, total, next_token = await calls.entry_page(self._reader, request, filter_, skip=skip)
        found = calls.FOUND if total else calls.NOT_FOUND
        names: Sequence[str] = ()
        if not total and request.session_id:
            names = await calls.near(self._reader, NameKind.SESSION, request.session_id)
        return episode_pb2.ListEpisodesResponse(
            status=found,
            near_names=names,
            episodes=[_episode(entry) for entry in page],
            total_count=total,
            next_page_token=next_token,
        )


def _episode(entry: Entry) -> episode_pb2.Episode:
    return episode_pb2.Episode(
        id=entry.id,
        session_id=entry.session_id,
        create_time=outgoing.stamp(entry.create_time),
        **entry.body,
    )
