"""The clients: one channel, and the contracts' services as its attributes."""

import os
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

import grpc
from concord.governance.v1.access_pb2_grpc import AccessServiceStub
from concord.governance.v1.audit_pb2_grpc import AuditServiceStub
from concord.governance.v1.principal_pb2_grpc import PrincipalServiceStub
from concord.governance.v1.proposal_pb2_grpc import ProposalServiceStub
from concord.graph.v1.governed_pb2_grpc import GovernedChangeServiceStub
from concord.graph.v1.graph_pb2_grpc import GraphServiceStub
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.search.v1.search_pb2_grpc import IndexServiceStub, SearchServiceStub
from grpc_health.v1.health_pb2_grpc import HealthStub

from concord_client import aio_calls, credentials
from concord_client.calls import Outgoing
from concord_client.credentials import Target
from concord_client.terms import DEFAULT_TIMEOUT, Terms, address, options

if TYPE_CHECKING:  # these names exist for type checkers only
    from concord.governance.v1.access_pb2_grpc import AccessServiceAsyncStub
    from concord.governance.v1.audit_pb2_grpc import AuditServiceAsyncStub
    from concord.governance.v1.principal_pb2_grpc import PrincipalServiceAsyncStub
    from concord.governance.v1.proposal_pb2_grpc import ProposalServiceAsyncStub
    from concord.graph.v1.governed_pb2_grpc import GovernedChangeServiceAsyncStub
    from concord.graph.v1.graph_pb2_grpc import GraphServiceAsyncStub
    from concord.graph.v1.memory_pb2_grpc import MemoryServiceAsyncStub
    from concord.graph.v1.relation_pb2_grpc import RelationServiceAsyncStub
    from concord.search.v1.search_pb2_grpc import IndexServiceAsyncStub, SearchServiceAsyncStub


def connect(
    url: str | None = None,
    api_key: str | None = None,
    space: str | None = None,
    *,
    timeout: float = DEFAULT_TIMEOUT,
) -> "Client":
    """A client of the Concord at `url`; it connects with its first call.

    What is not given comes from `CONCORD_URL` and `CONCORD_API_KEY`, else from what `concord up`
    wrote in `CONCORD_DATA` (or the default data directory). The key decides the space; `space`
    (default "default") chooses among the keys that `concord up` wrote. `timeout` in seconds is
    for calls that state none. `https://` uses the PEM files that `CONCORD_CA` (whom to believe),
    `CONCORD_CERT` and `CONCORD_CERT_KEY` (what to show) name. Raises `CredentialsError`.
    """
    found = credentials.find(url=url, api_key=api_key, space=space, environ=os.environ)
    return Client(found, timeout=timeout)


def connect_async(
    url: str | None = None,
    api_key: str | None = None,
    space: str | None = None,
    *,
    timeout: float = DEFAULT_TIMEOUT,
) -> "AsyncClient":
    """As `connect`, for `async with`; the stubs' methods are awaited."""
    found = credentials.find(url=url, api_key=api_key, space=space, environ=os.environ)
    return AsyncClient(found, timeout=timeout)


class Client:
    """A synchronous client. Calls raise `Refused`. Threads may share it. Close it at the end."""

    def __init__(self, target: Target, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        place, tls = address(target.url, target.certificates)
        self.url = target.url
        self._plain = (
            grpc.insecure_channel(place, options=options())
            if tls is None
            else grpc.secure_channel(place, tls, options=options())
        )
        self._channel = grpc.intercept_channel(
            self._plain, Outgoing(Terms(target.api_key, timeout))
        )

    @cached_property
    def graph(self) -> GraphServiceStub:
        """`concord.graph.v1.GraphService`: nodes, edges and how to walk them."""
        return GraphServiceStub(self._channel)

    @cached_property
    def memory(self) -> MemoryServiceStub:
        """`concord.graph.v1.MemoryService`: memories, their history and lineage."""
        return MemoryServiceStub(self._channel)

    @cached_property
    def relation(self) -> RelationServiceStub:
        """`concord.graph.v1.RelationService`: what is declared about relations."""
        return RelationServiceStub(self._channel)

    @cached_property
    def governed(self) -> GovernedChangeServiceStub:
        """`concord.graph.v1.GovernedChangeService`: what nobody may change alone."""
        return GovernedChangeServiceStub(self._channel)

    @cached_property
    def proposals(self) -> ProposalServiceStub:
        """`concord.governance.v1.ProposalService`: proposals, consent, execution and undo."""
        return ProposalServiceStub(self._channel)

    @cached_property
    def principals(self) -> PrincipalServiceStub:
        """`concord.governance.v1.PrincipalService`: whose consent counts."""
        return PrincipalServiceStub(self._channel)

    @cached_property
    def audit(self) -> AuditServiceStub:
        """`concord.governance.v1.AuditService`: the log of it all, with its proofs."""
        return AuditServiceStub(self._channel)

    @cached_property
    def access(self) -> AccessServiceStub:
        """`concord.governance.v1.AccessService`: spaces, and the keys that open them."""
        return AccessServiceStub(self._channel)

    @cached_property
    def search(self) -> SearchServiceStub:
        """`concord.search.v1.SearchService`: finding memories, and saying why."""
        return SearchServiceStub(self._channel)

    @cached_property
    def index(self) -> IndexServiceStub:
        """`concord.search.v1.IndexService`: the state of the derived index."""
        return IndexServiceStub(self._channel)

    @cached_property
    def health(self) -> HealthStub:
        """`grpc.health.v1.Health`: whether the services serve."""
        return HealthStub(self._channel)

    def close(self) -> None:
        """Ends calls under way and the connection."""
        self._plain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClient:
    """An asynchronous client, for one event loop. Calls raise `Refused` when awaited."""

    def __init__(self, target: Target, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        place, tls = address(target.url, target.certificates)
        applied = aio_calls.interceptors(Terms(target.api_key, timeout))
        self.url = target.url
        self._channel = (
            grpc.aio.insecure_channel(place, options=options(), interceptors=applied)
            if tls is None
            else grpc.aio.secure_channel(place, tls, options=options(), interceptors=applied)
        )

    @cached_property
    def graph(self) -> "GraphServiceAsyncStub":
        """`concord.graph.v1.GraphService`: nodes, edges and how to walk them."""
        return GraphServiceStub(self._channel)

    @cached_property
    def memory(self) -> "MemoryServiceAsyncStub":
        """`concord.graph.v1.MemoryService`: memories, their history and lineage."""
        return MemoryServiceStub(self._channel)

    @cached_property
    def relation(self) -> "RelationServiceAsyncStub":
        """`concord.graph.v1.RelationService`: what is declared about relations."""
        return RelationServiceStub(self._channel)

    @cached_property
    def governed(self) -> "GovernedChangeServiceAsyncStub":
        """`concord.graph.v1.GovernedChangeService`: what nobody may change alone."""
        return GovernedChangeServiceStub(self._channel)

    @cached_property
    def proposals(self) -> "ProposalServiceAsyncStub":
        """`concord.governance.v1.ProposalService`: proposals, consent, execution and undo."""
        return ProposalServiceStub(self._channel)

    @cached_property
    def principals(self) -> "PrincipalServiceAsyncStub":
        """`concord.governance.v1.PrincipalService`: whose consent counts."""
        return PrincipalServiceStub(self._channel)

    @cached_property
    def audit(self) -> "AuditServiceAsyncStub":
        """`concord.governance.v1.AuditService`: the log of it all, with its proofs."""
        return AuditServiceStub(self._channel)

    @cached_property
    def access(self) -> "AccessServiceAsyncStub":
        """`concord.governance.v1.AccessService`: spaces, and the keys that open them."""
        return AccessServiceStub(self._channel)

    @cached_property
    def search(self) -> "SearchServiceAsyncStub":
        """`concord.search.v1.SearchService`: finding memories, and saying why."""
        return SearchServiceStub(self._channel)

    @cached_property
    def index(self) -> "IndexServiceAsyncStub":
        """`concord.search.v1.IndexService`: the state of the derived index."""
        return IndexServiceStub(self._channel)

    @cached_property
    def health(self) -> HealthStub:
        """`grpc.health.v1.Health`: whether the services serve."""
        return HealthStub(self._channel)

    async def close(self) -> None:
        """Ends calls under way and the connection."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
