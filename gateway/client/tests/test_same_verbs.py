"""The verbs that the command line has, too, called and awaited on a real system."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, cast

import concord_client
import pytest
from concord.graph.v1 import relation_pb2
from concord_client import AsyncConcord, Concord, Fact
from concord_client.verbs.conflict_things import Conflict
from concord_client.verbs.steps import Step
from concord_testing.command_line import Unique


class Awaited:
    """An asynchronous client whose verbs are awaited here, so that one test does for both."""

    def __init__(self, runner: asyncio.Runner, concord: AsyncConcord) -> None:
        self._runner, self._concord = runner, concord

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._concord, name)
        return lambda *args, **kwargs: self._runner.run(verb(*args, **kwargs))


@pytest.fixture(scope="module", params=["called", "awaited"])
def concord(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Concord]:
    """Each client, on a whole Concord of its own."""
    data = tmp_path_factory.mktemp("system") / "data"
    if request.param == "called":
        with concord_client.embedded(data) as called:
            yield called
        return
    system = concord_client.embedded_async(data)
    with asyncio.Runner() as runner:
        yield cast(Concord, Awaited(runner, runner.run(system.__aenter__())))
        runner.run(system.__aexit__(None, None, None))


@pytest.fixture
def disputed(concord: Concord, unique: Unique) -> Conflict:
    """A conflict of two edges that a check has found."""
    city, relation = unique("City"), unique("LIES_IN")
    declared = relation_pb2.DeclareRelationRequest(
        name=relation, functional=True, temporal_class=relation_pb2.TEMPORAL_CLASS_ETERNAL
    )
    concord.take(Step(declared, lambda reply: reply))
    for land in ("Norway", "Sweden"):
        concord.add(f"{city} lies in {land}.", facts=[Fact(city, relation, land)])
    (found,) = concord.check(city).conflicts
    (read,) = concord.conflicts(run_id=found.run_id)
    return read


def test_memories_are_listed_page_by_page(concord: Concord, unique: Unique) -> None:
    """W4 M1 By what they have; what is superseded only when asked for."""
    tag = unique("tag")
    first, second, third = (
        concord.add(f"{tag} {number}", tags=[tag], properties={"n": number}) for number in range(3)
    )
    newer = concord.add(f"{tag} 3", tags=[tag], supersedes=[first.id])
    page = concord.list(tag=tag, limit=2)
    rest = concord.list(tag=tag, limit=2, page_token=page.next_page_token)

    assert [each.id for each in page] == [newer.id, third.id]
    assert ([each.id for each in rest], rest.next_page_token) == ([second.id], "")
    assert len(concord.list(tag=tag, include_superseded=True)) == 4
    assert [each.id for each in concord.list(tag=tag, properties={"n": 1})] == [second.id]
    assert not concord.list(tag=tag, origins=["IMPORT"]).items
    assert not concord.list(tag=tag, kinds=["PLAN"]).items


def test_a_forgotten_memory_is_restored(concord: Concord, unique: Unique) -> None:
    """M4 W4 As it was read, or by its id."""
    tag = unique("tag")
    memory = concord.add(f"Kept and forgotten: {tag}", tags=[tag]).memory
    concord.forget(memory)
    assert not concord.list(tag=tag).items
    assert concord.restore(memory.id).id == memory.id
    assert [each.id for each in concord.list(tag=tag)] == [memory.id]
    assert concord.restore(concord.forget(memory.id)).id == memory.id
    with pytest.raises(concord_client.Refused) as refused:
        concord.restore(memory.id)
    assert refused.value.reason == "ERROR_REASON_ITEM_STATE"


def test_an_erasure_has_a_receipt(concord: Concord, unique: Unique) -> None:
    """M4 W4 Which says why, and which stores have yet to confirm."""
    memory = concord.add(unique("A secret")).memory
    assert concord.receipt(memory.id) is None
    assert concord.erase(memory.id, reason="asked for").content == ""
    receipt = concord.receipt(memory.id)
    assert receipt is not None
    assert (receipt.memory_id, receipt.reason) == (memory.id, "asked for")
    assert bool(receipt.waiting) == (receipt.completed is None)


def test_what_is_forgotten_or_erased_says_so(concord: Concord, unique: Unique) -> None:
    """M4 W4 To a read by id, with its time; an unknown id is another matter."""
    item = unique("tea")
    concord.add("Tea is at four.", id=item)
    live = concord.get(item)
    assert live is not None
    assert (live.forgotten, live.erased) == (None, None)
    forgotten = concord.forget(item)
    read = concord.get(item)
    assert read is not None
    assert read.forgotten == forgotten.forgotten
    assert forgotten.forgotten is not None
    with pytest.raises(concord_client.Refused, match="forgotten: restore it first"):
        concord.update(item, content="Tea is at five.")
    concord.erase(item)
    erased = concord.get(item)
    assert erased is not None
    assert erased.erased is not None
    with pytest.raises(concord_client.NotFound, match=f"no memory '{item}s'"):
        concord.forget(f"{item}s")


def test_a_memory_is_changed_by_its_id(concord: Concord, unique: Unique) -> None:
    """M4 W4 As it is now, unless an etag says which version."""
    item = unique("tea")
    first = concord.add("Tea is at four.", id=item).memory
    second = concord.update(item, content="Tea is at five.")
    day = datetime(2024, 5, 1, tzinfo=UTC)
    dated = concord.update(item, kind="PLAN", valid_from=day, valid_until=day.replace(year=2090))
    assert (dated.kind, dated.valid_from, dated.content) == ("PLAN", day, "Tea is at five.")
    assert (second.id, second.content) == (item, "Tea is at five.")
    with pytest.raises(concord_client.EtagMismatch):
        concord.update(item, content="Tea is at six.", etag=first.etag)
    with pytest.raises(concord_client.EtagMismatch):
        concord.forget(item, etag=first.etag)
    with pytest.raises(
        concord_client.NotFound, match=rf"no memory '{item}s'\. Similar ids: {item}"
    ):
        concord.update(f"{item}s", content="Tea is at six.")
    assert concord.forget(item, etag=dated.etag).id == item


def test_what_no_message_holds_is_refused_by_type(concord: Concord, unique: Unique) -> None:
    """W4 With the argument's name and what it may be; Protobuf's own errors do not come out."""
    item = concord.add(unique("It")).id
    no: Any = "NOVEL"
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: concord.add("x", properties={"at": {1}}), "properties must be JSON values: .*at"),
        (lambda: concord.add("x", properties=cast(Any, {1: 2})), "texts as names, not 1"),
        (lambda: concord.add("x", kind=no), "kind must be one of FACT, PLAN, .* not 'NOVEL'"),
        (lambda: concord.search("x", kinds=[no]), "kinds must be one of FACT"),
        (lambda: concord.update(item, importance=no), "importance must be one of LOW, MEDIUM"),
        (lambda: concord.relate(item, no, item), "relation must be one of SUPERSEDES"),
        (lambda: concord.neighbors("x", direction=no), "direction must be one of"),
        (lambda: concord.add("Half a \ud800"), "character 8 is half of one"),
        (lambda: concord.update(item, content="\ud800"), "character 1 is half of one"),
        (lambda: concord.add("x", properties={"at": {1: 2}}), "properties must be JSON values"),
        (lambda: concord.add("x", tags="abc"), "tags must be a list of texts, not the text 'abc'"),
        (lambda: concord.add("x", valid_from=cast(Any, "2024-01-01")), "as the contract has it"),
        (lambda: concord.add("x", facts=cast(Any, ["a|b|c"])), "as the contract has it"),
        (lambda: concord.add(cast(Any, 5)), "as the contract has it"),
        (lambda: concord.add("x", tags=cast(Any, [1])), "as the contract has it"),
        (lambda: concord.search("x", limit=10**10), "as the contract has it: Value out of range"),
    ]
    for call, words in cases:
        with pytest.raises(concord_client.FieldInvalid, match=words) as refused:
            call()
        assert refused.value.reason == "ERROR_REASON_FIELD_INVALID"
        assert len(refused.value.violations) == 1
    with pytest.raises(concord_client.FieldInvalid):
        concord.propose({"no_such_action": {}})


def test_lineage_shows_what_replaced_what(concord: Concord, unique: Unique) -> None:
    """M3 W4 From any of its items; of none there is none."""
    first = concord.add(unique("The depot is in Hamburg"))
    second = concord.add(unique("The depot is in Bremen"), supersedes=[first.id])
    for asked in (first.id, second.id):
        chain = concord.lineage(asked)
        assert chain is not None
        assert [(each.id, each.is_head) for each in chain.items] == [
            (first.id, False),
            (second.id, True),
        ]
        assert [each.relation for each in chain.edges] == ["SUPERSEDES"]
    assert concord.lineage(unique("nothing")) is None


def test_a_dialogue_is_kept_turn_by_turn(concord: Concord, unique: Unique) -> None:
    """M2 W4 A turn whose key is known is not kept again."""
    session, key = unique("talk"), unique("key")
    said = concord.say(session, "Ada", "Is the tea ready?", role="USER", external_id=key)
    again = concord.say(session, "Ada", "Is the tea ready?", role="USER", external_id=key)
    concord.say(session, "Helper", "It is.", role="ASSISTANT")
    page = concord.dialogue(session, limit=1)
    rest = concord.dialogue(session, page_token=page.next_page_token)

    assert (said.created, again.created, again.id) == (True, False, said.id)
    assert [each.content for each in (*page, *rest)] == ["Is the tea ready?", "It is."]
    assert [each.speaker for turn in page for each in turn.sources] == ["Ada"]


def test_episodes_are_kept_and_listed(concord: Concord, unique: Unique) -> None:
    """M2 W4 With how they went, the newest first, and how many there are."""
    session = unique("work")
    first = concord.episode("Bake it", -0.5, reflection="Too hot", session_id=session)
    second = concord.episode("Bake it again", 1.0, session_id=session)
    page = concord.episodes(session_id=session, limit=1)

    assert (first.reward, first.reflection) == (-0.5, "Too hot")
    assert ([each.id for each in page], page.total_count) == ([second.id], 2)
    assert [each.id for each in concord.episodes(session_id=session, skip=1)] == [first.id]
    assert first.created is not None
    assert len(concord.episodes(session_id=session, since=first.created)) == 2


def test_an_ended_session_is_checked(concord: Concord, unique: Unique) -> None:
    """D7 M7 W4 Its end says how the check of what it wrote went."""
    session = unique("session")
    concord.add(unique("It rains"), session_id=session)
    ended = concord.end_session(session)

    assert ended.id == session
    assert ended.started is not None
    assert ended.ended is not None
    assert ended.started <= ended.ended
    assert (ended.check.conflicts, ended.recurring) == ((), ())


def test_a_conflict_is_reviewed_and_the_review_taken_back(
    concord: Concord, disputed: Conflict
) -> None:
    """D5 W4 By what was read of it, which must not have changed since, or by its id."""
    confirmed = concord.confirm(disputed, because="seen").conflict
    assert (confirmed.state, confirmed.context) == ("CONFIRMED", "seen")
    with pytest.raises(concord_client.EtagMismatch):
        concord.dismiss(disputed)
    assert concord.conflict(disputed.id) == confirmed
    assert concord.reopen(confirmed).conflict.state == "POTENTIAL"
    assert concord.except_(disputed.id, because="both").conflict.state == "EXCEPTION"
    assert disputed.id not in {each.id for each in concord.conflicts()}
    assert disputed.id in {each.id for each in concord.conflicts(states=["EXCEPTION"])}
    assert concord.reopen(disputed.id).conflict.state == "POTENTIAL"
    other = concord.reclassify(disputed.id, "EVOLUTION", older=disputed.first_id).conflict
    assert (other.conflict_class, other.older_id) == ("EVOLUTION", disputed.first_id)
    assert concord.dismiss(other).conflict.state == "DISMISSED"
    assert concord.conflict("nothing") is None


def test_a_conflict_is_resolved(concord: Concord, disputed: Conflict) -> None:
    """D6 W4 As the class that it has, or as the caller says, who must say it of two items."""
    sides = (disputed.first_id, disputed.second_id)
    with pytest.raises(concord_client.FieldInvalid) as refused:
        concord.resolve(sides)
    assert [each.field for each in refused.value.violations] == ["resolution"]
    with pytest.raises(concord_client.NotFound, match="no conflict 'nothing'"):
        concord.resolve("nothing")

    decided = concord.resolve(disputed, superseded=disputed.first_id, because="seen")
    assert decided.conflict.state == "RESOLVED"
    assert (decided.proposal_id, decided.conflict.conflict_class) == ("", "CONTRADICTION")
    assert disputed.first_id in {each.id for each in decided.gave_way}
    concord.reopen(disputed.id)
    assert concord.resolve(sides, resolution="NUANCE").conflict.state == "RESOLVED"


def test_what_a_check_recorded_is_dismissed_at_once(concord: Concord, disputed: Conflict) -> None:
    """D5 W4 By the run that recorded it."""
    assert disputed.run_id
    assert [each.id for each in concord.conflicts(run_id=disputed.run_id)] == [disputed.id]
    done = concord.dismiss_all(run_id=disputed.run_id, because="noise")
    assert (done.dismissed, done.left) == (1, 0)
    assert concord.dismiss_all(rule="no-such-rule").dismissed == 0
    with pytest.raises(concord_client.FieldInvalid):
        concord.dismiss_all(rule="negation", group_id="g")
    assert not concord.conflicts(run_id=disputed.run_id).items


def test_health_and_the_briefing_name_what_waits(concord: Concord, unique: Unique) -> None:
    """S8 W4 An open conflict puts its sides at risk, and is in the briefing."""
    first, second = concord.add(unique("It is open")), concord.add(unique("It is shut"))
    concord.relate(second.id, "CONTRADICTS", first.id)
    (disputed,) = concord.conflicts(item_ids=[first.id])
    risky = concord.health(statuses=["AT_RISK"], limit=1000)
    assert {first.id, second.id} <= {each.id for each in risky}
    assert all(each.reasons for each in risky)
    assert risky.is_complete
    assert risky.counts["AT_RISK"] == len(risky.memories)
    assert len(concord.health(statuses=["AT_RISK"], limit=1).memories) == 1

    waiting = concord.briefing()
    assert disputed.id in {each.id for each in waiting.conflicts}
    assert waiting.conflict_count >= 1
    proposed = concord.propose(
        {"declare_relation": {"name": "CALLED", "functional": False}}, note="asked for"
    )
    assert proposed.id in {each.id for each in concord.briefing().proposals}


def test_an_integrative_search_is_voted_on(concord: Concord, unique: Unique) -> None:
    """S6 S7 W4 Its `query_id` names it; a node that does not exist is said not to."""
    node = unique("harbour")
    told = concord.add(f"The {node} is open.", facts=[Fact(node, "IS", "open")])
    found = concord.integrative(f"Is the {node} open?", node)

    assert found.node_found
    assert told.id in {each.item.id for each in found.results}
    assert all(0 <= each.text_relevance <= 1 for each in found.results)
    vote = concord.feedback(found.query_id, helpful=True, reason="It was.")
    assert vote.new_votes >= 1
    assert not concord.integrative("Anything", unique("nowhere")).node_found
