"""What a service's key may claim, and where a token is taken (W7, 0112)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from concord.dissonance.v1 import dissonance_pb2, dissonance_pb2_grpc
from concord.governance.v1 import access_pb2, access_pb2_grpc, proposal_pb2, proposal_pb2_grpc
from concord.graph.v1 import governed_pb2, governed_pb2_grpc, memory_pb2, memory_pb2_grpc
from concord.search.v1 import search_pb2, search_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import Caller, TokenIssuer
from concord_embedded import Running
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

SERVICES = ("graph", "search", "governance", "dissonance")


def issuer_of(system: Running, name: str) -> TokenIssuer:
    """A signer with a service's own key, as whoever has stolen it."""
    key = load_pem_private_key((system.data.keys / f"{name}.pem").read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return TokenIssuer(key, name)


def channel(system: Running, service: str) -> grpc.aio.Channel:
    """A channel to a service itself, past the gateway."""
    folder = Path(system.data.runtime_note.read_text("utf-8").strip())
    return grpc.aio.insecure_channel(f"unix:{folder / service}.sock")


async def reason(call: Any) -> str:
    """Why a call is refused; "" if it is not."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return from_rpc_error(error).reason.removeprefix("ERROR_REASON_")
    return ""


def token(
    system: Running, signer: str, who: Caller, audience: Sequence[str]
) -> tuple[tuple[str, str]]:
    """The metadata of a call with a token that a service's key signed."""
    minted = issuer_of(system, signer).mint(who, audience=audience)
    return (("authorization", f"Bearer {minted}"),)


async def test_a_services_key_makes_no_operator(own_system: Running) -> None:
    """W7 Dissonance's key was good for a token with any permission in any space at governance."""
    space = "concord:system"
    scopes = frozenset({"spaces:write", "spaces:list", "keys:list", "keys:write"})
    request = access_pb2.CreateKeyRequest(
        request_id="steal",
        space=space,
        principal="mallory",
        kind=type_pb2.PRINCIPAL_KIND_HUMAN,
        scopes=[access_pb2.KEY_SCOPE_OPERATOR],
    )
    async with channel(own_system, "governance") as line:
        access = access_pb2_grpc.AccessServiceStub(line)
        for who in (
            Caller(space, "dissonance", scopes, "SYSTEM"),
            Caller(space, "owner", scopes, "HUMAN"),
        ):
            metadata = token(own_system, "dissonance", who, ["governance"])
            assert await reason(access.CreateKey(request, metadata=metadata)) == (
                "CREDENTIAL_INVALID"
            )


CALLS: dict[str, Sequence[tuple[str, str]]] = {
    "search": [("graph", "memory:read"), ("dissonance", "dissonance:read")],
    "dissonance": [
        ("graph", "memory:read"),
        ("search", "search:read"),
        ("governance", "governance:read"),
    ],
    "governance": [("graph", "governed:read")],
}
"""By signer the services that it calls, with a permission that it has there."""
METHODS: dict[str, tuple[Any, Any, str]] = {
    "memory:read": (
        memory_pb2_grpc.MemoryServiceStub,
        memory_pb2.GetMemoryRequest(id="m"),
        "GetMemory",
    ),
    "governed:read": (
        governed_pb2_grpc.GovernedChangeServiceStub,
        governed_pb2.GetGenesisRequest(),
        "GetGenesis",
    ),
    "search:read": (
        search_pb2_grpc.SearchServiceStub,
        search_pb2.SearchRequest(query="q"),
        "Search",
    ),
    "governance:read": (
        proposal_pb2_grpc.ProposalServiceStub,
        proposal_pb2.ListProposalsRequest(),
        "ListProposals",
    ),
    "dissonance:read": (
        dissonance_pb2_grpc.DissonanceServiceStub,
        dissonance_pb2.ListJudgesRequest(),
        "ListJudges",
    ),
}
MORE = (
    "keys:write",
    "memory:write",
    "granted:write",
    "callers:resolve",
    "space:write",
    "decisions:write",
)
"""Permissions of which every service has none or one at a single other service."""


@pytest.mark.parametrize(
    ("signer", "service", "permission"),
    [(signer, *each) for signer, calls in CALLS.items() for each in calls],
)
async def test_a_services_token_is_for_one_service_and_its_own_work(
    own_system: Running, signer: str, service: str, permission: str
) -> None:
    """W7 It is taken where it says, for what the service does there, in its own name alone."""

    async def tried(who: Caller, audience: Sequence[str]) -> str:
        stub, request, method = METHODS[permission]
        metadata = token(own_system, signer, who, audience)
        async with channel(own_system, service) as line:
            return await reason(getattr(stub(line), method)(request, metadata=metadata))

    own = Caller("default", signer, frozenset({permission}), "SYSTEM")
    others = [name for name in SERVICES if name != service]
    more = [
        replace(own, scopes=own.scopes | {each})
        for each in MORE
        if (signer, each) != ("governance", "granted:write")
    ]
    refused = [
        replace(own, principal="owner", kind="HUMAN"),
        replace(own, principal="agent"),
        *more,
    ]

    assert await tried(own, [service]) == ""
    assert await tried(own, []) == "CREDENTIAL_INVALID"
    assert await tried(own, others) == "CREDENTIAL_INVALID"
    assert {await tried(each, [service]) for each in refused} == {"CREDENTIAL_INVALID"}


async def test_a_callers_token_is_taken_where_the_gateway_sent_it(own_system: Running) -> None:
    """W7 Graph's token of a call opens governance to nobody, nor search."""
    who = Caller("default", "owner", frozenset({"governance:read", "memory:read"}), "HUMAN")

    async def tried(service: str, permission: str, audience: Sequence[str]) -> str:
        stub, request, method = METHODS[permission]
        metadata = token(own_system, "gateway", who, audience)
        async with channel(own_system, service) as line:
            return await reason(getattr(stub(line), method)(request, metadata=metadata))

    assert await tried("graph", "memory:read", ["graph"]) == ""
    assert await tried("governance", "governance:read", ["graph"]) == "CREDENTIAL_INVALID"
    assert await tried("governance", "governance:read", ["dissonance", "governance"]) == ""
