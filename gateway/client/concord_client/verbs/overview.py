"""The verbs that weigh or sum up: integrative search and its votes, health, and the briefing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import claim_pb2
from concord.search.v1 import feedback_pb2, health_pb2, search_pb2
from concord.type.v1 import type_pb2

from concord_client.verbs import overview_things as things
from concord_client.verbs import read_overview
from concord_client.verbs.arguments import instant, value_of
from concord_client.verbs.overview_things import HealthStatus
from concord_client.verbs.steps import Step, Steps

_HELPFULNESS = {
    None: feedback_pb2.HELPFULNESS_UNSPECIFIED,
    True: feedback_pb2.HELPFULNESS_HELPFUL,
    False: feedback_pb2.HELPFULNESS_UNHELPFUL,
}


def integrative(
    query: str,
    node: str,
    *,
    limit: int = 10,
    include_superseded: bool = False,
    use_models: bool = False,
    as_of: datetime | None = None,
    session_id: str = "",
) -> Step[things.IntegrativeAnswer]:
    """Find what answers, ranked by its text, by what is constitutive, and by recency.

    `node`: the node, by name or id, whose constitutive statements count. `limit`: 1 to 50.
    `use_models`: models may judge what clashes with those statements, if there are some.
    """
    request = search_pb2.IntegrativeSearchRequest(
        query=query,
        context_node=node,
        limit=limit,
        include_superseded=include_superseded,
        use_models=use_models,
        as_of=instant(as_of),
        session_id=session_id,
    )
    return Step(request, read_overview.integrative)


def feedback(query_id: str, *, helpful: bool | None = None, reason: str = "") -> Step[things.Vote]:
    """Say whether the results of an integrative search helped; None is kept and not counted.

    `query_id`: as `integrative` returned it, for 30 days. One vote a query counts.
    """
    request = feedback_pb2.SubmitFeedbackRequest(
        query_id=query_id, helpfulness=_HELPFULNESS[helpful], reason=reason
    )

    def read(reply: feedback_pb2.SubmitFeedbackResponse) -> things.Vote:
        return things.Vote(reply.constitutive_weight, reply.new_vote_count)

    return Step(request, read)


def health(
    *, statuses: Sequence[HealthStatus] = (), limit: int = 50, as_of: datetime | None = None
) -> Steps[things.Health]:
    """Which memories are at risk, stale or connected with nothing. Nothing counts as read.

    `statuses`: which to list, none for all but HEALTHY. `limit`: 1 to 1,000 memories listed.
    """
    request = health_pb2.AssessHealthRequest(
        statuses=[value_of(type_pb2.HealthStatus, each, "statuses") for each in statuses],
        page_size=limit,
        as_of=instant(as_of),
    )
    memories: list[things.AssessedMemory] = []
    counts: Counter[str] = Counter()
    while True:  # a reply covers at most 10,000 memories: go on until the list is full
        reply: health_pb2.AssessHealthResponse = yield Step(request, lambda message: message)
        memories += [read_overview.assessed(each) for each in reply.memories]
        counts.update(read_overview.counts(reply))
        request.page_token, request.page_size = reply.next_page_token, limit - len(memories)
        if not request.page_token or len(memories) >= limit:
            return things.Health(tuple(memories), dict(counts), not request.page_token)


def briefing() -> Steps[things.Briefing]:
    """What waits for a consent or a review, which conflicts are open, and who claims."""
    asked, who = proposal_pb2.GetBriefingRequest(), claim_pb2.ListClaimantsRequest()
    waiting: things.Briefing = yield Step(asked, read_overview.briefing)
    claimants: tuple[tuple[str, int], ...] = yield Step(who, read_overview.claimants)
    return replace(waiting, claimants=claimants)
