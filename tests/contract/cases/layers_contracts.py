"""The contract cases of MemoryService's layers: dialogue, episodes and working memory."""

from concord.graph.v1 import layers_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home
from contract_registry import NOT_FOUND, Answered, Contract, invalid

FOUND, MISSED = type_pb2.LOOKUP_STATUS_FOUND, type_pb2.LOOKUP_STATUS_NOT_FOUND


def _append(home: Home, *said: str, speaker: str = "Ada") -> pb.AppendDialogueRequest:
    """The link is to the other home's memory when that is asked for: a ghost here."""
    turns = [
        pb.DialogueTurn(speaker=speaker, content=f"{text} [[memory:{home.memory_id}]]")
        for text in said
    ]
    return pb.AppendDialogueRequest(request_id="r", session_id="talk", turns=turns)


def _episode(home: Home, reward: float = 0.5) -> pb.AddEpisodeRequest:
    return pb.AddEpisodeRequest(
        request_id="r", query="What to drink", reward=reward, memory_ids=[home.memory_id]
    )


def _put(content: str = "Buy tea") -> pb.PutWorkingMemoryRequest:
    return pb.PutWorkingMemoryRequest(request_id="r", content=content)


LAYERS = {
    "AppendDialogue": Contract(
        request=lambda home: _append(home, "One", "Two"),
        success=lambda reply, _: (
            reply.created_count == 2 and [turn.turn_order for turn in reply.turns] == [3, 4]
        ),
        bad_input=(
            lambda home: _append(home, "One", speaker=""),
            invalid("turns[0].speaker"),
        ),
        other_space=Answered(lambda reply: [turn.turn_order for turn in reply.turns] == [3, 4]),
        other=lambda home: _append(home, "One", "Three"),
    ),
    "ListDialogue": Contract(
        request=lambda _: pb.ListDialogueRequest(session_id="talk"),
        success=lambda reply, home: (
            [turn.content for turn in reply.turns]
            == [f"Tea? ({home.space})", f"Coffee. ({home.space})"]
        ),
        bad_input=(lambda _: pb.ListDialogueRequest(), invalid("session_id")),
        other_space=Answered(lambda reply: len(reply.turns) == 2 and "(b)" not in str(reply)),
    ),
    "AddEpisode": Contract(
        request=_episode,
        success=lambda reply, home: reply.episode.memory_ids == [home.memory_id],
        bad_input=(lambda home: _episode(home, reward=1.5), invalid("reward")),
        other_space=NOT_FOUND,
        other=lambda home: _episode(home, reward=-0.5),
    ),
    "ListEpisodes": Contract(
        request=lambda _: pb.ListEpisodesRequest(session_id="talk"),
        success=lambda reply, home: (
            (reply.status, reply.total_count) == (FOUND, 2)
            and reply.episodes[1].id == home.episode_id
        ),
        bad_input=(lambda _: pb.ListEpisodesRequest(page_size=101), invalid("page_size")),
        other_space=Answered(lambda reply: reply.total_count == 2 and "(b)" not in str(reply)),
    ),
    "PutWorkingMemory": Contract(
        request=lambda _: _put(),
        success=lambda reply, _: reply.entry.content == "Buy tea" and not reply.evicted,
        bad_input=(lambda _: _put("x" * 20_001), invalid("content")),
        other_space=Answered(lambda reply: not reply.evicted),
        other=lambda _: _put("Buy coffee"),
    ),
    "ListWorkingMemory": Contract(
        request=lambda _: pb.ListWorkingMemoryRequest(),
        success=lambda reply, home: reply.total_count == 2 and reply.entries[1].id == home.entry_id,
        bad_input=(
            lambda home: pb.ListWorkingMemoryRequest(
                stale=True, page_token=home.page_tokens["ListWorkingMemory"]
            ),
            invalid("page_token", "PAGE_TOKEN_INVALID"),
        ),
        other_space=Answered(lambda reply: reply.total_count == 2 and "(b)" not in str(reply)),
    ),
    "RemoveWorkingMemory": Contract(
        request=lambda home: pb.RemoveWorkingMemoryRequest(request_id="r", id=home.entry_id),
        success=lambda reply, _: reply.token,
        bad_input=(lambda _: pb.RemoveWorkingMemoryRequest(request_id="r"), invalid("id")),
        other_space=NOT_FOUND,
        other=lambda home: pb.RemoveWorkingMemoryRequest(request_id="r", id=home.memory_id),
    ),
    "ClearWorkingMemory": Contract(
        request=lambda _: pb.ClearWorkingMemoryRequest(request_id="r"),
        success=lambda reply, _: reply.removed_count == 2,
        bad_input=(
            lambda _: pb.ClearWorkingMemoryRequest(request_id="r", session_id="x" * 129),
            invalid("session_id"),
        ),
        other_space=Answered(lambda reply: reply.removed_count == 2),
        other=lambda _: pb.ClearWorkingMemoryRequest(request_id="r", include_stale=True),
    ),
}
