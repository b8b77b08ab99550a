"""Who settles claims, and what that does (W9)."""

from __future__ import annotations

import json

import pytest
from claim_world import (
    CLAIMED,
    WRITES,
    accept,
    ada,
    add,
    claims,
    helper,
    refuse,
    said,
    tool,
    update,
    withdraw,
)
from concord.graph.v1 import (
    claim_pb2,
    conflict_pb2,
    governed_pb2,
    graph_pb2,
    memory_pb2,
    space_pb2,
)
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import SUPERSEDES, Calls, World, fact, reason, refused, struct
from transfers import export_of, import_into

ACCEPTED, REFUSED, WITHDRAWN = (
    type_pb2.CLAIM_STATE_ACCEPTED,
    type_pb2.CLAIM_STATE_REFUSED,
    type_pb2.CLAIM_STATE_WITHDRAWN,
)
ABOVE = "ERROR_REASON_STANDS_ABOVE"


async def _replaced(live: World) -> tuple[Calls, Calls, int]:
    """Return a person, an agent, and the number of the agent's claim on the memory "tea"."""
    person, agent = ada(live), helper(live)
    await person.add("I drink tea.", id="tea")
    reply = await add(agent, "She drinks coffee.\n\nSupersedes: [[memory:tea]]", id="coffee")
    return person, agent, reply.claims[0].number


async def test_the_owner_accepts_by_one_word(live: World) -> None:
    """W9 The lineage acts from then on; the reply says what gave way; the claim says by whom."""
    person, _, number = await _replaced(live)

    reply = await accept(person, number)

    (claim,) = reply.claims
    assert (claim.state, claim.settled_by, claim.owner) == (ACCEPTED, "ada", "ada")
    assert claim.HasField("settle_time")
    assert (claim.item_statement, claim.by_statement[:10]) == ("I drink tea.", "She drinks")
    assert [each.id for each in reply.gave_way.items] == ["tea"]
    tea = await person.get("tea")
    assert tea.supersession.is_superseded
    assert list(tea.supersession.head_ids) == ["coffee"]
    assert not tea.claims
    assert await person.listed() == ["coffee"]


async def test_a_refused_claim_never_acts_and_is_marked_no_more(live: World) -> None:
    """W9 Both stay; the memory that claimed, too."""
    person, agent, number = await _replaced(live)

    (claim,) = (await refuse(person, number)).claims
    again = await agent.relate(SUPERSEDES, "coffee", "tea")

    assert (claim.state, claim.settled_by) == (REFUSED, "ada")
    assert said(again) == []
    assert again.edge.claimed
    for memory in (await person.get("tea"), await person.get("coffee")):
        assert not memory.supersession.is_superseded
        assert memory.claim_count == 0
    assert await reason(accept(person, number)) == "ERROR_REASON_ITEM_STATE"


async def test_the_claimant_withdraws_its_own_alone(live: World) -> None:
    """W9 Nobody else does, and the claimant accepts nothing."""
    person, agent, number = await _replaced(live)

    assert await reason(withdraw(person, number)) == ABOVE
    assert await reason(accept(agent, number)) == ABOVE
    assert await reason(refuse(agent, number)) == ABOVE
    (claim,) = (await withdraw(agent, number)).claims
    assert claim.state == WITHDRAWN
    assert not (await person.get("tea")).supersession.is_superseded


@pytest.mark.parametrize(
    ("kind", "governs", "may"),
    [("HUMAN", True, True), ("HUMAN", False, False), ("AGENT", True, False)],
)
async def test_who_governs_with_a_kind_as_high_may(
    live: World, kind: str, governs: bool, may: bool
) -> None:
    """W9 `governed:write` and a kind at least as high as the item's."""
    _, _, number = await _replaced(live)
    scopes = WRITES | {"governed:write"} if governs else WRITES
    other = live.calls(principal="bob", scopes=scopes, kind=kind)

    if may:
        assert (await accept(other, number)).claims[0].settled_by == "bob"
    else:
        assert await reason(accept(other, number)) == ABOVE


async def test_the_owners_own_write_that_does_the_same_settles_it(live: World) -> None:
    """W9 By lineage; by forgetting what somebody would have forgotten."""
    person, agent, _ = await _replaced(live)
    milk = await person.add("I drink milk.", id="milk")
    forget = memory_pb2.ForgetMemoryRequest(request_id="f", id="milk", etag=milk.etag)
    await agent.memory.ForgetMemory(forget)
    assert len(await claims(person)) == 2

    await person.relate(SUPERSEDES, "coffee", "tea")
    await person.forget(milk)

    assert await claims(person) == []
    assert {claim.settled_by for claim in await claims(person, ACCEPTED)} == {"ada"}
    assert (await person.get("tea")).supersession.is_superseded


async def test_all_of_one_claimant_are_settled_after_a_look(live: World) -> None:
    """W9 Up to the newest that was seen; a flood of one claimant hides nobody else's."""
    person, agent, honest = ada(live), helper(live), helper(live, principal="honest")
    for number in range(6):
        await person.add(f"Fact {number}", id=f"f{number}")
    mine = await add(honest, "Supersedes: [[memory:f0]]", id="h")
    for number in range(6):
        await add(agent, f"{number} Supersedes: [[memory:f0]]", id=f"n{number}")
    listed = await person.claim.ListClaimants(claim_pb2.ListClaimantsRequest(claims_each=2))
    seen = listed.claimants[0].claims[0].number
    await add(agent, "Supersedes: [[memory:f5]]", id="late")

    assert [(c.claimant, c.open_count, len(c.claims)) for c in listed.claimants] == [
        ("helper", 6, 2),
        ("honest", 1, 1),
    ]
    shown = await person.get("f0")
    assert shown.claim_count == 7
    assert {mark.claimant for mark in shown.claims} == {"helper", "honest"}
    reply = await refuse(person, claimant="helper", up_to_number=seen)
    assert len(reply.claims) == 6
    assert {claim.by_id for claim in await claims(person)} == {"h", "late"}
    assert await reason(refuse(person, claimant="helper")) == "ERROR_REASON_FIELD_INVALID"
    assert mine.claims[0].number < seen


async def test_two_owners_both_accept_what_would_end_both_values(live: World) -> None:
    """W9 T2 One alone does not decide about the other's."""
    person, other, agent = ada(live), ada(live, principal="bob", governs=False), helper(live)
    await person.declare("LIVES_IN")
    await person.put_edge("Ada", "LIVES_IN", "Berlin", valid_from=1)
    await other.put_edge("Ada", "LIVES_IN", "Bonn", valid_from=1)
    its = await agent.put_edge("Ada", "LIVES_IN", "Paris")
    first, second = sorted(await claims(person), key=lambda each: each.owner)
    assert (first.owner, second.owner) == ("ada", "bob")

    await accept(person, first.number)
    assert (await person.get_edge(its.id)).claimed
    await accept(other, second.number)
    assert not (await person.get_edge(its.id)).claimed


async def test_lists_pages_and_filters(live: World) -> None:
    """W9 By state, claimant and item; newest first, in pages."""
    person, agent, number = await _replaced(live)
    await person.add("I drink milk.", id="milk")
    await add(tool(live), "Supersedes: [[memory:milk]]", id="x")

    assert [claim.claimant for claim in await claims(person)] == ["cron", "helper"]
    assert [claim.number for claim in await claims(person, claimant="helper")] == [number]
    assert [claim.claimant for claim in await claims(person, item_id="milk")] == ["cron"]
    assert [claim.claimant for claim in await claims(person, item_id="coffee")] == ["helper"]
    assert await claims(agent, WITHDRAWN) == []
    page = await person.claim.ListClaims(claim_pb2.ListClaimsRequest(page_size=1))
    rest = await person.claim.ListClaims(
        claim_pb2.ListClaimsRequest(page_size=1, page_token=page.next_page_token)
    )
    assert (page.total, len(page.claims), rest.claims[0].number) == (2, 1, number)
    assert rest.next_page_token == ""


async def test_settling_again_by_the_same_request_is_answered_alike(live: World) -> None:
    """W9 G8 The request id of a settlement is kept as of any write."""
    person, _, number = await _replaced(live)
    named = claim_pb2.ClaimsNamed(ids=[str(number)])
    request = claim_pb2.AcceptClaimsRequest(request_id="once", named=named)

    first, again = [await person.claim.AcceptClaims(request) for _ in range(2)]

    assert first.claims == again.claims
    assert first.gave_way == again.gave_way
    assert await reason(accept(person, 999)) == "ERROR_REASON_ITEM_NOT_FOUND"


async def test_a_claim_of_a_request_is_answered_alike_again(live: World) -> None:
    """W9 G8 The same request id, the same claims."""
    person, agent = ada(live), helper(live)
    milk = await person.add("I drink milk.", id="milk")
    request = memory_pb2.ForgetMemoryRequest(request_id="once", id="milk", etag=milk.etag)

    first, again = [await agent.memory.ForgetMemory(request) for _ in range(2)]

    assert first.outcome == CLAIMED
    assert first.claims == again.claims
    assert len(await claims(person)) == 1


async def test_a_claimant_that_takes_its_side_back_withdraws(live: World) -> None:
    """W9 Its memory forgotten, or the lineage deleted."""
    person, agent, _ = await _replaced(live)
    await person.add("I drink milk.", id="milk")
    await agent.add("She drinks rum.", id="rum")
    edge = (await agent.relate(SUPERSEDES, "rum", "milk")).edge

    await agent.forget(await agent.get("coffee"))
    await agent.delete_edge(edge)

    assert await claims(person) == []
    assert len(await claims(person, WITHDRAWN)) == 2


async def test_erasing_the_item_erases_what_a_claim_asked_for(live: World) -> None:
    """W9 M4 Its words are in no revision, and nothing is open."""
    person, agent = ada(live), helper(live)
    memory = await person.add("I drink milk.", id="milk", facts=[fact("Ada", "DRINKS", "milk")])
    memory.valid_until.FromSeconds(2_000_000_000)
    await update(agent, memory, "valid_until")

    await person.erase(await person.get("milk"))

    assert await claims(person) == []
    lines = await person.export(form=space_pb2.EXPORT_FORM_FULL)
    bodies = [line for line in lines if '"claimant"' in line]
    assert bodies
    assert not any(json.loads(line).get("words") for line in bodies)


async def test_equals_claim_where_the_space_says_so(live: World) -> None:
    """W9 `claims_among_equals`: between agents, and between people; a space is born without."""
    one, two = helper(live), helper(live, principal="other")
    admin = live.calls(principal="root", kind="HUMAN")
    await one.add("first", id="a")
    await one.add("second", id="b")
    assert said(await add(two, "Supersedes: [[memory:a]]", id="x")) == []

    settings = claim_pb2.ClaimSettings(claims_among_equals=True)
    await admin.claim.SetClaimSettings(claim_pb2.SetClaimSettingsRequest(settings=settings))

    assert said(await add(two, "Supersedes: [[memory:b]]", id="y")) == [("SUPERSEDE", "b", "y")]
    assert said(await add(one, "Supersedes: [[memory:b]]", id="z")) == []
    read = await one.claim.GetClaimSettings(claim_pb2.GetClaimSettingsRequest())
    assert read.settings == settings
    (claim,) = await claims(one)
    assert await reason(accept(two, claim.number)) == ABOVE
    await accept(one, claim.number)


async def test_a_governed_change_of_a_lower_proposer_is_refused(live: World) -> None:
    """W9 V1 Without a grant its proposer's origin counts: an agent merges no person's memory."""
    person, agent = ada(live), helper(live)
    kept, merged = await agent.add("She drinks tea."), await person.add("She drinks tea!")
    merge = governed_pb2.MergeItemsRequest(
        request_id="m",
        kept_id=kept.id,
        kept_etag=kept.etag,
        merged_id=merged.id,
        merged_etag=merged.etag,
    )
    etags = [governed_pb2.ItemEtag(id=each.id, etag=each.etag) for each in (kept, merged)]
    seen = governed_pb2.ApplyGovernedChangeRequest(
        request_id="d1", action=governed_pb2.GovernedAction(merge_items=merge), etags=etags
    )
    told = await refused(live.calls().governed.ApplyGovernedChange(seen))

    assert (told.reason, dict(told.metadata)) == (ABOVE, {"item_id": merged.id})
    assert not (await person.get(merged.id)).supersession.is_superseded


async def test_a_conflict_ends_with_its_side(live: World) -> None:
    """W9 D5 A side that is forgotten puts the other one no longer at risk."""
    agent = helper(live)
    for word in "ab":
        await agent.add(word, id=word)
    await agent.relate(type_pb2.LINEAGE_RELATION_CONTRADICTS, "a", "b")
    assert (await agent.get("b")).conflict_ids

    await agent.forget(await agent.get("a"))

    assert not (await agent.get("b")).conflict_ids
    listed = await agent.conflict.ListConflicts(conflict_pb2.ListConflictsRequest())
    (conflict,) = listed.conflicts
    assert conflict.state == conflict_pb2.CONFLICT_STATE_DISMISSED


async def test_a_copy_of_a_space_claims_the_same(live: World) -> None:
    """W9 G15 A full export has the claims, open and settled; its lineage does nothing either."""
    person, agent, number = await _replaced(live)
    milk = await person.add("I drink milk.", id="milk")
    await agent.memory.ForgetMemory(
        memory_pb2.ForgetMemoryRequest(request_id="f", id="milk", etag=milk.etag)
    )
    await add(agent, "Supersedes: [[memory:milk]]", id="rum")
    await refuse(person, max(claim.number for claim in await claims(person)))

    other = live.calls("other", principal="ada", kind="HUMAN", origin="HUMAN")
    await import_into(other, await export_of(person))

    for state in (type_pb2.CLAIM_STATE_OPEN, REFUSED):
        assert await claims(other, state) == await claims(person, state)
    said_alike = [await export_of(calls, space_pb2.EXPORT_FORM_STATE) for calls in (person, other)]
    assert said_alike[0] == said_alike[1]
    assert sum('"kind":"claim"' in line for line in said_alike[0]) == 3
    copied = await other.get("tea")
    assert not copied.supersession.is_superseded
    assert copied.claims == (await person.get("tea")).claims
    await accept(other, number)
    assert (await other.get("tea")).supersession.is_superseded
    assert await export_of(other) != await export_of(person)


async def test_an_accepted_claim_is_undone_like_any_change(live: World) -> None:
    """W9 V8 The record says what accepting changed: the lineage, and the claim."""
    person, _, number = await _replaced(live)
    await accept(person, number)

    made = [each for each in await person.operations() if each.method == "AcceptClaims"]

    kinds = {type_pb2.ItemKind.Name(each.item_kind) for each in made}
    assert kinds == {"ITEM_KIND_EDGE", "ITEM_KIND_CLAIM"}
    assert {each.principal for each in made} == {"ada"}


async def test_who_settles_a_claim_sees_what_it_asks_for(live: World) -> None:
    """W9 What its request changes, and to what: nobody accepts unseen. Erased with its item."""
    person, agent = ada(live), helper(live)
    memory = await person.add("The code is 4711.", id="code", tags=["home"])
    memory.domain, memory.importance = "trash", type_pb2.IMPORTANCE_LOW
    await update(agent, memory, "domain", "importance", "valid_until")
    node = await person.put_node("Garage", properties=struct({"code": "4711"}))
    node.name = "Evil name"
    request = graph_pb2.UpdateNodeRequest(
        request_id="r", node=node, update_mask=FieldMask(paths=["name"])
    )
    await agent.graph.UpdateNode(request)
    await agent.add("No.\n\nSupersedes: [[memory:code]]")

    asked = [each.asks for each in reversed(await claims(person))]

    assert [json.loads(each) if each else None for each in asked] == [
        {
            "memory": {"id": "code", "domain": "trash", "importance": "IMPORTANCE_LOW"},
            "update_mask": ["domain", "importance", "valid_until"],
        },
        {"node": {"id": node.id, "name": "Evil name"}, "update_mask": ["name"]},
        None,
    ]
    await person.erase(await person.get("code"))
    assert all("trash" not in each.asks for each in await claims(person))
