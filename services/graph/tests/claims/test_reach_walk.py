"""A walk over every write RPC with keys that only append, or change their own (W7, W9); without the
guard it fails."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from claim_world import helper, let_reach, with_reach, writes
from concord.graph.v1 import (
    conflict_pb2,
    episode_pb2,
    session_pb2,
    space_pb2,
    working_memory_pb2,
)
from concord.type.v1 import type_pb2
from graph_world import DAY, Calls, World, fact
from transfers import export_of
from walk_of_attacks import ATTACKS, MEMORIES, TRIES, Attack, furnish, seen, tried

KEYS = (
    *("append", "own", "append of the same principal"),
    *("append of a person", "own of a person"),
)


async def _puts(calls: Calls, chance: random.Random) -> Any:
    """PutWorkingMemory: a text that is there, or one for which another has to go."""
    content = chance.choice(["note 1", f"{chance.random()}"])
    request = working_memory_pb2.PutWorkingMemoryRequest(
        request_id=calls.request_id(), content=content, importance=type_pb2.IMPORTANCE_HIGH
    )
    return await calls.working_memory.PutWorkingMemory(request)


async def _removes(calls: Calls, chance: random.Random) -> Any:
    """RemoveWorkingMemory."""
    listed = await calls.working_memory.ListWorkingMemory(
        working_memory_pb2.ListWorkingMemoryRequest()
    )
    request = working_memory_pb2.RemoveWorkingMemoryRequest(
        request_id=calls.request_id(), id=chance.choice(listed.entries).id
    )
    return await calls.working_memory.RemoveWorkingMemory(request)


async def _clears(calls: Calls, chance: random.Random) -> Any:
    """ClearWorkingMemory."""
    request = working_memory_pb2.ClearWorkingMemoryRequest(
        request_id=calls.request_id(), include_stale=chance.random() < 0.5
    )
    return await calls.working_memory.ClearWorkingMemory(request)


async def _ends(calls: Calls, _: random.Random) -> Any:
    """EndSession, of somebody else's."""
    request = session_pb2.EndSessionRequest(request_id=calls.request_id(), session_id="theirs")
    return await calls.session.EndSession(request)


async def _tries(calls: Calls, chance: random.Random) -> Any:
    """AddEpisode."""
    request = episode_pb2.AddEpisodeRequest(
        request_id=calls.request_id(), query="q", reward=-1, memory_ids=[chance.choice(MEMORIES)]
    )
    return await calls.episode.AddEpisode(request)


async def _dismisses(calls: Calls, _: random.Random) -> Any:
    """DismissConflicts."""
    request = conflict_pb2.DismissConflictsRequest(
        request_id=calls.request_id(), rule="TEXT", context="so it is said"
    )
    return await calls.conflict.DismissConflicts(request)


async def _reviews_theirs(calls: Calls, chance: random.Random) -> Any:
    """ReviewConflict, of a conflict of others."""
    found = await calls.conflict.ListConflicts(conflict_pb2.ListConflictsRequest(page_size=50))
    one = chance.choice(list(found.conflicts))
    request = conflict_pb2.ReviewConflictRequest(
        request_id=calls.request_id(),
        conflict_id=one.id,
        etag=one.etag,
        decision=conflict_pb2.REVIEW_DECISION_DISMISS,
        context="so it is said",
    )
    return await calls.conflict.ReviewConflict(request)


async def _tags(calls: Calls, chance: random.Random) -> Any:
    """BatchAddMemories: it only adds a tag to what has an id, or says the words again."""
    if chance.random() < 0.5:
        again = type_pb2.Memory(content="I hike.", tags=["more"], facts=[fact("Bob", "IS", "it")])
        return await calls.batch([again], update_existing=True)
    memory = type_pb2.Memory(id="hike", content="I hike.", tags=["more"])
    memory.properties.update({"with": "Bob"})
    return await calls.batch([memory], update_existing=True)


WALK: Mapping[str, Sequence[Attack]] = {
    **ATTACKS,
    "BatchAddMemories": [*ATTACKS["BatchAddMemories"], _tags],
    "ReviewConflict": [*ATTACKS["ReviewConflict"], _reviews_theirs],
    "PutWorkingMemory": [_puts],
    "RemoveWorkingMemory": [_removes],
    "ClearWorkingMemory": [_clears],
    "EndSession": [_ends],
    "AddEpisode": [_tries],
    "DismissConflicts": [_dismisses],
}
ADDS_ALONE = {
    "AppendDialogue": "turns are new memories",
    "AddEpisode": "a new entry",
    "EndSession": "what was said in it stays",
    "DismissConflicts": "no finding of text is there",
    "AcceptClaims": "the owner's or who governs, whatever the key",
    "RefuseClaims": "the owner's or who governs, whatever the key",
    "WithdrawClaims": "one's own claims change no item",
}
"""Which RPCs change nothing that is there, if the guard is taken out, and why."""


AT_THE_DOOR = {"RemoveWorkingMemory", "ClearWorkingMemory"}
"""What `append` does not let in at all."""


def _key(live: World, name: str) -> Calls:
    reach, _, whose = name.partition(" of ")
    principal = "helper" if whose == "the same principal" else f"other, {name}"
    kind = "HUMAN" if whose == "a person" else "AGENT"
    return with_reach(live, reach, principal=principal, kind=kind)


async def _state(calls: Calls) -> tuple[Any, ...]:
    """Return all that default reads say of a space's items, and the lines of its export."""
    listed = await calls.working_memory.ListWorkingMemory(
        working_memory_pb2.ListWorkingMemoryRequest()
    )
    lines = await export_of(calls, space_pb2.EXPORT_FORM_STATE)
    found = await calls.conflict.ListConflicts(conflict_pb2.ListConflictsRequest(page_size=200))
    return (
        await seen(calls),
        frozenset(each.content for each in listed.entries),
        frozenset(line for line in lines if '"kind":"claim"' not in line),
        frozenset((each.id, each.etag) for each in found.conflicts),
    )


def _kept(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """Return whether all that was there is there as it was; more may be."""
    return before[0] == now[0] and all(a <= b for a, b in zip(before[1:], now[1:], strict=True))


async def _furnish(calls: Calls) -> None:
    """Let another agent say something of each kind."""
    await furnish(calls)
    for number in range(3):
        put = working_memory_pb2.PutWorkingMemoryRequest(
            request_id=calls.request_id(), content=f"note {number}", session_id="theirs"
        )
        await calls.working_memory.PutWorkingMemory(put)
    await calls.add("It rains.", id="rain", session_id="theirs")
    await calls.add("It does not rain.", id="dry")
    await calls.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "rain", "dry")


def test_every_write_is_tried() -> None:
    """W7 A new RPC is a line in the walk."""
    assert WALK.keys() == writes()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("method", WALK)
async def test_nothing_that_is_there_changes(live: World, method: str, key: str) -> None:
    """W7 W9 An equal agent's items, and with `append` its principal's own: through no RPC."""
    writer, calls = helper(live), _key(live, key)
    await _furnish(writer)
    before, chance = await _state(writer), random.Random(f"{method} {key}")

    for attack in WALK[method]:
        for _ in range(TRIES if len(WALK[method]) < TRIES else 2):
            await tried(attack, calls, chance)
            live.clock.pass_(DAY)
            now = await _state(writer)
            assert _kept(before, now), attack.__doc__


@pytest.mark.parametrize(
    ("method", "key"),
    [
        (method, key)
        for method in sorted(WALK.keys() - ADDS_ALONE.keys())
        for key in KEYS[:2]
        if key == "own" or method not in AT_THE_DOOR
    ],
)
async def test_without_the_guard_it_does(
    live: World, method: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W7 The walk reaches what the guard keeps."""
    let_reach(monkeypatch)
    writer, calls = helper(live), _key(live, key)
    await _furnish(writer)
    before, chance = await _state(writer), random.Random(f"{method} {key}")

    for attack in (each for each in WALK[method] for _ in range(TRIES)):
        await tried(attack, calls, chance)
        live.clock.pass_(DAY)
        if not _kept(before, await _state(writer)):
            return
    pytest.fail(f"no {method} reached anything")


@pytest.mark.parametrize("seed", range(4))
async def test_no_such_keys_change_it_in_whatever_order(live: World, seed: int) -> None:
    """W7 W9 All of them at once, who also find what the others added."""
    writer, chance = helper(live), random.Random(seed)
    keys = [_key(live, name) for name in KEYS]
    await _furnish(writer)
    before = await _state(writer)
    every: list[Attack] = [each for some in WALK.values() for each in some]

    for _ in range(60):
        attack = chance.choice(every)
        await tried(attack, chance.choice(keys), chance)
        live.clock.pass_(chance.randrange(DAY))
        assert _kept(before, await _state(writer)), attack.__doc__
