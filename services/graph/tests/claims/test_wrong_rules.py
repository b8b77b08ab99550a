"""Each rule of the guard, got wrong on purpose, is told from the right one (W8, W9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from claim_world import accept, ada, add, claims, helper, said
from concord.graph.v1 import claim_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.claims import Rank
from concord_graph.usecases.items import claims as settling
from concord_graph.usecases.write.standing_guard import StandingGuard
from graph_world import World, fact, reason

LINK = "It is otherwise.\n\nSupersedes: [[memory:m]]"


async def _always(*_: object) -> bool:
    return True


async def _never(*_: object) -> bool:
    return False


async def _anybody(*_: object, **__: object) -> None:
    return None


async def _by_rank_alone(guard: StandingGuard, stand: Any) -> bool:
    return bool(stand.rank >= guard.rank)


async def _from_rank_on(guard: StandingGuard, stand: Any) -> bool:
    return bool(stand.rank > Rank.AGENT) or await _by_rank_alone(guard, stand)


async def _of_one_owner(guard: StandingGuard, stand: Any) -> bool:
    return guard._author.principal not in stand.principals and await _by_rank_alone(guard, stand)


async def _said_in_turn(live: World, *, among_equals: bool) -> list[str]:
    """Return what a person, an agent and another agent claim, in this order, by a link each."""
    person, one, two = ada(live), helper(live), helper(live, principal="another")
    settings = claim_pb2.ClaimSettings(claims_among_equals=among_equals)
    admin = live.calls(principal="root", kind="HUMAN")
    await admin.claim.SetClaimSettings(claim_pb2.SetClaimSettingsRequest(settings=settings))
    found = []
    for place, (first, then) in enumerate([(person, one), (one, person), (one, one), (one, two)]):
        memory_id = f"m{place}"
        await first.add(f"It is so, {place}.", id=memory_id)
        text = LINK.replace("memory:m", f"memory:{memory_id}")
        found.append("claims" if said(await add(then, f"{place} {text}")) else "acts")
    return found


async def _settled(live: World) -> list[object]:
    """Return how the claimant, another agent and the owner fare who accept a claim."""
    person, one, two = ada(live), helper(live, governs=True), helper(live, principal="another")
    await person.add("It is so.", id="m")
    await add(one, LINK)
    (claim,) = await claims(person)
    refusals = [await reason(accept(each, claim.number)) for each in (one, two)]
    return [*refusals, len((await accept(person, claim.number)).claims)]


async def _agreed(live: World) -> bool:
    """Return whether a value that two agents state gives way to one of them, where equals claim."""
    await _said_in_turn(live, among_equals=True)
    one, two = helper(live), helper(live, principal="another")
    await one.declare("RUNS_IN")
    for calls, name in ((one, "a"), (two, "b")):
        await calls.add(f"Paris, says {name}.", id=name, facts=[fact("app", "RUNS_IN", "Paris")])
    await add(two, "Rome.", facts=[fact("app", "RUNS_IN", "Rome")])
    return bool((await one.get("a")).supersession.is_superseded)


async def _drawn(live: World) -> int:
    """Return whose words an agent's summary of what a tool read is."""
    tool = live.calls(principal="cron", kind="SYSTEM", origin="TOOL")
    agent = live.calls(principal="helper", kind="AGENT", origin="AGENT")
    read = await tool.add("The account is 77.")
    sources = [type_pb2.Source(memory_ids=[read.id])]
    return (await agent.add("Pay to 77.", sources=sources)).words_origin


ABOVE = "ERROR_REASON_STANDS_ABOVE"
FREE = ["claims", "acts", "acts", "acts"]
EQUALS = ["claims", "acts", "acts", "claims"]


@pytest.mark.parametrize(
    ("of", "rule", "wrong"),
    [
        (StandingGuard, "_stands_above", _always),
        (StandingGuard, "_stands_above", _never),
        (StandingGuard, "_stands_above", _by_rank_alone),
        (StandingGuard, "_stands_above", _from_rank_on),
        (StandingGuard, "_guards_equals", _always),
    ],
)
async def test_a_wrong_comparison_of_standings_is_noticed(
    live: World, monkeypatch: pytest.MonkeyPatch, of: type, rule: str, wrong: Callable[..., Any]
) -> None:
    """W9 Higher, lower, one's own, an equal's: of four writes one claims."""
    monkeypatch.setattr(of, rule, wrong)

    assert await _said_in_turn(live, among_equals=False) != FREE


async def test_the_right_comparison_is_the_one_that_is_expected(live: World) -> None:
    """W9 Without a setting equals act."""
    assert await _said_in_turn(live, among_equals=False) == FREE


@pytest.mark.parametrize("wrong", [None, _never])
async def test_equals_that_are_not_guarded_are_noticed(
    live: World, monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any] | None
) -> None:
    """W9 In a space of claims an equal claims, too."""
    if wrong:
        monkeypatch.setattr(StandingGuard, "_guards_equals", wrong)

    assert (await _said_in_turn(live, among_equals=True) == EQUALS) == (wrong is None)


@pytest.mark.parametrize("wrong", [None, _of_one_owner])
async def test_an_item_that_any_of_its_owners_ends_is_noticed(
    live: World, monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any] | None
) -> None:
    """W9 What two state is ended by neither alone."""
    if wrong:
        monkeypatch.setattr(StandingGuard, "_stands_above", wrong)

    assert await _agreed(live) == (wrong is not None)


@pytest.mark.parametrize("wrong", [None, _anybody])
async def test_claims_that_anybody_settles_are_noticed(
    live: World, monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any] | None
) -> None:
    """W9 Neither the claimant, who governs, nor another agent accepts what claims a person's."""
    if wrong:
        monkeypatch.setattr(settling, "_demand_settler", wrong)
        with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
            await _settled(live)
    else:
        assert await _settled(live) == [ABOVE, ABOVE, 1]


@pytest.mark.parametrize("wrong", [None, min, lambda given: next(iter(given))])
async def test_words_that_do_not_sink_to_the_lowest_are_noticed(
    live: World, monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any] | None
) -> None:
    """W8 The highest, or the writer's, in place of the lowest."""
    if wrong:
        monkeypatch.setattr("concord_graph.usecases.memory.whose_words.lowest", wrong)

    assert (await _drawn(live) == type_pb2.ORIGIN_TOOL) == (wrong is None)
