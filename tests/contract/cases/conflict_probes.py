"""Attempts at decisions about conflicts that are not the caller's alone."""

import grpc
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_chassis.identity import Caller
from contract_homes import CONFLICTS, Home, Template, disagreement
from contract_live import Answer, Live, dissonant, member
from contract_registry import Refused
from guard_probes import judged

ALONE = "one decided about what defines the agent"
NOT_THE_AGENT = "a person judged a tension for the agent"
CODE = grpc.StatusCode


async def one_decides_alone(live: Live, template: Template) -> str:
    """Dismiss a conflict of a constitutive memory with a descriptive one."""
    answer = await _dismissed(live, template.a, member("a"))
    demanded = Refused(CODE.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
    return judged(answer, demanded, ALONE)


async def a_person_judges_a_tension(live: Live, template: Template) -> str:
    """Dismiss a NUANCE as a person."""
    person = Caller("a", "anna@example.org", member("a").scopes, "HUMAN")
    answer = await _dismissed(live, template.a, person, nuance=True)
    return judged(answer, Refused(CODE.PERMISSION_DENIED, "AGENT_REQUIRED"), NOT_THE_AGENT)


async def _dismissed(live: Live, home: Home, who: Caller, *, nuance: bool = False) -> Answer:
    """Record a conflict of a memory with the creed, or a NUANCE with another, and dismiss it."""
    other = (home.old_id, home.old_etag) if nuance else (home.creed_id, home.creed_etag)
    one = type_pb2.Memory(id="heir")
    reply = await live.tell(who, f"{CONFLICTS}.GetConflict", _of(home.conflict_id))
    one.etag = next(
        side.etag for side in (reply.conflict.first, reply.conflict.second) if side.id == "heir"
    )
    finding = disagreement(one, type_pb2.Memory(id=other[0], etag=other[1]))
    if nuance:
        finding.conflict_class = conflict_pb2.CONFLICT_CLASS_NUANCE
    request = conflict_pb2.RecordConflictsRequest(request_id="found", findings=[finding])
    (found,) = (await live.tell(dissonant("a"), "RecordConflicts", request)).findings
    kept = await live.tell(who, f"{CONFLICTS}.GetConflict", _of(found.conflict_id))
    review = conflict_pb2.ReviewConflictRequest(
        request_id="alone",
        conflict_id=kept.conflict.id,
        etag=kept.conflict.etag,
        decision=conflict_pb2.REVIEW_DECISION_DISMISS,
    )
    return await live.ask(who, f"{CONFLICTS}.ReviewConflict", review)


def _of(conflict_id: str) -> conflict_pb2.GetConflictRequest:
    return conflict_pb2.GetConflictRequest(id=conflict_id)
