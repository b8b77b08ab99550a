"""The contract cases of EpisodeService."""

from concord.graph.v1 import episode_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import Contract, invalid

FOUND = type_pb2.LOOKUP_STATUS_FOUND


def _episode(home: Home, reward: float = 0.5) -> pb.AddEpisodeRequest:
    return pb.AddEpisodeRequest(
        request_id="r", query="What to drink", reward=reward, memory_ids=[home.memory_id]
    )


EPISODE = {
    "AddEpisode": Contract(
        request=_episode,
        success=lambda reply, home: reply.episode.memory_ids == [home.memory_id],
        bad_input=(lambda home: _episode(home, reward=1.5), invalid("reward")),
        other=lambda home: _episode(home, reward=-0.5),
    ),
    "ListEpisodes": Contract(
        request=lambda _: pb.ListEpisodesRequest(session_id="talk"),
        success=lambda reply, home: (
            (reply.status, reply.total_count) == (FOUND, 2)
            and reply.episodes[1].id == home.episode_id
        ),
        bad_input=(lambda _: pb.ListEpisodesRequest(page_size=101), invalid("page_size")),
    ),
}
