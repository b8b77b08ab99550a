"""What dissonance does by itself after a write: sessions that end, and reflections (D7, M7)."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2, feed_pb2, session_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.clients.graph.sessions_client import SessionsClient
from concord_dissonance.domain.errors import ServiceRefused
from concord_dissonance.usecases import follow, idle
from dissonance_over_graph import ETERNAL, Dissonant, Space, dissonant, waiting
from governed_world import SECOND, STATUS, Party, World, eventually, request_id

OPEN, CLOSED = "The office is open on Sunday.", "The office is not open on Sunday."
REFLECTION = type_pb2.MEMORY_KIND_REFLECTION
MEMORY = type_pb2.ITEM_KIND_MEMORY
PENDING = STATUS.PROPOSAL_STATUS_PENDING
MINUTE = 60 * SECOND
SESSION_END = proposal_pb2.PROPOSAL_TRIGGER_SESSION_END
DISSONANCE = proposal_pb2.PROPOSAL_TRIGGER_DISSONANCE


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers that gather for no time, and a timer that looks all the time."""
    monkeypatch.setattr(follow, "QUIET", 0.01)
    monkeypatch.setattr(idle, "LOOK", 0.05)


@pytest_asyncio.fixture(loop_scope="function")
async def works(live: World) -> AsyncIterator[Dissonant]:
    """Every service, with dissonance that follows what is written."""
    async with dissonant(live) as running:
        yield running


async def found(space: Space, count: int = 1) -> Sequence[conflict_pb2.Conflict]:
    """Wait until so many conflicts stand, and return them."""

    async def listed() -> Sequence[conflict_pb2.Conflict]:
        return (await space.listed()).conflicts

    return await eventually(listed, lambda there: len(there) >= count)


async def ends(party: Party) -> list[str]:
    """Return the sessions whose end stands in the record, each as often as it does."""
    asked = space_pb2.ListOperationsRequest(types=[feed_pb2.CHANGE_TYPE_SESSION_ENDED])
    return [each.item_id for each in (await party.space_service.ListOperations(asked)).operations]


async def session_of(party: Party, session_id: str) -> session_pb2.Session:
    """Return a session's record."""
    asked = session_pb2.GetSessionRequest(session_id=session_id)
    return (await party.session.GetSession(asked)).session


async def test_the_end_of_a_session_shows_what_it_disagrees_with(
    works: Dissonant, party: Party
) -> None:
    """D7 M7 Memories and edges that it wrote are checked; the reply says what was found."""
    home = works.space()
    await home.ask_for_texts()
    await home.declare("LIVES_IN")
    await home.edge("Ada", "LIVES_IN", "Berlin")
    await home.add(OPEN)
    party.clock.pass_(2 * MINUTE)
    await home.add(CLOSED, session_id="talk")
    await home.add("Ada moved.", session_id="talk", facts=[fact("Ada", "LIVES_IN", "Paris")])
    reply = await home.end_session("talk")
    said = {frozenset({each.first.statement, each.second.statement}) for each in reply.conflicts}

    assert said == {
        frozenset({OPEN, CLOSED}),
        frozenset({"Ada LIVES_IN Berlin", "Ada LIVES_IN Paris"}),
    }
    assert reply.session.end_time == (await session_of(party, "talk")).end_time
    assert {each.id for each in await found(home, 2)} == {each.id for each in reply.conflicts}
    assert reply.coverage.recorded == 2
    assert await ends(party) == ["talk"]


async def test_what_a_sessions_end_finds_says_so(works: Dissonant, party: Party) -> None:
    """V1 D7 M7 Its proposal has the trigger and the session; what a check finds later has not."""
    home = works.space()
    await home.declare("LIVES_IN")
    for who in ("Ada", "Bob"):
        await home.edge(who, "LIVES_IN", "Berlin")
    party.clock.pass_(2 * MINUTE)
    await home.add("Ada moved.", session_id="talk", facts=[fact("Ada", "LIVES_IN", "Paris")])
    (ended,) = (await home.end_session("talk")).conflicts
    (of_end,) = await eventually(lambda: waiting(party))
    await home.edge("Bob", "LIVES_IN", "Paris")
    await home.detect()
    both = await eventually(lambda: waiting(party), lambda there: len(there) == 2)
    (of_check,) = [each for each in both if each.id != of_end.id]

    assert of_end.action.review_conflict.conflict_id == ended.id
    assert (of_end.trigger, of_end.session_id) == (SESSION_END, "talk")
    assert of_end.framing.detected.startswith("When a session ended, ")
    assert (of_check.trigger, of_check.session_id) == (DISSONANCE, "")
    sessions = {each.id: each.session_id for each in (await home.listed()).conflicts}
    assert sorted(sessions.values()) == ["", "talk"]
    assert sessions[ended.id] == "talk"


async def test_texts_are_not_compared_unasked_after_a_write(works: Dissonant, party: Party) -> None:
    """D7 C1 After a session or a reflection facts are checked; the reply says what was not."""
    home = works.space()
    await home.declare("LIVES_IN")
    await home.edge("Ada", "LIVES_IN", "Berlin")
    await home.add(OPEN)
    await home.add(CLOSED, kind=REFLECTION, facts=[fact("Ada", "LIVES_IN", "Rome")])
    (of_reflection,) = await found(home)
    party.clock.pass_(2 * MINUTE)
    await home.add(CLOSED, session_id="talk", facts=[fact("Ada", "LIVES_IN", "Paris")])
    reply = await home.end_session("talk")

    assert {each.judge for each in reply.conflicts} == {conflict_pb2.JUDGE_STRUCTURAL}
    assert of_reflection.judge == conflict_pb2.JUDGE_STRUCTURAL
    assert reply.coverage.skipped == {"TEXTS_NOT_ASKED_FOR": 1}
    assert reply.coverage.judged_by.keys() == {"STRUCTURAL"}
    listed = (await home.listed()).conflicts
    assert not any(each.is_text_finding for each in listed)


async def test_a_session_that_wrote_nothing_ends_without_a_finding(
    works: Dissonant, party: Party
) -> None:
    """D7 What others wrote is not looked at."""
    home = works.space()
    await home.ask_for_texts()
    for text in (OPEN, CLOSED):
        await home.add(text)
    party.clock.pass_(2 * MINUTE)
    await home.add("Tea is served at five.", kind=type_pb2.MEMORY_KIND_JOURNAL, session_id="talk")
    reply = await home.end_session("talk")

    assert not reply.conflicts
    assert reply.coverage.candidates == 0


async def test_an_edge_that_lies_in_another_is_no_contradiction(
    works: Dissonant, party: Party
) -> None:
    """D2 D4 Also after a session, what contains what is read from the whole space."""
    home = works.space()
    await home.declare("LIES_IN", functional=False, transitive=True)
    await home.declare("LIVES_IN")
    await home.edge("Berlin", "LIES_IN", "Germany")
    await home.edge("Ada", "LIVES_IN", "Germany")
    party.clock.pass_(2 * MINUTE)
    await home.add("Ada moved.", session_id="talk", facts=[fact("Ada", "LIVES_IN", "Berlin")])
    (conflict,) = (await home.end_session("talk")).conflicts

    assert conflict.conflict_class == conflict_pb2.CONFLICT_CLASS_NUANCE


async def test_what_is_written_under_another_name_meets_the_same_subject(
    works: Dissonant, party: Party
) -> None:
    """D3 D4 Also after a session, names of one thing are read from the whole space."""
    home = works.space()
    await home.declare("MAYOR", temporal_class=ETERNAL)
    await home.edge("Munich", "SAME_AS", "Muenchen")
    await home.edge("Munich", "MAYOR", "Ada")
    party.clock.pass_(2 * MINUTE)
    await home.add("Bob rules.", session_id="talk", facts=[fact("Muenchen", "MAYOR", "Bob")])
    (conflict,) = (await home.end_session("talk")).conflicts

    assert conflict.conflict_class == conflict_pb2.CONFLICT_CLASS_CONTRADICTION


async def test_a_session_ended_in_graph_is_checked_as_well(works: Dissonant, party: Party) -> None:
    """D7 M7 Whoever ends it: dissonance hears of it by the feed."""
    home = works.space()
    await home.ask_for_texts()
    await home.add(OPEN)
    await home.add(CLOSED, session_id="talk")
    request = session_pb2.EndSessionRequest(request_id=request_id(), session_id="talk")
    await party.session.EndSession(request)

    (conflict,) = await found(home)
    assert {conflict.first.statement, conflict.second.statement} == {OPEN, CLOSED}


async def test_an_idle_session_ends_once_however_many_look(live: World, party: Party) -> None:
    """M7 After 30 minutes without a use, by one of two timers; what is in use goes on."""
    async with dissonant(live, with_search=False) as works, dissonant(live, with_search=False):
        home = works.space()
        await home.add(OPEN, session_id="idle")
        party.clock.pass_(29 * MINUTE)
        await home.add(CLOSED, session_id="used")
        assert not (await session_of(party, "idle")).HasField("end_time")
        party.clock.pass_(2 * MINUTE)
        await eventually(lambda: ends(party))
        await asyncio.sleep(0.3)

        assert await ends(party) == ["idle"]
        assert not (await session_of(party, "used")).HasField("end_time")


async def test_a_space_that_refuses_keeps_no_session_of_another_open(
    live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M7 Such as a deleted one, whose sessions stay as they are."""
    end_idle = SessionsClient.end_idle

    async def refusing(client: SessionsClient, space: str, session: session_pb2.Session) -> None:
        if space == "one":
            raise ServiceRefused("graph", "ERROR_REASON_SPACE_DELETED")
        await end_idle(client, space, session)

    monkeypatch.setattr(SessionsClient, "end_idle", refusing)
    async with dissonant(live, with_search=False) as works:
        for space in ("one", "two"):
            await works.space(space).add(OPEN, session_id="idle")
        live.clock.pass_(31 * MINUTE)

        assert await eventually(lambda: ends(live.party("two"))) == ["idle"]
        assert not await ends(live.party("one"))


async def test_a_session_idle_while_nobody_looked_ends_later(live: World, party: Party) -> None:
    """M7 The timer keeps nothing, so a restart forgets nothing."""
    async with dissonant(live, with_search=False, follow=False) as works:
        await works.space().add(OPEN, session_id="idle")
    party.clock.pass_(31 * MINUTE)
    async with dissonant(live, with_search=False):
        assert await eventually(lambda: ends(party)) == ["idle"]


async def test_a_reflection_is_checked_when_it_is_written(works: Dissonant) -> None:
    """D7 Off the write's path: its text where the space asks, and the facts that it states."""
    home = works.space()
    await home.ask_for_texts()
    await home.declare("LIVES_IN")
    await home.edge("Ada", "LIVES_IN", "Berlin")
    await home.add(OPEN)
    written = await home.add(CLOSED, kind=REFLECTION, facts=[fact("Ada", "LIVES_IN", "Paris")])
    there = await found(home, 2)

    sides = [{each.first.id, each.second.id} for each in there]
    assert any(written.id in each for each in sides)
    assert {each.author for each in there} == {"dissonance"}


async def test_other_kinds_wait_for_a_check(works: Dissonant) -> None:
    """D7 A fact is checked on demand or at its session's end; a journal never is."""
    home = works.space()
    await home.ask_for_texts()
    await home.add(OPEN)
    await home.add(CLOSED)
    await home.add(CLOSED, kind=type_pb2.MEMORY_KIND_JOURNAL)
    await home.add("The tower is 300 m high.")
    await home.add("The tower is 320 m high.", kind=REFLECTION)
    (conflict,) = await found(home)

    assert "tower" in conflict.first.statement


async def test_what_was_written_while_dissonance_was_away_is_checked(
    live: World, party: Party
) -> None:
    """D7 The position is graph's: nothing is lost over a restart, and nothing judged twice."""
    async with dissonant(live, follow=False) as works:
        await works.space().ask_for_texts()
        await works.space().add(OPEN)
        await works.space().add(CLOSED, kind=REFLECTION)
    async with dissonant(live) as works:
        (conflict,) = await found(works.space())
        written = max(each.seq for each in await operations(party) if each.item_kind == MEMORY)
        await eventually(works.position, lambda seq: seq >= written)
    before = await operations(party)
    async with dissonant(live) as works:
        await asyncio.sleep(0.3)
        assert await found(works.space()) == [conflict]
    assert await operations(party) == before


async def test_what_was_imported_triggers_nothing(live: World) -> None:
    """D7 T6 A moved space has been looked at where it was; a check on demand looks again."""
    async with dissonant(live, follow=False) as works:
        home, copy = works.space("from"), works.space("copy")
        await home.ask_for_texts()
        await home.add(OPEN)
        await home.add(CLOSED, kind=REFLECTION)
        await home.copy_to(copy)
    async with dissonant(live) as works:
        home, copy = works.space("from"), works.space("copy")
        await copy.ask_for_texts()
        await copy.add("Tea is served at five.")
        assert len(await found(home)) == 1
        await eventually(lambda: works.position("copy"))

        assert not (await copy.listed()).conflicts


async def test_a_death_between_work_and_position_does_nothing_twice(
    live: World, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D7 M7 Whenever it dies: what was recorded and proposed is found, and not written again."""
    with monkeypatch.context() as dying:
        async with dissonant(live) as works:
            home = works.space()
            await home.declare("LIVES_IN")
            await home.add(OPEN, facts=[fact("Ada", "LIVES_IN", "Berlin")])
            followed = await eventually(works.position)
            dying.setattr(FeedClient, "note_reached", _never)
            paris = fact("Ada", "LIVES_IN", "Paris")
            await home.add("She moved.", kind=REFLECTION, facts=[paris])
            await found(home)
            (first,) = await eventually(lambda: waiting(party))
            assert await works.position() == followed
    before = await operations(party)
    async with dissonant(live) as works:
        await eventually(works.position, lambda at: at > followed)
        await asyncio.sleep(0.3)

    assert await operations(party) == before
    assert await waiting(party) == [first]


async def _never(*_: object) -> str:
    await asyncio.Event().wait()
    raise AssertionError


async def operations(party: Party) -> Sequence[space_pb2.Operation]:
    """Return what stands in the record of the space."""
    asked = space_pb2.ListOperationsRequest(page_size=500)
    return (await party.space_service.ListOperations(asked)).operations


def fact(subject: str, relation: str, object_: str) -> type_pb2.Fact:
    """Return a triple."""
    return type_pb2.Fact(subject=subject, relation=relation, object=object_)
