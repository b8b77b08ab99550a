"""The services of a running system, and their own status reports."""

from typing import TYPE_CHECKING

from concord.graph.v1.conflict_pb2 import Judge
from concord.search.v1.search_pb2 import GetIndexStatusResponse

from concord_client.cli.render.page import plural, word

if TYPE_CHECKING:
    from concord.dissonance.v1.dissonance_pb2 import ListJudgesResponse
    from concord.governance.v1.proposal_pb2 import GetBriefingResponse
    from concord.graph.v1.space_pb2 import CountByTypeResponse

    from concord_client.client import Client

JUDGING = "concord.dissonance.v1.DissonanceService"
DECIDING = "concord.governance.v1.ProposalService"
SERVICES = (
    "concord.graph.v1.GraphService",
    "concord.graph.v1.MemoryService",
    "concord.graph.v1.GovernedChangeService",
    "concord.search.v1.SearchService",
    "concord.search.v1.IndexService",
    JUDGING,
    DECIDING,
    "concord.governance.v1.PrincipalService",
    "concord.governance.v1.AuditService",
)


def not_indexed(counts: "CountByTypeResponse", index: GetIndexStatusResponse) -> int:
    """The number of live memories that the index still has to take, without those set aside."""
    live = counts.memories + counts.raw_dialogues
    return max(0, live - index.indexed_memories - index.parked_changes)


def index_state(index: GetIndexStatusResponse, missing: int) -> str:
    """How far an index is, in words. `missing`: the memories that it still has to take."""
    lag = index.head_seq - index.applied_seq
    known = "up to date" if index.following else "not known whether up to date"
    state = f"{plural(lag, 'change')} behind" if lag else "not up to date" if missing else known
    holds = plural(index.indexed_memories, "memory", "memories")
    unread = f", {plural(index.unread_texts, 'text')} not read yet" if index.unread_texts else ""
    return f"{state}, {holds}" + (f", {missing:,} not indexed yet" if missing else "") + unread


def dead_judges(judges: "ListJudgesResponse | None") -> str:
    """The judges whose last call gave no usable answer, with the reason."""
    from concord.dissonance.v1 import dissonance_pb2

    dead = dissonance_pb2.JUDGE_STATE_DEAD
    found = [each for each in judges.judges if each.state == dead] if judges else []
    return ", ".join(f"{word(Judge, each.judge)}: {each.reason}" for each in found)


TOO_MANY_SPACES = "no more can be made, and all is slower for those there are"


def briefing(client: "Client") -> "GetBriefingResponse":
    """What governance reports at the start of a session; nothing if the key may not ask."""
    from concord.governance.v1.proposal_pb2 import GetBriefingRequest, GetBriefingResponse

    from concord_client.refusal import Refused

    try:
        return client.proposals.GetBriefing(GetBriefingRequest())
    except Refused as refused:
        if refused.reason == "ERROR_REASON_PERMISSION_MISSING":
            return GetBriefingResponse()
        raise


def failing_tasks(client: "Client") -> list[str]:
    """The background tasks that died and have not run well since, as "SERVICE: TASK: CAUSE"."""
    from grpc_health.v1 import health_pb2

    _, call = client.health.Check.with_call(health_pb2.HealthCheckRequest(), timeout=5.0)
    metadata = call.trailing_metadata() or ()
    return [str(value) for key, value in metadata if key == "concord-failing-task"]


def serves(client: "Client", service: str) -> bool:
    """Whether a service reports that it serves."""
    from grpc_health.v1 import health_pb2

    reply = client.health.Check(health_pb2.HealthCheckRequest(service=service), timeout=5.0)
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)
