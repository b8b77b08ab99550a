"""Attempts at decisions about conflicts that are not the caller's alone."""

import grpc
from concord.graph.v1 import conflict_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from contract_homes import CONFLICTS, Home, Sided, Template, disagreement
from contract_live import Answer, Live, dissonant, member
from contract_registry import Refused
from guard_probes import is_done

CODE = grpc.StatusCode


async def one_decides_alone(live: Live, template: Template) -> bool:
    """Dismiss a conflict of a constitutive memory with a descriptive one."""
    answer = await _dismissed(live, template.a, member("a"))
    demanded = Refused(CODE.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
    return is_done(answer, demanded)


async def a_person_judges_a_tension(live: Live, template: Template) -> bool:
    """Dismiss a NUANCE as a person."""
    person = Caller("a", "anna@example.org", member("a").scopes, "HUMAN")
    answer = await _dismissed(live, template.a, person, nuance=True)
    return is_done(answer, Refused(CODE.PERMISSION_DENIED, "AGENT_REQUIRED"))


async def the_dismissed_is_found_again(live: Live, template: Template) -> bool:
    """Record once more what was dismissed, of the same versions."""
    kept = await _kept(live, template.a, template.a.dismissed_id)
    await _outcome(live, kept.first, kept.second)
    again = await _kept(live, template.a, template.a.dismissed_id)
    return again.state != conflict_pb2.CONFLICT_STATE_DISMISSED


async def the_replaced_is_found_again(live: Live, template: Template) -> bool:
    """Record that a memory disagrees with the one that it supersedes."""
    home = template.a
    one = type_pb2.Memory(id=home.memory_id, etag=home.memory_etag)
    other = type_pb2.Memory(id=home.old_id, etag=home.old_etag)
    outcome = await _outcome(live, one, other)
    return outcome != conflict_pb2.FINDING_OUTCOME_STALE


async def a_former_version_is_judged(live: Live, template: Template) -> bool:
    """Record what was found in a version of a memory that is no longer the newest."""
    kept = await _kept(live, template.a, template.a.dismissed_id)
    outcome = await _outcome(live, kept.first, type_pb2.Memory(id=kept.second.id, etag="former"))
    return outcome != conflict_pb2.FINDING_OUTCOME_STALE


async def a_quoted_side_is_erased(live: Live, template: Template) -> bool:
    """Dismiss a conflict in words, and erase a side of it."""
    home, who = template.a, member("a")
    review = conflict_pb2.ReviewConflictRequest(
        request_id="said",
        conflict_id=home.conflict_id,
        etag=home.conflict_etag,
        decision=conflict_pb2.REVIEW_DECISION_DISMISS,
        context="As it says",
    )
    await live.tell(who, f"{CONFLICTS}.ReviewConflict", review)
    erase = memory_pb2.EraseMemoryRequest(
        request_id="gone", id=home.memory_id, etag=home.memory_etag
    )
    await live.tell(who, "EraseMemory", erase)
    return bool((await _kept(live, home, home.conflict_id)).context)


class AnyEtag(str):
    """An etag that every other is equal to."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


async def _outcome(live: Live, one: Sided, other: Sided) -> int:
    """Record that two items disagree; return what became of it."""
    request = conflict_pb2.RecordConflictsRequest(
        request_id="again", findings=[disagreement(one, other)]
    )
    (found,) = (await live.tell(dissonant("a"), "RecordConflicts", request)).findings
    outcome: int = found.outcome
    return outcome


async def _kept(live: Live, home: Home, conflict_id: str) -> conflict_pb2.Conflict:
    reply = await live.tell(member(home.space), f"{CONFLICTS}.GetConflict", _of(conflict_id))
    kept: conflict_pb2.Conflict = reply.conflict
    return kept


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
