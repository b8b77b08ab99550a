"""The contract cases of GovernedChangeService."""

from concord.graph.v1 import governed_pb2 as pb
from contract_homes import Home, weaken
from contract_live import member
from contract_registry import Contract, Refused, invalid
from grpc import StatusCode


def _enrol(home: Home) -> pb.EnrolPrincipalsRequest:
    return pb.EnrolPrincipalsRequest(
        request_id="r", enrolment_secret=home.secret, genesis=home.genesis
    )


def _enrol_otherwise(home: Home) -> pb.EnrolPrincipalsRequest:
    request = _enrol(home)
    request.enrolment_secret += "?"
    return request


def _apply(home: Home, weight: float = 0.9) -> pb.ApplyGovernedChangeRequest:
    return pb.ApplyGovernedChangeRequest(
        request_id="r", action=weaken(home, weight), grant=home.grant
    )


GOVERNED = {
    "EnrolPrincipals": Contract(
        request=_enrol,
        success=lambda reply, _: len(reply.genesis_digest) == 64 and reply.token,
        bad_input=(
            lambda home: pb.EnrolPrincipalsRequest(request_id="r", enrolment_secret=home.secret),
            invalid("genesis"),
        ),
        other_space=Refused(StatusCode.PERMISSION_DENIED, "ENROLMENT_SECRET_INVALID"),
        other=_enrol_otherwise,
        caller=lambda home: member(home.fresh_space),
    ),
    "ApplyGovernedChange": Contract(
        request=_apply,
        success=lambda reply, home: (reply.edge.id, reply.edge.weight) == (home.rock_id, 0.9),
        bad_input=(
            lambda home: pb.ApplyGovernedChangeRequest(request_id="r", grant=home.grant),
            invalid("action"),
        ),
        other_space=Refused(StatusCode.FAILED_PRECONDITION, "GRANT_INVALID"),
        other=lambda home: _apply(home, 0.8),
    ),
}
