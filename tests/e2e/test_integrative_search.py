"""Search by a node's values, through gRPC, over graph, governance, index and judges."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from concord.graph.v1 import conflict_pb2
from concord.search.v1 import search_pb2 as pb
from concord.search.v1.search_pb2_grpc import SearchServiceStub
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.sides import Rules, Side
from concord_dissonance.domain.verdicts import Abstention, Judge, Reason, Verdict
from concord_dissonance.usecases import classify
from concord_search.usecases import check_statements
from dissonance_over_graph import Dissonant, dissonant
from governed_world import SCOPES, Party, World, edge_action

FOUND = type_pb2.LOOKUP_STATUS_FOUND


@pytest.fixture
async def works(live: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Dissonant]:
    """Every service; the judges have time on a busy machine, too."""
    monkeypatch.setattr(check_statements, "BUDGET", 30.0)
    async with dissonant(live, follow=False) as running:
        yield running


async def asked(
    works: Dissonant, query: str, token: str = "", **fields: object
) -> pb.IntegrativeSearchResponse:
    """Search from the agent's values."""
    assert works.search is not None
    channel = works.search.channel(Caller("one", "agent", SCOPES | {"search:read"}, "AGENT"))
    request = pb.IntegrativeSearchRequest(query=query, **fields)  # type: ignore[arg-type] # by name
    request.context_node = request.context_node or "agent"
    request.consistency.at_least_as_fresh = token
    return await SearchServiceStub(channel).IntegrativeSearch(request)


async def decided(party: Party, *names: str, **fields: object) -> str:
    """Make a constitutive edge with both consents; its id."""
    await party.decide(await party.propose(edge_action(*names, **fields)))  # type: ignore[arg-type] # by name
    edge = await party.edge(*names)
    assert edge is not None
    return edge.id


async def fresh(works: Dissonant, content: str, **fields: object) -> str:
    """Add a memory; the token of the write, which comes after all before."""
    return (await works.space().added(content, **fields)).token


async def test_values_that_are_edges_alone_are_found_and_come_first(
    works: Dissonant, party: Party
) -> None:
    """S6 The node's statements apart, a constitutive edge as a result, each with its reason."""
    edge_id = await decided(party, "agent", "VALUES", "honesty")
    token = await fresh(works, "We talked about honesty and the weather", id="talk")

    reply = await asked(works, "what about honesty", token)
    nowhere = await asked(works, "what about honesty", token, context_node="nobody")

    (said,) = reply.constitutive_statements
    assert (reply.context_status, said.edge_id, said.statement) == (
        FOUND, edge_id, "agent VALUES honesty",
    )  # fmt: skip
    first, second = reply.results
    assert (first.edge.id, first.constitutive_factor, first.relevance_score) == (edge_id, 2, 1)
    assert second.memory.id == "talk"
    assert "agent VALUES honesty" in second.explanation.relevance_reason
    assert "constitutive itself" in first.explanation.relevance_reason
    for each in reply.results:
        product = each.text_relevance * each.constitutive_factor * each.relevance_score
        assert each.ief_score == product
        parts = (signal.contribution for signal in each.explanation.signals)
        assert each.composite_score == pytest.approx(sum(parts))
    assert nowhere.context_status == type_pb2.LOOKUP_STATUS_NOT_FOUND
    assert [each.edge.id for each in nowhere.results[:1]] == [edge_id]
    assert nowhere.check.status == pb.STATEMENT_CHECK_STATUS_NOTHING_TO_CHECK


async def test_a_filter_of_a_node_leaves_its_own_edges_and_memories(
    works: Dissonant, party: Party
) -> None:
    """S2 S6 Of constitutive edges those at the node, of memories those that say something of it."""
    edge_id = await decided(party, "agent", "VALUES", "honesty")
    await decided(party, "agent", "VALUES", "honesty of others")
    fact = type_pb2.Fact(subject="Ada", relation="PRAISES", object="honesty")
    await fresh(works, "Ada praises honesty", id="praise", facts=[fact])
    token = await fresh(works, "We talked about honesty", id="talk")

    reply = await asked(works, "honesty", token, filter=pb.SearchFilter(node="honesty"))

    assert {each.edge.id or each.memory.id for each in reply.results} == {edge_id, "praise"}


async def test_a_result_that_clashes_with_a_value_says_so(works: Dissonant, party: Party) -> None:
    """S6 D2 The first results are compared with the statements, and nothing is recorded."""
    await works.space().declare("LIVES_IN")
    await decided(party, "Ada", "LIVES_IN", "Berlin")
    fact = type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Paris")
    token = await fresh(works, "Ada lives in Paris", id="paris", facts=[fact])

    reply = await asked(works, "where does Ada live", token, context_node="Ada")

    (result,) = [each for each in reply.results if each.memory.id == "paris"]
    assert result.conflict_flag
    assert [each.statement for each in result.clashes] == ["Ada LIVES_IN Berlin"]
    assert result.clashes[0].conflict_class == conflict_pb2.CONFLICT_CLASS_CONTRADICTION
    assert reply.check.status == pb.STATEMENT_CHECK_STATUS_COMPLETE
    assert reply.check.pair_count == reply.check.judged_pair_count == 1
    assert not result.clashes[0].is_text_finding
    assert not (await works.space().listed()).conflicts


@pytest.mark.parametrize("change", [{"judge": Judge.LEXICAL}, {"reason": Reason.SUCCEEDED}])
async def test_a_clash_that_is_no_typed_finding_is_listed_and_no_flag(
    works: Dissonant, party: Party, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    """S6 D3 D4 What was merely found in texts, or what a check would not record, moves nothing,
    here as among recorded conflicts."""
    await works.space().declare("LIVES_IN")
    await decided(party, "Ada", "LIVES_IN", "Berlin")
    fact = type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Paris")
    token = await fresh(works, "Ada lives in Paris", id="paris", facts=[fact])

    def changed(one: Side, other: Side, rules: Rules) -> Verdict | Abstention:
        said = judge(one, other, rules)
        return replace(said, **change) if isinstance(said, Verdict) else said

    monkeypatch.setattr(classify, "judge", changed)

    reply = await asked(works, "where does Ada live", token, context_node="Ada")

    (result,) = [each for each in reply.results if each.memory.id == "paris"]
    assert [(each.statement, each.is_text_finding) for each in result.clashes] == [
        ("Ada LIVES_IN Berlin", "judge" in change)
    ]
    assert not result.conflict_flag


async def test_what_no_judge_saw_is_said_to_be_unjudged(live: World, party: Party) -> None:
    """S6 Without dissonance there are results, and the reply does not call them free of clashes."""
    await decided(party, "agent", "VALUES", "honesty")
    async with dissonant(live, follow=False, judges=False) as works:
        token = await fresh(works, "Honesty is tiring", id="tired")

        reply = await asked(works, "honesty", token)

    assert {each.memory.id or each.edge.id for each in reply.results} >= {"tired"}
    assert reply.check.status in {
        pb.STATEMENT_CHECK_STATUS_UNAVAILABLE,
        pb.STATEMENT_CHECK_STATUS_TIMED_OUT,  # while the channel still tries to connect
    }
    assert reply.check.unjudged_pair_count == reply.check.pair_count == 1


async def test_pairs_that_were_judged_in_time_count(
    works: Dissonant, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S6 The best result's clash is shown, and only the pair after it is said to be unjudged."""
    await works.space().declare("LIVES_IN")
    await decided(party, "Ada", "LIVES_IN", "Berlin")
    fact = type_pb2.Fact(subject="Ada", relation="LIVES_IN", object="Paris")
    await fresh(works, "Ada lives in Paris", id="paris", facts=[fact])
    token = await fresh(works, "Ada likes the river", id="river")
    monkeypatch.setattr(check_statements, "BUDGET", 2.0)
    seen: list[Side] = []

    def slow_after_the_first(one: Side, other: Side, rules: Rules) -> Verdict | Abstention:
        seen.append(one)
        if len(seen) > 1:
            time.sleep(3.0)
        return judge(one, other, rules)

    monkeypatch.setattr(classify, "judge", slow_after_the_first)

    reply = await asked(works, "does Ada live in Paris", token, context_node="Ada")

    flagged = {each.memory.id: each.conflict_flag for each in reply.results if each.memory.id}
    assert flagged == {"paris": True, "river": False}
    assert reply.check.status == pb.STATEMENT_CHECK_STATUS_TIMED_OUT
    assert (reply.check.judged_pair_count, reply.check.unjudged_pair_count) == (1, 1)


async def test_a_value_that_both_took_back_is_found_no_more(works: Dissonant, party: Party) -> None:
    """S6 G4 The index follows a demotion, though edges have no digest there."""
    edge_id = await decided(party, "agent", "VALUES", "honesty")
    token = await fresh(works, "Honesty is tiring", id="tired")
    before = await asked(works, "honesty", token)
    await decided(party, "agent", "VALUES", "honesty", edge_type=type_pb2.EDGE_TYPE_DESCRIPTIVE)

    after = await asked(works, "honesty", await fresh(works, "Later", id="later"))

    assert edge_id in {each.edge.id for each in before.results}
    assert edge_id not in {each.edge.id for each in after.results}
