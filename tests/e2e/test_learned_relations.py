"""What many facts show of an undeclared relation is proposed, and never assumed (D4)."""

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import relation_pb2
from dissonance_over_graph import Dissonant, Space, waiting
from google.protobuf.timestamp_pb2 import Timestamp
from governed_world import AGENT, STATUS, Party

PENDING = STATUS.PROPOSAL_STATUS_PENDING
SUBJECTS = 20
STATE = relation_pb2.TEMPORAL_CLASS_STATE


def year(number: int) -> Timestamp:
    """Return the beginning of a year, about."""
    return Timestamp(seconds=(number - 1970) * 31_557_600)


async def tell(home: Space, relation: str, subjects: int) -> None:
    """Give subjects one value each; of the first three, one after the other."""
    for number in range(subjects):
        await home.edge(f"P{number}", relation, f"Q{number}", valid_from=year(2000))
    for number in range(3):
        edge = {"valid_from": year(1990), "valid_until": year(2000)}
        await home.edge(f"P{number}", relation, f"R{number}", **edge)


async def test_one_value_of_nearly_all_subjects_is_proposed(works: Dissonant, party: Party) -> None:
    """D4 V1 Once, with its support; as long as nobody decides nothing is judged by it."""
    home = works.space()
    await tell(home, "HOME", SUBJECTS)
    await home.edge("P19", "HOME", "Elsewhere", valid_from=year(2000))
    first = await home.detect()
    (proposal,) = await waiting(party)
    await home.detect()

    assert first.conflicts == []
    assert first.summary.coverage.abstained == {"UNDECLARED": 1}
    assert proposal.kind == proposal_pb2.PROPOSAL_KIND_DECLARE_RELATION
    assert proposal.trigger == proposal_pb2.PROPOSAL_TRIGGER_PROACTIVE
    assert proposal.note == "19 of 20 subjects have one value of it at a time."
    declared = proposal.action.declare_relation
    assert (declared.name, declared.functional, declared.temporal_class) == ("HOME", True, STATE)
    assert [each.id for each in await waiting(party)] == [proposal.id]
    assert (await party.decide(proposal)).status == STATUS.PROPOSAL_STATUS_EXECUTED
    assert (await home.detect()).summary.findings == {"CONTRADICTION": 1}


async def test_too_few_subjects_or_too_many_values_show_nothing(
    works: Dissonant, party: Party
) -> None:
    """D4 Nor does what is declared, and nothing that was rejected comes back."""
    home = works.space()
    await tell(home, "FEW", SUBJECTS - 1)
    await tell(home, "MANY", SUBJECTS)
    for number in (18, 19):
        await home.edge(f"P{number}", "MANY", "Elsewhere", valid_from=year(2000))
    await home.declare("KNOWN", functional=False)
    await tell(home, "KNOWN", SUBJECTS)
    await home.detect()
    assert not await waiting(party)

    await tell(home, "HOME", SUBJECTS)
    await home.detect()
    (proposal,) = await waiting(party)
    await party.reject(proposal, AGENT)
    await home.edge("P20", "HOME", "Q20")
    await home.detect()
    assert not await waiting(party)
