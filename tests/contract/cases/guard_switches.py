"""How each guard is switched off: no product code has a switch for it.

The guard's function is patched by its name, a verifier is handed to the server, a store
or servicer is wrapped, a trigger is dropped in the file.
"""

import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import jwt
import pytest
from concord.graph.v1 import graph_pb2
from concord_attestation.bounds import MAX_GRANT_BYTES
from concord_attestation.consent import (
    GRANT_TYPE,
    RESTORE_TYPE,
    GenesisRecord,
    Grant,
    RestoreGrant,
)
from concord_attestation.envelope import parse_envelope
from concord_attestation.payloads import GrantPayload, RestorePayload, read_payload
from concord_attestation.restore import MAX_RESTORE_BYTES
from concord_attestation.verify import verify_grant
from concord_chassis.call.identity import Caller, TokenIssuer, TokenVerifier
from concord_chassis.call.opaque import page_token, unseal
from concord_chassis.call.rules import MessageCheck
from concord_chassis.server.server import Registration
from concord_graph.adapters.sqlite.store import SqliteStore, open_store
from concord_graph.bootstrap import GraphApp
from concord_graph.ports import NOBODY, Author, Reads, Writes
from contract_homes import Template
from contract_live import Live, Verifying, frozen_clock, graph_app, graph_live, verifying
from google.protobuf.descriptor import Descriptor

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """A deployment as it should be, but for what is replaced."""

    patched: Mapping[str, object] = field(default_factory=dict)
    """What stands in for functions and limits of the product, by their full names."""
    without_triggers: bool = False
    store: Callable[[SqliteStore], object] = lambda store: store
    verify: Verifying = verifying
    rebind_pages: bool = False


ALL_ON = Setting()


@asynccontextmanager
async def deployed(template: Template, folder: Path, setting: Setting) -> AsyncIterator[Live]:
    """Run a copy of the furnished spaces under a setting, or what an earlier run made of it."""
    path = folder / "graph.db"
    if not path.exists():
        template.copy(folder)
    if setting.without_triggers:
        drop_triggers(path)
    # A wrapped store gives everything that its own lacks.
    store = cast(SqliteStore, setting.store(open_store(path, frozen_clock)))
    app = graph_app(path, enrolment=template.enrolment, store=store)
    with pytest.MonkeyPatch.context() as patch:
        for name, stand_in in setting.patched.items():
            patch.setattr(name, stand_in)
        async with graph_live(
            app,
            registrations=_registrations(app, setting),
            verify=setting.verify,
        ) as live:
            yield live


def _registrations(app: GraphApp, setting: Setting) -> list[Registration]:
    served = {each.descriptor.name: each for each in app.registrations}
    if setting.rebind_pages:
        graph = served["GraphService"]
        served["GraphService"] = replace(graph, servicer=_Rebinding(graph.servicer))
    return list(served.values())


def drop_triggers(path: Path, *names: str) -> None:
    """Drop triggers from a store file: these, or all when none is named."""
    with closing(sqlite3.connect(path)) as db, db:
        for name in names or triggers(path):
            db.execute(f"DROP TRIGGER {name}")


def triggers(path: Path) -> list[str]:
    """Return the names of a store file's triggers."""
    with closing(sqlite3.connect(path)) as db:
        found = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        return [name for (name,) in found.fetchall()]


class Tampered:
    """A store whose transactions are tampered with."""

    def __init__(self, store: SqliteStore, tamper: Mapping[str, Any]) -> None:
        self._store = store
        self._tamper = tamper

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(
        self,
        space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author = NOBODY,
    ) -> T:
        """Run work on a transaction some of whose methods are replaced."""
        return await self._store.write(
            space, lambda tx: work(cast(Writes, _TamperedWrites(tx, self._tamper))), author=author
        )


class _TamperedWrites:
    def __init__(self, tx: Writes, tamper: Mapping[str, Any]) -> None:
        self._tx = tx
        self._tamper = tamper

    def __getattr__(self, name: str) -> Any:
        return self._tamper[name] if name in self._tamper else getattr(self._tx, name)


def tampered(**methods: object) -> Callable[[SqliteStore], object]:
    """Return what makes a store's transactions answer these methods with fixed results."""
    return lambda store: Tampered(store, {name: _always(r) for name, r in methods.items()})


def _always(result: object) -> Callable[..., Awaitable[object]]:
    async def method(*_: object) -> object:
        return result

    return method


class OneSpace(Tampered):
    """A store that takes every space for A's."""

    def __init__(self, store: SqliteStore) -> None:
        super().__init__(store, {})

    async def read(self, _space: str, work: Callable[[Reads], Awaitable[T]], **_: object) -> T:
        """Run work on A's view."""
        return await self._store.read("a", work)

    async def write(
        self,
        _space: str,
        work: Callable[[Writes], Awaitable[T]],
        *,
        author: Author = NOBODY,
    ) -> T:
        """Run work on A's transaction."""
        return await self._store.write("a", work, author=author)


class _Credulous(TokenVerifier):
    """Believes every token, whoever signed it."""

    def verify(self, token: str) -> Caller:
        claims = jwt.decode(token, options={"verify_signature": False})
        scopes = frozenset(claims["scope"].split())
        return Caller(claims["space"], claims["sub"], scopes, claims["kind"], claims["iss"])


class _EveryScope(frozenset[str]):
    """Scopes that lack nothing."""

    def __contains__(self, _scope: object) -> bool:
        return True


class _Permissive(TokenVerifier):
    """Verifies the token, but gives its bearer every scope."""

    def verify(self, token: str) -> Caller:
        return replace(super().verify(token), scopes=_EveryScope())


def credulous(_issuer: TokenIssuer) -> TokenVerifier:
    """Return a verifier that believes every token."""
    return _Credulous({})


def permissive(issuer: TokenIssuer) -> TokenVerifier:
    """Return a verifier under which scopes do not matter."""
    return _Permissive({issuer.name: issuer.public_key})


def unchecked(_rulebook: object, _descriptor: Descriptor) -> MessageCheck:
    """Return a check that checks nothing."""
    return MessageCheck()


def believing(grant_json: bytes, *, space: str, action_digest: str, **_: object) -> Grant:
    """Take a grant at its word."""
    form = parse_envelope(grant_json, GRANT_TYPE, signers=1, max_bytes=MAX_GRANT_BYTES)
    said = read_payload(form, GrantPayload)
    return Grant(
        space=space,
        decision_id=said.decision_id,
        proposal_id=said.proposal_id,
        revision=said.revision,
        proposal_digest=said.proposal_digest,
        action_digest=action_digest,
        etags=said.etags,
        policy_digest=said.policy_digest,
        nonce=said.nonce,
        expire_time=0,
        consents=(),
    )


def restoring(
    grant_json: bytes, *, genesis: GenesisRecord, space: str, export_digest: str, **_: object
) -> RestoreGrant:
    """Take a restore grant at its word."""
    form = parse_envelope(grant_json, RESTORE_TYPE, signers=2, max_bytes=MAX_RESTORE_BYTES)
    said = read_payload(form, RestorePayload)
    return RestoreGrant(space, export_digest, "nonce", genesis, said.constitutive_digest)


class _EveryItem:
    """A set of ids that holds every set."""

    def __ge__(self, _ids: object) -> bool:
        return True


class _AnyEtag(dict[str, str]):
    """Demands no etag, and names every item."""

    def keys(self) -> Any:
        """Return what no id is missing from."""
        return _EveryItem()

    def __contains__(self, _id: object) -> bool:
        return True


def without_etags(grant_json: bytes, **known: Any) -> Grant:
    """Verify all of a grant but the etags that it names."""
    return replace(verify_grant(grant_json, **known), etags=_AnyEtag())


class _Rebinding:
    """A servicer that takes every page token for one of the query it came with."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def ListNodes(  # noqa: N802 - gRPC's name
        self, request: graph_pb2.ListNodesRequest, context: Any
    ) -> graph_pb2.ListNodesResponse:
        """List nodes from wherever the token says."""
        _, cursor = json.loads(unseal(request.page_token))
        request.page_token = page_token(request, cursor)
        return cast(graph_pb2.ListNodesResponse, await self._inner.ListNodes(request, context))
