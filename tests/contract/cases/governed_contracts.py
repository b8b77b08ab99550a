"""The contract cases of GovernedChangeService."""

from concord.graph.v1 import governed_pb2 as pb
from concord.type.v1.type_pb2 import SLOT_AGENT, SLOT_HUMAN
from concord_client.trust import signing
from contract_homes import Home, consent_to, weaken
from contract_live import governing, member
from contract_registry import Contract, invalid


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


def _revoke(home: Home, revision: int = 1) -> pb.RevokeConsentRequest:
    envelope = signing.sign_revocation(
        slot=signing.AGENT,
        signer=home.parties.agent,
        space=home.space,
        proposal_id=home.waiting_id,
        revision=revision,
        consent=consent_to(home, home.waiting, signing.AGENT, b"n" * 32),
    )
    return pb.RevokeConsentRequest(request_id="r", revocation=envelope)


GOVERNED = {
    "PreviewChange": Contract(
        request=lambda home: pb.PreviewChangeRequest(action=weaken(home, 0.7)),
        success=lambda reply, home: (
            [(each.id, each.needs_consent) for each in reply.items] == [(home.rock_id, True)]
        ),
        bad_input=(lambda _: pb.PreviewChangeRequest(), invalid("action")),
    ),
    "RevokeConsent": Contract(
        request=_revoke,
        success=lambda reply, _: bool(reply.token),
        bad_input=(lambda _: pb.RevokeConsentRequest(request_id="r"), invalid("revocation")),
        other=lambda home: _revoke(home, 2),
    ),
    "GetGenesis": Contract(
        request=lambda _: pb.GetGenesisRequest(),
        success=lambda reply, _: [each.slot for each in reply.slots] == [SLOT_AGENT, SLOT_HUMAN],
    ),
    "GetConstitutiveDigests": Contract(
        request=lambda _: pb.GetConstitutiveDigestsRequest(),
        success=lambda reply, home: home.rock_id in [each.id for each in reply.items],
        bad_input=(
            lambda _: pb.GetConstitutiveDigestsRequest(page_size=201),
            invalid("page_size"),
        ),
    ),
    "EnrolPrincipals": Contract(
        request=_enrol,
        success=lambda reply, _: len(reply.genesis_digest) == 64 and reply.token,
        bad_input=(
            lambda home: pb.EnrolPrincipalsRequest(request_id="r", enrolment_secret=home.secret),
            invalid("genesis"),
        ),
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
        other=lambda home: _apply(home, 0.8),
        caller=lambda home: governing(home.space),
    ),
}
