"""Votes on integrative searches, through gRPC, over the real graph and index (spec S7)."""

import json
from typing import TYPE_CHECKING

import grpc
import pytest
from concord.graph.v1 import record_pb2
from concord.search.v1 import feedback_pb2 as pb
from concord.search.v1 import search_pb2
from concord.search.v1.feedback_pb2_grpc import FeedbackServiceStub
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import Caller
from concord_search.adapters.graph_feed.records import RecordsClient
from concord_search.bootstrap import id_of_time
from concord_search.domain.errors import QueryUnknown
from concord_search.domain.instants import DAY
from concord_search.ports.records import RankedQuery
from search_over_graph import SCOPES, START, TwoServers

if TYPE_CHECKING:  # the name exists for type checkers only
    from concord.search.v1.feedback_pb2_grpc import FeedbackServiceAsyncStub

HELPFUL, UNHELPFUL = pb.HELPFULNESS_HELPFUL, pb.HELPFULNESS_UNHELPFUL
UNSAID = pb.HELPFULNESS_UNSPECIFIED
VOTER = SCOPES | {"feedback:write"}


class Voters:
    """Principals of a space, who vote on queries that a test makes up."""

    def __init__(self, running: TwoServers) -> None:
        self.running = running
        self.made = 0

    def stub(self, who: str = "ada") -> "FeedbackServiceAsyncStub":
        channel = self.running.search.channel(Caller("default", who, VOTER, "HUMAN"))
        stub: FeedbackServiceAsyncStub = FeedbackServiceStub(channel)
        return stub

    async def vote(
        self, who: str, helpfulness: "pb.Helpfulness.ValueType", *, first: bool
    ) -> pb.SubmitFeedbackResponse:
        """Votes on a query of its own, ranked with the weight 2."""
        self.made += 1
        query_id = f"z{self.made}"
        body = {"id": query_id, "text": "who", "weight": 2.0, "constitutive_first": first}
        name = record_pb2.RecordName(kind="ranked_query", key=query_id)
        record = record_pb2.Record(name=name, body=json.dumps(body))
        await self.running.records().PutRecords(record_pb2.PutRecordsRequest(records=[record]))
        request = pb.SubmitFeedbackRequest(
            request_id=query_id, query_id=query_id, helpfulness=helpfulness
        )
        return await self.stub(who).SubmitFeedback(request)

    async def votes(self, who: str, count: int) -> float:
        """Votes that replies which began with a value helped, and others did not."""
        weight = 0.0
        for number in range(count):
            first = number % 2 == 0
            said = HELPFUL if first else UNHELPFUL
            weight = (await self.vote(who, said, first=first)).constitutive_weight
        return weight

    async def recalibrate(self, action: str) -> pb.RecalibrateResponse:
        name = f"RECALIBRATE_ACTION_{action}"
        request = pb.RecalibrateRequest(action=pb.RecalibrateAction.Value(name))
        return await self.stub().Recalibrate(request)

    async def calibration(self) -> pb.GetCalibrationResponse:
        return await self.stub().GetCalibration(pb.GetCalibrationRequest())


@pytest.fixture
def voters(running: TwoServers) -> Voters:
    """A space without votes."""
    return Voters(running)


async def search(running: TwoServers, **said: object) -> search_pb2.IntegrativeSearchResponse:
    """Searches from a node of the default space."""
    request = search_pb2.IntegrativeSearchRequest(
        query="what about the dog",
        context_node="Ada",
        **said,  # type: ignore[arg-type] # by name
    )
    return await running.searching().IntegrativeSearch(request)


async def reason(call: object) -> str:
    """The reason with which a call is refused."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call  # type: ignore[misc] # a call of a stub
    return from_rpc_error(error.value).reason


async def test_a_search_asks_for_feedback_and_takes_one_vote_a_principal(voters: Voters) -> None:
    """S7 The same again changes nothing; another one and an unknown query are refused."""
    token = await voters.running.add(type_pb2.Memory(id="dog", content="The dog is called Rex."))
    fresh = type_pb2.Consistency(at_least_as_fresh=token)
    reply = await search(voters.running, consistency=fresh)
    query_id = reply.feedback_request.query_id
    vote = pb.SubmitFeedbackRequest(request_id="r", query_id=query_id, helpfulness=HELPFUL)

    first = await voters.stub().SubmitFeedback(vote)
    again = await voters.stub().SubmitFeedback(vote)
    other = await voters.stub("bob").SubmitFeedback(vote)

    assert (first.new_vote_count, again.new_vote_count, other.new_vote_count) == (1, 1, 2)
    vote.helpfulness = UNHELPFUL
    assert await reason(voters.stub().SubmitFeedback(vote)) == "ERROR_REASON_ITEM_EXISTS"
    vote.query_id = "nobody"
    assert await reason(voters.stub().SubmitFeedback(vote)) == "ERROR_REASON_ITEM_NOT_FOUND"
    assert not (await search(voters.running, peek=True)).HasField("feedback_request")
    unsaid = await voters.vote("ada", UNSAID, first=True)
    assert unsaid.new_vote_count == 2


async def test_fifty_votes_of_two_move_the_weight_once_and_it_can_be_taken_back(
    voters: Voters,
) -> None:
    """S7 By .25 at most, logged with old, new and evidence, in force for searches, reversible."""
    assert await voters.votes("ada", 25) == 2
    assert await voters.votes("bob", 24) == 2
    assert (await voters.vote("bob", HELPFUL, first=True)).constitutive_weight == 2.25

    found = await voters.calibration()
    (move,) = found.calibration.moves
    assert (move.principal, move.old_weight, move.new_weight) == ("search", 2, 2.25)
    assert "constitutive-first replies helped" in move.evidence
    assert found.calibration.new_vote_count == 0
    assert (await search(voters.running)).constitutive_weight == 2.25
    back = await voters.recalibrate("REVERT")
    assert (back.moved, back.old_weight, back.new_weight) == (True, 2.25, 2)
    assert (await voters.calibration()).constitutive_weight == 2
    assert len((await voters.calibration()).calibration.moves) == 2


async def test_one_voter_moves_the_weight_by_hand_alone(voters: Voters) -> None:
    """S7 However many votes; a dry run shows what would change, and changes nothing."""
    assert await voters.votes("ada", 52) == 2

    shown = await voters.recalibrate("DRY_RUN")
    assert (shown.moved, shown.old_weight, shown.new_weight) == (False, 2, 2.25)
    assert (await voters.calibration()).constitutive_weight == 2
    assert (await voters.recalibrate("APPLY")).moved
    assert (await voters.calibration()).constitutive_weight == 2.25


async def test_a_query_nobody_voted_on_is_forgotten_after_thirty_days(running: TwoServers) -> None:
    """S7 Ids sort by time; the next query takes the old ones away."""
    now = START
    records = RecordsClient(running.graph.address, running.graph.issuer, lambda: now)
    ids = []
    for days in (0, 1, 30):
        now += days * DAY
        ids.append(id_of_time(now))
        await records.put_query("default", RankedQuery(ids[-1], "who", 2.0, False))

    with pytest.raises(QueryUnknown):
        await records.vote("default", ids[0], "ada", True, "")
    for query_id in ids[1:]:
        await records.vote("default", query_id, "ada", True, "")
    await records.close()
