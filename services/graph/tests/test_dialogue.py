"""Raw dialogue: turns that stay as they were said, in their session's order (M2)."""

from pathlib import Path

import pytest
from concord.graph.v1 import dialogue_pb2
from concord.type.v1 import type_pb2
from graph_world import (
    START,
    SUPERSEDES,
    Calls,
    World,
    micros,
    reason,
    refused,
    stamp,
    world,
)
from paging import pages

TURN = type_pb2.MEMORY_KIND_TURN
APPEND_ONLY = "ERROR_REASON_TURN_APPEND_ONLY"


def append_request(
    *turns: dialogue_pb2.DialogueTurn, request_id: str = "once"
) -> dialogue_pb2.AppendDialogueRequest:
    """Return a request with turns as they are."""
    return dialogue_pb2.AppendDialogueRequest(request_id=request_id, session_id="s", turns=turns)


async def test_a_turn_is_a_memory_with_session_speaker_time_and_order(home: Calls) -> None:
    """M2 Everything that a turn is stands in the memory that it is."""
    first, second = await home.append("s", ("Ada", "Hello"), ("Bob", "Hi"), time=stamp(START - 5))

    assert (first.kind, first.session_id, first.turn_order) == (TURN, "s", 1)
    assert [source.speaker for source in first.sources] == ["Ada"]
    assert micros(first.valid_from) == START - 5
    assert (second.turn_order, second.content) == (2, "Hi")
    assert await home.get(first.id) == first


async def test_a_turn_has_the_role_in_which_it_was_said(home: Calls) -> None:
    """M2 A role is kept with the turn; none is stored where none was stated."""
    asked = dialogue_pb2.DialogueTurn(speaker="Ada", content="Why?", role=type_pb2.TURN_ROLE_USER)
    plain = dialogue_pb2.DialogueTurn(speaker="Bob", content="Well.")
    kept = (await home.dialogue_service.AppendDialogue(append_request(asked, plain))).turns

    assert [(await home.get(turn.id)).role for turn in kept] == [type_pb2.TURN_ROLE_USER, 0]


async def test_order_goes_on_in_its_session(home: Calls) -> None:
    """M2 Each session counts its own turns, over calls, over forgotten ones, and past AddMemory."""
    await home.append("s", ("Ada", "one"), ("Ada", "two"))
    await home.append("t", ("Ada", "elsewhere"))
    (third,) = await home.append("s", ("Ada", "three"))
    await home.forget(third)
    fourth = await home.add("four", kind=TURN, session_id="s")
    (fifth,) = await home.append("s", ("Ada", "five"))

    assert (third.turn_order, fourth.turn_order, fifth.turn_order) == (3, 4, 5)
    assert await home.dialogue("s") == ["one", "two", "four", "five"]
    assert await home.dialogue("t") == ["elsewhere"]


async def test_the_same_words_again_are_another_turn(home: Calls) -> None:
    """M2 In a dialogue "yes" is said more than once."""
    said = await home.append("s", ("Ada", "Yes."), ("Ada", "Yes."))

    assert len({turn.id for turn in said}) == 2
    assert await home.dialogue("s") == ["Yes.", "Yes."]


async def test_an_imported_turn_is_kept_once(home: Calls) -> None:
    """M5 A turn with an external id that is known adds nothing, also when it was annotated."""
    turn = dialogue_pb2.DialogueTurn(speaker="Ada", content="Hello", external_id="chat:1")
    first = await home.dialogue_service.AppendDialogue(append_request(turn))
    kept = first.turns[0]
    kept.tags.append("greeting")
    kept = await home.update(kept, "tags")
    again = await home.dialogue_service.AppendDialogue(append_request(turn, request_id="twice"))
    await home.forget(kept)
    gone = await home.dialogue_service.AppendDialogue(append_request(turn, request_id="thrice"))
    turn.content = "Good evening"
    other = await reason(
        home.dialogue_service.AppendDialogue(append_request(turn, request_id="fourth"))
    )

    assert (first.created_count, again.created_count, gone.created_count) == (1, 0, 0)
    assert again.turns[0].id == kept.id
    assert gone.turns[0].HasField("forget_time")
    assert other == "ERROR_REASON_ITEM_EXISTS"


async def test_all_turns_or_none(home: Calls) -> None:
    """M2 One turn that is refused keeps the others out."""
    await home.add("not a turn", external_id="key")
    good = dialogue_pb2.DialogueTurn(speaker="Ada", content="Hello")
    bad = dialogue_pb2.DialogueTurn(speaker="Ada", content="Bye", external_id="key")
    failure = await refused(home.dialogue_service.AppendDialogue(append_request(good, bad)))

    assert failure.reason == "ERROR_REASON_ITEM_EXISTS"
    assert await home.dialogue("s") == []


@pytest.mark.parametrize(
    ("mask", "change"),
    [
        ("content", {"content": "I never said that"}),
        ("kind", {"kind": type_pb2.MEMORY_KIND_FACT}),
        ("sources", {"sources": [type_pb2.Source(speaker="Bob")]}),
        ("valid_from", {"valid_from": stamp(7)}),
        ("role", {"role": type_pb2.TURN_ROLE_ASSISTANT}),
    ],
)
async def test_what_was_said_stays_said(home: Calls, mask: str, change: dict[str, object]) -> None:
    """M2 Nobody rewords a turn, gives it to somebody else, moves it, or makes it another kind."""
    (turn,) = await home.append("s", ("Ada", "I said this"))
    changed = type_pb2.Memory(id=turn.id, etag=turn.etag, **change)  # type: ignore[arg-type]
    failure = await refused(home.update(changed, mask))

    assert (failure.reason, failure.metadata["item_id"]) == (APPEND_ONLY, turn.id)
    assert await home.get(turn.id) == turn


async def test_no_other_memory_becomes_a_turn(home: Calls) -> None:
    """M2 What was not said in a dialogue is not slipped into one."""
    fact = await home.add("A fact")
    fact.kind = TURN

    assert await reason(home.update(fact, "kind")) == APPEND_ONLY


async def test_a_batch_rewords_no_turn(home: Calls) -> None:
    """M2 M6 An import that updates what is there is refused for a turn, as an item's error."""
    turn = await home.add("I said this", id="t-1", kind=TURN, session_id="s")
    same = type_pb2.Memory(id="t-1", content="I said this", kind=TURN, session_id="s")
    kept = await home.batch([same], update_existing=True)
    same.content = "I never said that"
    reply = await home.batch([same], update_existing=True)

    assert not kept.errors
    assert [error.reason for error in reply.errors] == [APPEND_ONLY]
    assert (await home.get(turn.id)).content == "I said this"


async def test_a_turn_can_be_annotated_forgotten_and_restored(home: Calls) -> None:
    """M2 M4 What is thought about a turn may change; it may go and come back to its place."""
    first, _ = await home.append("s", ("Ada", "one"), ("Bob", "two"))
    first.tags.append("opening")
    first.sources[0].trust = type_pb2.TRUST_LEVEL_VERIFIED
    first = await home.update(first, "tags", "sources")
    gone = await home.forget(first)
    left = await home.dialogue("s")
    back = await home.restore(gone)

    assert left == ["two"]
    assert (back.turn_order, list(back.tags)) == (1, ["opening"])
    assert await home.dialogue("s") == ["one", "two"]


async def test_pages_follow_the_order(home: Calls) -> None:
    """M2 Pages of two, each going on where the last one ended; superseded turns among them."""
    turns = await home.append("s", *(("Ada", f"turn {n}") for n in range(5)))
    await home.relate(SUPERSEDES, turns[4].id, turns[1].id)
    request = dialogue_pb2.ListDialogueRequest(session_id="s", page_size=2)
    found = await pages(home.dialogue_service.ListDialogue, request)

    assert [[turn.content for turn in page.turns] for page in found] == [
        ["turn 0", "turn 1"],
        ["turn 2", "turn 3"],
        ["turn 4"],
    ]


async def test_a_dialogue_as_it_was(live: World, home: Calls) -> None:
    """T3 As of a record time: what was known then; of a valid time: what was said by then."""
    first, _ = await home.append("s", ("Ada", "one"), ("Ada", "two"))
    before = live.clock.now
    live.clock.pass_(10)
    await home.forget(first)
    await home.append("s", ("Ada", "said long ago"), time=stamp(5))
    live.clock.pass_(10)

    known = type_pb2.AsOf(record_time=stamp(before + 5))
    held = type_pb2.AsOf(valid_time=stamp(6))
    later = type_pb2.AsOf(record_time=stamp(before + 10**9))
    assert await home.dialogue("s", as_of=known) == ["one", "two"]
    assert await home.dialogue("s", as_of=held) == ["said long ago"]
    assert await home.dialogue("s") == ["two", "said long ago"]
    assert await home.dialogue("s", as_of=later) == ["two", "said long ago"]


async def test_listing_leaves_no_trace(home: Calls) -> None:
    """G6 A list is no reading."""
    (turn,) = await home.append("s", ("Ada", "one"))
    await home.dialogue("s")

    assert (await home.get(turn.id)).access.access_count == 0


async def test_the_order_goes_on_after_a_restart(tmp_path: Path) -> None:
    """M2 It is kept with the turns."""
    async with world(tmp_path / "again.db") as before:
        await before.calls().append("s", ("Ada", "one"))
    async with world(tmp_path / "again.db") as again:
        (turn,) = await again.calls().append("s", ("Ada", "two"))

        assert turn.turn_order == 2
