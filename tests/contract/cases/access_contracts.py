"""The contract cases of AccessService: operators, administrators, and gateways ask."""

from concord.governance.v1 import access_pb2 as pb
from concord.type.v1 import type_pb2
from contract_homes import Home, key_holder
from contract_live import GATEWAY, OPERATOR
from contract_registry import Contract, invalid


def _space(home: Home, name: str = "made") -> pb.CreateSpaceRequest:
    return pb.CreateSpaceRequest(request_id="r", space=f"{home.space}-{name}")


def _delete(home: Home, typed: str = "", statement: bytes = b"") -> pb.DeleteSpaceRequest:
    return pb.DeleteSpaceRequest(
        request_id="r",
        space=home.space,
        typed_name=typed or home.space,
        statement=statement or home.deletion,
    )


def _key(home: Home, principal: str = "planner") -> pb.CreateKeyRequest:
    return pb.CreateKeyRequest(
        request_id="r",
        space=home.space,
        principal=principal,
        kind=type_pb2.PRINCIPAL_KIND_AGENT,
        scopes=[pb.KEY_SCOPE_READ],
    )


ACCESS = {
    "CreateSpace": Contract(
        request=_space,
        success=lambda reply, home: (
            reply.space.name == f"{home.space}-made" and len(reply.enrolment_secret) == 43
        ),
        bad_input=(lambda _: pb.CreateSpaceRequest(request_id="r", space="a b"), invalid("space")),
        other=lambda home: _space(home, "else"),
        caller=lambda _: OPERATOR,
        once="enrolment_secret",
    ),
    "ListSpaces": Contract(
        request=lambda _: pb.ListSpacesRequest(),
        success=lambda reply, _: (
            [each.name for each in reply.spaces] == ["a", "a-fresh", "b", "b-fresh"]
        ),
        bad_input=(lambda _: pb.ListSpacesRequest(page_size=201), invalid("page_size")),
        caller=lambda _: OPERATOR,
    ),
    "DeleteSpace": Contract(
        request=_delete,
        success=lambda reply, _: reply.space.erased,
        bad_input=(lambda home: _delete(home, "else"), invalid("typed_name")),
        other=lambda home: _delete(home, statement=b"{}"),
        caller=lambda _: OPERATOR,
    ),
    "CreateKey": Contract(
        request=_key,
        success=lambda reply, home: (
            (reply.key.space, reply.key.principal) == (home.space, "planner") and reply.secret
        ),
        bad_input=(
            lambda _: pb.CreateKeyRequest(request_id="r", principal="planner"),
            invalid("kind"),
        ),
        other=lambda home: _key(home, "critic"),
        once="secret",
    ),
    "ListKeys": Contract(
        request=lambda home: pb.ListKeysRequest(space=home.space),
        success=lambda reply, home: [each.id for each in reply.keys] == [home.key_id],
        bad_input=(lambda _: pb.ListKeysRequest(page_size=-1), invalid("page_size")),
    ),
    "RevokeKey": Contract(
        request=lambda home: pb.RevokeKeyRequest(request_id="r", key_id=home.key_id),
        success=lambda reply, _: reply.key.status == pb.KEY_STATUS_REVOKED,
        bad_input=(lambda _: pb.RevokeKeyRequest(request_id="r", key_id="x"), invalid("key_id")),
        other=lambda _: pb.RevokeKeyRequest(request_id="r", key_id="0" * 12),
    ),
    "GetCaller": Contract(
        request=lambda home: pb.GetCallerRequest(key_digest=home.key_digest),
        success=lambda reply, home: (reply.space, reply.key_id) == (home.space, home.key_id),
        bad_input=(lambda _: pb.GetCallerRequest(key_digest="x" * 64), invalid("key_digest")),
        caller=lambda _: GATEWAY,
    ),
    "GetOwnAccess": Contract(
        request=lambda _: pb.GetOwnAccessRequest(),
        success=lambda reply, home: reply.space == home.space and reply.permissions,
    ),
    "CreateSignIn": Contract(
        request=lambda _: pb.CreateSignInRequest(),
        success=lambda reply, _: len(reply.code) == 43,
        caller=key_holder,
    ),
    "CreateSession": Contract(
        request=lambda home: pb.CreateSessionRequest(code=home.code, session_digest="a" * 64),
        success=lambda reply, _: reply.expire_time.seconds,
        bad_input=(lambda home: pb.CreateSessionRequest(code=home.code), invalid("session_digest")),
        caller=lambda _: GATEWAY,
    ),
    "EndSession": Contract(
        request=lambda _: pb.EndSessionRequest(session_digest="b" * 64),
        success=lambda reply, _: reply == pb.EndSessionResponse(),
        bad_input=(lambda _: pb.EndSessionRequest(session_digest="x"), invalid("session_digest")),
        caller=lambda _: GATEWAY,
    ),
}
