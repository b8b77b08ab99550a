"""Operators, administrators and gateways, asking governance about spaces and keys."""

from __future__ import annotations

import json
from hashlib import sha256

from concord.governance.v1 import access_pb2, access_pb2_grpc, audit_pb2, audit_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_governance.domain.access import SYSTEM_SPACE, Scope, permissions_of
from governed_world import World, request_id

KIND, SCOPE, STATUS = type_pb2.PrincipalKind, access_pb2.KeyScope, access_pb2.KeyStatus
READ, WRITE, ADMIN = SCOPE.KEY_SCOPE_READ, SCOPE.KEY_SCOPE_WRITE, SCOPE.KEY_SCOPE_ADMIN
AGENT, OPERATOR = KIND.PRINCIPAL_KIND_AGENT, SCOPE.KEY_SCOPE_OPERATOR
GATEWAY = Caller("", "gateway", frozenset({"callers:resolve"}), "SYSTEM")


def holder(space: str, principal: str, *scopes: Scope) -> Caller:
    """Return the caller that a key of these scopes stands for."""
    granted = permissions_of([scope.word for scope in scopes])
    return Caller(space, principal, granted, "HUMAN")


OPERATING = holder(SYSTEM_SPACE, "ops", Scope.OPERATOR, Scope.READ)


class AccessClient:
    """A caller's ways to ask AccessService."""

    def __init__(self, live: World, who: Caller) -> None:
        channel = live.governance.channel(who)
        self.stub = access_pb2_grpc.AccessServiceStub(channel)
        self.audit = audit_pb2_grpc.AuditServiceStub(channel)

    async def space(self, name: str) -> access_pb2.CreateSpaceResponse:
        """Make a space."""
        request = access_pb2.CreateSpaceRequest(request_id=request_id(), space=name)
        return await self.stub.CreateSpace(request)

    async def key(self, space: str = "", **said: object) -> access_pb2.CreateKeyResponse:
        """Make a key; a reader's of an agent unless something else is said."""
        fields = {"principal": "planner", "kind": AGENT, "scopes": [READ]} | said
        request = access_pb2.CreateKeyRequest(request_id=request_id(), space=space, **fields)  # type: ignore[arg-type] # a test's own words
        return await self.stub.CreateKey(request)

    async def keys(self, space: str = "", *, include_ended: bool = False) -> list[access_pb2.Key]:
        """List the keys that open a space."""
        request = access_pb2.ListKeysRequest(space=space, include_ended=include_ended)
        found = await self.stub.ListKeys(request)
        return list(found.keys)

    async def revoke(self, key: access_pb2.Key) -> access_pb2.Key:
        """Revoke a key."""
        request = access_pb2.RevokeKeyRequest(request_id=request_id(), key_id=key.id)
        return (await self.stub.RevokeKey(request)).key

    async def told(self) -> list[tuple[str, bool, str, dict[str, object]]]:
        """Return action, blocked, principal and properties of the log's entries, oldest first."""
        found = await self.audit.ListAuditEntries(audit_pb2.ListAuditEntriesRequest())
        leaves = [json.loads(entry.leaf) for entry in reversed(found.entries)]
        return [(e["action"], e["blocked"], e["principal"], e["properties"]) for e in leaves]


async def caller_of(live: World, secret: str) -> access_pb2.GetCallerResponse:
    """Return what a gateway hears of a key."""
    digest = sha256(secret.encode()).hexdigest()
    stub = access_pb2_grpc.AccessServiceStub(live.governance.channel(GATEWAY))
    return await stub.GetCaller(access_pb2.GetCallerRequest(key_digest=digest))
