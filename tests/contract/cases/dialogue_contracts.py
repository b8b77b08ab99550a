"""The contract cases of DialogueService."""

from concord.graph.v1 import dialogue_pb2 as pb
from contract_homes import Home
from contract_registry import Contract, invalid


def _append(home: Home, *said: str, speaker: str = "Ada") -> pb.AppendDialogueRequest:
    """The link is to the other home's memory when that is asked for: a ghost here."""
    turns = [
        pb.DialogueTurn(speaker=speaker, content=f"{text} [[memory:{home.memory_id}]]")
        for text in said
    ]
    return pb.AppendDialogueRequest(request_id="r", session_id="talk", turns=turns)


DIALOGUE = {
    "AppendDialogue": Contract(
        request=lambda home: _append(home, "One", "Two"),
        success=lambda reply, _: (
            reply.created_count == 2 and [turn.turn_order for turn in reply.turns] == [3, 4]
        ),
        bad_input=(
            lambda home: _append(home, "One", speaker=""),
            invalid("turns[0].speaker"),
        ),
        other=lambda home: _append(home, "One", "Three"),
    ),
    "ListDialogue": Contract(
        request=lambda _: pb.ListDialogueRequest(session_id="talk"),
        success=lambda reply, home: (
            [turn.content for turn in reply.turns]
            == [f"Tea? ({home.space})", f"Coffee. ({home.space})"]
        ),
        bad_input=(lambda _: pb.ListDialogueRequest(), invalid("session_id")),
    ),
}
