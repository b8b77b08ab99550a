"""What no proposal may do, and which words it may not use (V2, V3)."""

import pytest
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from governed_world import Party, edge_action, reason_of, refused, salt

DESCRIPTIVE = type_pb2.EDGE_TYPE_DESCRIPTIVE
NEUTRAL = {
    "detected": "Two statements name different cities.",
    "affected": "The home of Ada.",
    "if_approved": "The home is Graz.",
    "if_rejected": "The home stays Linz.",
    "neutral_summary": "The home of Ada: Linz or Graz.",
}


@pytest.mark.parametrize(
    ("field", "words", "found"),
    [
        ("detected", "We should act.", "should"),
        ("affected", "This is URGENT!", "urgent"),
        ("if_approved", "A wonderful agent.", "wonderful"),
        ("if_rejected", "I would like something else.", "i would like"),
        ("neutral_summary", "Das ist dringend nötig.", "dringend"),
        ("neutral_summary", "Ich empfehle die Annahme.", "empfehle"),
        ("detected", "leider widersprüchlich", "leider"),
        ("detected", "ｓｈｏｕｌｄ", "should"),
        ("detected", "sho\u200buld", "should"),
        ("detected", "re\u0301commend", "recommend"),
    ],
)
async def test_words_that_are_not_neutral_are_refused_by_name(
    field: str, words: str, found: str, party: Party
) -> None:
    """V3 Recommendation, urgency, feeling, preference: refused naming the words, and audited."""
    framing = proposal_pb2.Framing(**(NEUTRAL | {field: words}))

    failure = await refused(party.propose(edge_action(), framing=framing))

    assert failure.reason == "ERROR_REASON_FRAMING_VIOLATION"
    assert found in failure.metadata["words"]
    assert (await party.actions())[-1] == "FRAMING_VIOLATION"


async def test_neutral_words_pass_and_are_what_is_signed(party: Party) -> None:
    """V3 Neutral words of the caller's stand in the signed bytes as they are."""
    framing = proposal_pb2.Framing(**NEUTRAL)

    proposal = await party.propose(edge_action(), framing=framing)

    assert proposal.framing == framing
    assert b"Two statements name different cities." in proposal.canonical


@pytest.mark.parametrize("language", ["en", "de"])
async def test_the_template_is_the_same_whatever_was_approved(language: str, party: Party) -> None:
    """V3 Past approvals never influence the wording."""
    first = await party.propose(edge_action(target="a"), language=language)
    await party.decide(first)
    await party.decide(await party.propose(edge_action(target="b")))

    again = await party.propose(edge_action(target="c"), language=language)

    assert first.framing.detected == again.framing.detected
    assert first.framing.if_approved == again.framing.if_approved
    assert first.framing.if_rejected == again.framing.if_rejected


@pytest.mark.parametrize(
    "action",
    [
        edge_action(source="concord:space"),
        edge_action(relation="concord:principal"),
        edge_action(target="CONCORD:principal:eve"),
    ],
)
async def test_principals_are_out_of_reach(
    action: governed_pb2.GovernedAction, party: Party
) -> None:
    """V2 Safeguards, principals and keys are not changed by an ordinary proposal."""
    failure = await refused(party.propose(action))

    assert failure.reason == "ERROR_REASON_SAFEGUARD_VIOLATION"
    assert (await party.actions())[-1] == "SAFEGUARD_VIOLATION"


async def test_nobody_writes_an_undo_by_hand(party: Party) -> None:
    """V8 An undo names the proposal that it undoes: its window cannot be got around."""
    edge = (await party.decide(await party.propose(edge_action()))).affected
    action = governed_pb2.GovernedAction(
        revert_items=governed_pb2.RevertItemsRequest(
            request_id=salt(),
            items=[governed_pb2.RevertedItem(id=edge[0].id, expected_revision=1)],
        )
    )

    failure = await refused(party.propose(action))

    assert failure.reason == "ERROR_REASON_UNDO_IMPOSSIBLE"


async def test_an_action_brings_its_salt(party: Party) -> None:
    """A3 Digests that outlive an action are salted by its own random request id."""
    action = edge_action()
    action.upsert_edge.request_id = "short"

    failure = await refused(party.propose(action))

    assert failure.reason == "ERROR_REASON_SAFEGUARD_VIOLATION"


async def test_lineage_at_something_constitutive_is_bilateral(party: Party) -> None:
    """V2 G4 What would hide a constitutive item counts as a change of it."""
    rock = governed_pb2.GovernedAction(
        add_memory=memory_pb2.AddMemoryRequest(
            request_id=salt(),
            memory=type_pb2.Memory(
                id="who/i-am", content="I keep promises.", edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE
            ),
        )
    )
    await party.decide(await party.propose(rock))
    link = governed_pb2.GovernedAction(
        add_memory=memory_pb2.AddMemoryRequest(
            request_id=salt(),
            memory=type_pb2.Memory(content="Supersedes: [[memory:who/i-am]]\nI do not."),
        )
    )

    proposal = await party.propose(link)

    assert proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
    assert "who/i-am" in {item.id for item in proposal.affected if item.needs_consent}


async def test_graphs_own_refusals_are_told_as_they_are(party: Party) -> None:
    """V1 What no consent lifts is refused when it is proposed, with graph's reason."""
    action = governed_pb2.GovernedAction(
        delete_edge=graph_pb2.DeleteEdgeRequest(request_id=salt(), id="nothing", etag="x")
    )

    failure = await refused(party.propose(action))

    assert reason_of(failure)[0] == "ITEM_NOT_FOUND"
