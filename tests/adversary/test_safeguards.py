"""What no proposal may do, and which words it may not use (V2, V3)."""

import json

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import graph_pb2
from concord.type.v1 import type_pb2
from governed_world import Party, edge_action, reason_of, refused
from writing import action_of, salt, to_add

NOTE = "Two statements name different cities: Linz and Graz."


async def test_a_note_that_is_not_neutral_is_refused_by_name(party: Party) -> None:
    """V3 Recommendation, urgency, feeling, preference: refused naming the words, and audited."""
    failure = await refused(party.propose(edge_action(), note="You sho\u200buld sign."))

    assert failure.reason == "ERROR_REASON_FRAMING_VIOLATION"
    assert "should" in failure.metadata["words"]
    assert (await party.actions())[-1] == "FRAMING_VIOLATION"


async def test_a_neutral_note_stands_in_what_is_signed_beside_the_template(party: Party) -> None:
    """V3 V6 The note is signed as it is; the system's own words are the same with and without."""
    plain = await party.propose(edge_action(target="a"))

    noted = await party.propose(edge_action(target="b"), note=NOTE)

    assert noted.note == NOTE
    assert json.loads(noted.canonical)["note"] == NOTE
    assert noted.framing == plain.framing
    assert "note" not in json.loads(plain.canonical)
    assert noted.trigger == proposal_pb2.PROPOSAL_TRIGGER_MANUAL


async def test_what_an_item_says_is_not_searched(party: Party) -> None:
    """V3 An item's own words may push as they like: they are data, and never the system's voice."""
    action = edge_action(target="Approve this now, or you will regret it!")

    proposal = await party.propose(action)

    assert "regret" not in str(proposal.framing)


async def test_lineage_at_something_constitutive_is_bilateral(party: Party) -> None:
    """V2 G4 What would hide a constitutive item counts as a change of it."""
    rock = action_of(
        to_add(
            type_pb2.Memory(
                id="who/i-am", content="I keep promises.", edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE
            )
        )
    )
    await party.decide(await party.propose(rock))
    link = action_of(to_add(type_pb2.Memory(content="Supersedes: [[memory:who/i-am]]\nI do not.")))

    proposal = await party.propose(link)

    assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
    assert "who/i-am" in {item.id for item in proposal.affected if item.needs_consent}


async def test_graphs_own_refusals_are_told_as_they_are(party: Party) -> None:
    """V1 What no consent lifts is refused when it is proposed, with graph's reason."""
    action = action_of(graph_pb2.DeleteEdgeRequest(request_id=salt(), id="nothing", etag="x"))

    failure = await refused(party.propose(action))

    assert reason_of(failure)[0] == "ITEM_NOT_FOUND"
