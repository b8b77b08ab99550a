"""Claims in an erasure by selection: their requests hold words, too (M4, W9)."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator

import pytest
from claim_world import ada, claims, helper, refuse, said, update
from concord.graph.v1 import erasure_pb2, graph_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain import selection_scan
from concord_graph.domain.selection import texts_in
from erasing_people import ZORBLAX, erase, ids, look, of_subject
from graph_world import DAY, Calls, World, struct
from transfers import export_of


async def _claimed(person: Calls, agent: Calls) -> list[int]:
    """Let an agent name somebody in claims on a person's items; return the numbers."""
    memory = await person.add("Roofs are mended.", id="roof")
    memory.properties.update({"customer": ZORBLAX})
    on_memory = await update(agent, memory, "properties")
    await person.put_node("Barn", properties=struct({"of": "Bob"}))
    node = type_pb2.Node(name="Barn", properties=struct({"of": ZORBLAX}))
    on_node = await agent.graph.UpsertNode(
        graph_pb2.UpsertNodeRequest(request_id=agent.request_id(), node=node)
    )
    assert len(said(on_memory)) == len(said(on_node)) == 1
    return [reply.claims[0].number for reply in (on_memory, on_node)]


async def _naming_requests(root: Calls) -> int:
    """Return how many revisions of claims in a full export name somebody in their request."""
    told = [json.loads(line).get("words", {}) for line in await export_of(root)]
    requests = [base64.b64decode(each["request"]) for each in told if "request" in each]
    return sum(ZORBLAX.encode() in each for each in requests)


async def test_requests_of_claims_say_nothing_of_the_forgotten(live: World) -> None:
    """M4 W9 Of open claims and of settled ones; the receipt lists them."""
    person, agent, root = ada(live), helper(live), live.calls()
    _, on_node = await _claimed(person, agent)
    await refuse(person, on_node)

    assert await _naming_requests(root) > 2
    seen = await look(root, of_subject(ZORBLAX), mentions=True)
    receipt = await erase(root, of_subject(ZORBLAX), mentions=True)

    assert len(ids(seen, "MENTION")) == 2
    assert [row["kind"] for row in receipt["erased"]] == ["CLAIM", "CLAIM"]
    assert await _naming_requests(root) == 0
    assert (await person.get("roof")).content == "Roofs are mended."
    assert await claims(person) != []  # that there was one is on record


async def test_without_a_look_into_requests_they_are_kept(
    live: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M4 What the test before would find."""

    def nothing(_: bytes) -> Iterator[str]:
        return iter(())

    monkeypatch.setattr(selection_scan, "texts_in", nothing)
    await _claimed(ada(live), helper(live))

    assert not (await look(live.calls(), of_subject(ZORBLAX), mentions=True)).items


async def test_whoever_claimed_something_is_forgotten_whole(live: World) -> None:
    """M4 W9 A principal's claims are theirs."""
    person, agent, root = ada(live), helper(live), live.calls()
    await _claimed(person, agent)
    own = await agent.add("Mine.\n\nSupersedes: [[memory:roof]]", id="own")
    live.clock.pass_(DAY)

    receipt = await erase(root, erasure_pb2.Selection(principal="helper"))

    kinds = [row["kind"] for row in receipt["erased"]]
    assert kinds.count("CLAIM") == 3
    assert own.id in {row["id"] for row in receipt["erased"]}
    assert (await person.get("roof")).content == "Roofs are mended."


async def test_what_was_taken_from_turns_goes_with_them(home: Calls) -> None:
    """M4 A memory that names a turn as its source is derived from it."""
    (turn,) = await home.append("s", (ZORBLAX, "I moved."))
    source = type_pb2.Source(turn_ids=[turn.id])
    drawn = await home.add("A move.", sources=[source])

    seen = await look(home, of_subject(ZORBLAX))

    assert turn.id in ids(seen, "SAID")
    assert ids(seen, "DERIVED") == {drawn.id}
    receipt = await erase(home, of_subject(ZORBLAX))
    assert receipt["derived_not_made_again"] == 1


def test_every_text_of_a_message_is_found() -> None:
    """M4 Whatever stands before it, and in whatever depth; bytes that are none say nothing."""
    for length in range(1, 200):
        text = "x" * length
        node = type_pb2.Node(name=text, properties=struct({"deep": {"er": [text, 1.5, True]}}))
        request = graph_pb2.UpsertNodeRequest(request_id="r", node=node)
        assert [*texts_in(request.SerializeToString())].count(text) >= 2
    chance = random.Random(0)
    for _ in range(2_000):
        noise = chance.randbytes(chance.randrange(60))
        assert all(each.encode() in noise for each in texts_in(noise))
