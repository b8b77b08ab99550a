"""The verbs of sessions: what was said in them, what was tried, and their end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import dialogue_pb2, episode_pb2
from concord.type.v1 import type_pb2

from concord_client.verbs import conflict_things, read_conflict, read_reply, things
from concord_client.verbs.arguments import instant, stamp, value_of
from concord_client.verbs.conflict_steps import LONG_CHECK
from concord_client.verbs.steps import Step
from concord_client.verbs.things import TurnRole


def say(
    session_id: str,
    speaker: str,
    content: str,
    *,
    time: datetime | None = None,
    external_id: str = "",
    role: TurnRole | None = None,
) -> Step[things.Added]:
    """Keep a turn at the end of a session's dialogue; nobody can reword it.

    `time`: when it was said, None for now. `external_id`: your own key; a turn whose key is known
    is not kept again. `role`: None is PERSON.
    """
    turn = dialogue_pb2.DialogueTurn(
        speaker=speaker,
        content=content,
        time=stamp(time),
        external_id=external_id,
        role=value_of(type_pb2.TurnRole, role, "role"),
    )
    request = dialogue_pb2.AppendDialogueRequest(session_id=session_id, turns=[turn])

    def read(reply: dialogue_pb2.AppendDialogueResponse) -> things.Added:
        (kept,) = reply.turns
        return things.Added(read_reply.memory(kept), bool(reply.created_count))

    return Step(request, read)


def dialogue(
    session_id: str, *, limit: int = 50, page_token: str = "", as_of: datetime | None = None
) -> Step[things.Page[things.Memory]]:
    """A page of what was said in a session, in its order. `limit`: 1 to 200."""
    request = dialogue_pb2.ListDialogueRequest(
        session_id=session_id, page_size=limit, page_token=page_token, as_of=instant(as_of)
    )

    def read(reply: dialogue_pb2.ListDialogueResponse) -> things.Page[things.Memory]:
        turns = tuple(read_reply.memory(each) for each in reply.turns)
        return things.Page(turns, reply.next_page_token)

    return Step(request, read)


def episode(
    query: str,
    reward: float,
    *,
    reflection: str = "",
    memory_ids: Sequence[str] = (),
    session_id: str = "",
) -> Step[things.Episode]:
    """Keep what was tried and how it went. `reward`: -1 to 1; `memory_ids`: what it is about."""
    request = episode_pb2.AddEpisodeRequest(
        query=query,
        reward=reward,
        reflection=reflection,
        memory_ids=memory_ids,
        session_id=session_id,
    )

    def read(reply: episode_pb2.AddEpisodeResponse) -> things.Episode:
        return read_reply.episode(reply.episode)

    return Step(request, read)


def episodes(
    *,
    since: datetime | None = None,
    session_id: str = "",
    limit: int = 50,
    skip: int = 0,
    page_token: str = "",
    as_of: datetime | None = None,
) -> Step[things.Page[things.Episode]]:
    """A page of what was tried, the newest first. `limit`: 1 to 100.

    `skip`: how many of the newest to leave out.
    """
    request = episode_pb2.ListEpisodesRequest(
        since=stamp(since),
        session_id=session_id,
        page_size=limit,
        skip=skip,
        page_token=page_token,
        as_of=instant(as_of),
    )

    def read(reply: episode_pb2.ListEpisodesResponse) -> things.Page[things.Episode]:
        kept = tuple(read_reply.episode(each) for each in reply.episodes)
        return things.Page(kept, reply.next_page_token, reply.total_count)

    return Step(request, read)


def end_session(session_id: str) -> Step[conflict_things.EndedSession]:
    """End a session and check what it wrote; when it is used again, it begins anew."""
    request = dissonance_pb2.EndSessionRequest(session_id=session_id)
    return Step(request, read_conflict.ended_session, LONG_CHECK)
