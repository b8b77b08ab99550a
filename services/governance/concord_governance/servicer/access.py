"""AccessService."""

from __future__ import annotations

from typing import Any

import grpc
from concord.governance.v1 import access_pb2, access_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor, page_token
from google.protobuf.message import Message

from concord_governance.domain.access import (
    ApiKey,
    KeyStatus,
    Origin,
    Scope,
    Space,
    scopes_of,
)
from concord_governance.domain.entries import Actor
from concord_governance.servicer import incoming, outgoing
from concord_governance.usecases.api_keys import ApiKeys, KeyDraft
from concord_governance.usecases.ledger_commands import LedgerCommands, Request
from concord_governance.usecases.sign_ins import SignIns
from concord_governance.usecases.spaces import Spaces

Context = grpc.aio.ServicerContext[Any, Any]
DEFAULT_PAGE = 50
_NEWEST = (2**62, "")
_OBJECTS = {
    "space": "space",
    "principal": "principal",
    "replaces": "replaces",
    "key": "key_id",
}
"""What commands name, as entries of the log call it and as requests do."""


class AccessServicer(access_pb2_grpc.AccessServiceServicer):
    """Translates in, calls one use case, translates out."""

    def __init__(
        self, commands: LedgerCommands, spaces: Spaces, keys: ApiKeys, sign_ins: SignIns
    ) -> None:
        self._commands = commands
        self._spaces = spaces
        self._keys = keys
        self._sign_ins = sign_ins

    async def not_permitted(self, method: str, request: Message | None) -> None:
        """Record in the log that a key without the permission tried a command, and on what."""
        tried = Request(incoming.author(), method)
        await self._commands.not_permitted(tried, **_object_of(request))

    async def CreateSpace(
        self, request: access_pb2.CreateSpaceRequest, context: Context
    ) -> access_pb2.CreateSpaceResponse:
        made, secret = await self._spaces.create(incoming.request(request), request.space)
        return access_pb2.CreateSpaceResponse(space=_space(made), enrolment_secret=secret)

    async def ListSpaces(
        self, request: access_pb2.ListSpacesRequest, context: Context
    ) -> access_pb2.ListSpacesResponse:
        size = request.page_size or DEFAULT_PAGE
        after = page_cursor(request, str) or ""
        found = await self._spaces.by_name(
            incoming.author(), after, size + 1, deleted=request.include_deleted
        )
        more = len(found) > size
        return access_pb2.ListSpacesResponse(
            spaces=[_space(each) for each in found[:size]],
            next_page_token=page_token(request, found[size - 1].name) if more else "",
        )

    async def DeleteSpace(
        self, request: access_pb2.DeleteSpaceRequest, context: Context
    ) -> access_pb2.DeleteSpaceResponse:
        found = await self._spaces.delete(
            incoming.request(request), request.space, request.typed_name, request.statement
        )
        return access_pb2.DeleteSpaceResponse(space=_space(found))

    async def CreateKey(
        self, request: access_pb2.CreateKeyRequest, context: Context
    ) -> access_pb2.CreateKeyResponse:
        made, secret = await self._keys.create(incoming.request(request), _draft(request))
        return access_pb2.CreateKeyResponse(key=_key(made, made.create_time), secret=secret)

    async def ListKeys(
        self, request: access_pb2.ListKeysRequest, context: Context
    ) -> access_pb2.ListKeysResponse:
        size = request.page_size or DEFAULT_PAGE
        time, key_id = page_cursor(request, (int, str)) or _NEWEST
        found = await self._keys.newest_first(
            incoming.author(),
            request.space,
            (int(time), str(key_id)),
            size + 1,
            ended=request.include_ended,
        )
        page, now = found[:size], self._commands.clock()
        last = [page[-1].create_time, page[-1].id] if len(found) > size else None
        return access_pb2.ListKeysResponse(
            keys=[_key(each, now) for each in page],
            next_page_token=page_token(request, last) if last else "",
        )

    async def RevokeKey(
        self, request: access_pb2.RevokeKeyRequest, context: Context
    ) -> access_pb2.RevokeKeyResponse:
        found = await self._keys.revoke(incoming.request(request), request.key_id)
        return access_pb2.RevokeKeyResponse(key=_key(found, self._commands.clock()))

    async def GetCaller(
        self, request: access_pb2.GetCallerRequest, context: Context
    ) -> access_pb2.GetCallerResponse:
        found = await self._keys.resolve(request.key_digest)
        if found is None:
            return access_pb2.GetCallerResponse(status=access_pb2.KEY_STATUS_NOT_FOUND)
        key, status = found
        if status is not KeyStatus.ACTIVE:
            return access_pb2.GetCallerResponse(status=int(status), key_id=key.id)  # type: ignore[arg-type] # numbers are the contract's
        return access_pb2.GetCallerResponse(
            status=access_pb2.KEY_STATUS_ACTIVE,
            key_id=key.id,
            space=key.space,
            principal=key.principal,
            kind=int(key.kind),  # type: ignore[arg-type]
            scopes=[int(scope) for scope in scopes_of(key.scopes)[0]],  # type: ignore[misc]
            permissions=sorted(key.permissions),
            origin=int(key.origin),  # type: ignore[arg-type]
            expire_time=outgoing.stamp(key.expire_time),
        )

    async def GetOwnAccess(
        self, request: access_pb2.GetOwnAccessRequest, context: Context
    ) -> access_pb2.GetOwnAccessResponse:
        own = caller()
        return access_pb2.GetOwnAccessResponse(
            space=own.space,
            principal=own.principal,
            kind=type_pb2.PrincipalKind.Value(f"PRINCIPAL_KIND_{own.kind}"),
            permissions=sorted(own.scopes),
        )

    async def CreateSignIn(
        self, request: access_pb2.CreateSignInRequest, context: Context
    ) -> access_pb2.CreateSignInResponse:
        code, ends = await self._sign_ins.create(incoming.author())
        return access_pb2.CreateSignInResponse(code=code, expire_time=outgoing.stamp(ends))

    async def CreateSession(
        self, request: access_pb2.CreateSessionRequest, context: Context
    ) -> access_pb2.CreateSessionResponse:
        ends = await self._sign_ins.redeem(request.code, request.session_digest)
        return access_pb2.CreateSessionResponse(expire_time=outgoing.stamp(ends))

    async def EndSession(
        self, request: access_pb2.EndSessionRequest, context: Context
    ) -> access_pb2.EndSessionResponse:
        await self._sign_ins.end(request.session_digest)
        return access_pb2.EndSessionResponse()


def _object_of(request: Message | None) -> dict[str, str]:
    """Return what a command's request names, as its entry in the log has it."""
    fields = {name: getattr(request, field, "") for name, field in _OBJECTS.items()}
    return {name: value for name, value in fields.items() if value}


def _draft(request: access_pb2.CreateKeyRequest) -> KeyDraft:
    return KeyDraft(
        space=request.space,
        principal=request.principal,
        kind=Actor(int(request.kind)) if request.kind else None,
        scopes=tuple(Scope(int(scope)).word for scope in sorted(request.scopes) if scope),
        origin=Origin(int(request.origin)) if request.origin else None,
        expire_time=request.expire_time.ToMicroseconds()
        if request.HasField("expire_time")
        else None,
        replaces=request.replaces,
        overlap=request.overlap.ToMicroseconds(),
    )


def _space(found: Space) -> access_pb2.Space:
    return access_pb2.Space(
        name=found.name,
        create_time=outgoing.stamp(found.create_time),
        created_by=found.created_by,
        delete_time=outgoing.stamp(found.delete_time),
        erased=found.erased,
    )


def _key(found: ApiKey, now: int) -> access_pb2.Key:
    scopes, bare = scopes_of(found.scopes)
    return access_pb2.Key(
        id=found.id,
        space=found.space,
        principal=found.principal,
        kind=int(found.kind),  # type: ignore[arg-type] # numbers are the contract's
        scopes=[int(scope) for scope in scopes],  # type: ignore[misc]
        permissions=bare,
        origin=int(found.origin),  # type: ignore[arg-type]
        status=int(found.status(now)),  # type: ignore[arg-type]
        create_time=outgoing.stamp(found.create_time),
        created_by=found.created_by,
        expire_time=outgoing.stamp(found.expire_time),
        revoke_time=outgoing.stamp(found.revoke_time),
        last_use_time=outgoing.stamp(found.last_use_time),
    )
