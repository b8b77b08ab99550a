"""The contract cases of ClaimService."""

from concord.graph.v1 import claim_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import claimant
from contract_registry import Contract, invalid


def _named(*ids: str) -> pb.ClaimsNamed:
    return pb.ClaimsNamed(ids=ids)


CLAIM = {
    "ListClaims": Contract(
        request=lambda _: pb.ListClaimsRequest(),
        success=lambda reply, home: (
            [each.id for each in reply.claims] == [home.other_claim_id, home.claim_id]
            and reply.claims[0].claimant == "cron"
        ),
        bad_input=(lambda _: pb.ListClaimsRequest(page_size=201), invalid("page_size")),
    ),
    "ListClaimants": Contract(
        request=lambda _: pb.ListClaimantsRequest(),
        success=lambda reply, _: (
            [(each.claimant, each.open_count) for each in reply.claimants] == [("cron", 2)]
        ),
        bad_input=(lambda _: pb.ListClaimantsRequest(claims_each=21), invalid("claims_each")),
    ),
    "AcceptClaims": Contract(
        request=lambda home: pb.AcceptClaimsRequest(request_id="r", named=_named(home.claim_id)),
        success=lambda reply, _: reply.claims[0].state == type_pb2.CLAIM_STATE_ACCEPTED,
        bad_input=(
            lambda _: pb.AcceptClaimsRequest(request_id="r", named=_named()),
            invalid("named"),
        ),
        other=lambda home: pb.AcceptClaimsRequest(
            request_id="r", named=_named(home.other_claim_id)
        ),
    ),
    "RefuseClaims": Contract(
        request=lambda home: pb.RefuseClaimsRequest(request_id="r", named=_named(home.claim_id)),
        success=lambda reply, _: reply.claims[0].state == type_pb2.CLAIM_STATE_REFUSED,
        bad_input=(
            lambda _: pb.RefuseClaimsRequest(request_id="r", named=_named()),
            invalid("named"),
        ),
        other=lambda home: pb.RefuseClaimsRequest(
            request_id="r", named=_named(home.other_claim_id)
        ),
    ),
    "WithdrawClaims": Contract(
        request=lambda home: pb.WithdrawClaimsRequest(request_id="r", named=_named(home.claim_id)),
        success=lambda reply, _: reply.claims[0].state == type_pb2.CLAIM_STATE_WITHDRAWN,
        bad_input=(
            lambda _: pb.WithdrawClaimsRequest(request_id="r", named=_named()),
            invalid("named"),
        ),
        other=lambda home: pb.WithdrawClaimsRequest(
            request_id="r", named=_named(home.other_claim_id)
        ),
        caller=lambda home: claimant(home.space),
    ),
    "GetClaimSettings": Contract(
        request=lambda _: pb.GetClaimSettingsRequest(),
        success=lambda reply, _: not reply.settings.claims_among_equals,
    ),
    "SetClaimSettings": Contract(
        request=lambda _: pb.SetClaimSettingsRequest(settings=pb.ClaimSettings()),
        success=lambda reply, _: not reply.settings.claims_among_equals,
        bad_input=(lambda _: pb.SetClaimSettingsRequest(), invalid("settings")),
    ),
}
