"""The clients: one channel, and a stub of each of the contracts' services as an attribute."""

import os
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Self, TypeVar, cast

import grpc
from concord.dissonance.v1.dialectic_pb2_grpc import DialecticServiceStub
from concord.dissonance.v1.dissonance_pb2_grpc import DissonanceServiceStub
from concord.governance.v1.access_pb2_grpc import AccessServiceStub
from concord.governance.v1.audit_pb2_grpc import AuditServiceStub
from concord.governance.v1.principal_pb2_grpc import PrincipalServiceStub
from concord.governance.v1.proposal_pb2_grpc import ProposalServiceStub
from concord.graph.v1.claim_pb2_grpc import ClaimServiceStub
from concord.graph.v1.conflict_pb2_grpc import ConflictServiceStub
from concord.graph.v1.dialogue_pb2_grpc import DialogueServiceStub
from concord.graph.v1.episode_pb2_grpc import EpisodeServiceStub
from concord.graph.v1.erasure_pb2_grpc import ErasureServiceStub
from concord.graph.v1.governed_pb2_grpc import GovernedChangeServiceStub
from concord.graph.v1.graph_pb2_grpc import GraphServiceStub
from concord.graph.v1.lineage_pb2_grpc import LineageServiceStub
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.graph.v1.recall_pb2_grpc import RecallServiceStub
from concord.graph.v1.relation_pb2_grpc import RelationServiceStub
from concord.graph.v1.session_pb2_grpc import SessionServiceStub
from concord.graph.v1.space_pb2_grpc import SpaceServiceStub
from concord.graph.v1.undo_pb2_grpc import UndoServiceStub
from concord.graph.v1.working_memory_pb2_grpc import WorkingMemoryServiceStub
from concord.search.v1.feedback_pb2_grpc import FeedbackServiceStub
from concord.search.v1.health_pb2_grpc import MemoryHealthServiceStub
from concord.search.v1.search_pb2_grpc import IndexServiceStub, SearchServiceStub
from concord.search.v1.suggestion_pb2_grpc import SuggestionServiceStub
from google.protobuf.message import Message
from grpc_health.v1.health_pb2_grpc import HealthStub

from concord_client import aio_calls, credentials
from concord_client.calls import Outgoing, Replies
from concord_client.credentials import Target
from concord_client.terms import DEFAULT_TIMEOUT, Terms, address, options

if TYPE_CHECKING:  # these names exist for type checkers only
    from concord.dissonance.v1.dialectic_pb2_grpc import DialecticServiceAsyncStub
    from concord.dissonance.v1.dissonance_pb2_grpc import DissonanceServiceAsyncStub
    from concord.governance.v1.access_pb2_grpc import AccessServiceAsyncStub
    from concord.governance.v1.audit_pb2_grpc import AuditServiceAsyncStub
    from concord.governance.v1.principal_pb2_grpc import PrincipalServiceAsyncStub
    from concord.governance.v1.proposal_pb2_grpc import ProposalServiceAsyncStub
    from concord.graph.v1.claim_pb2_grpc import ClaimServiceAsyncStub
    from concord.graph.v1.conflict_pb2_grpc import ConflictServiceAsyncStub
    from concord.graph.v1.dialogue_pb2_grpc import DialogueServiceAsyncStub
    from concord.graph.v1.episode_pb2_grpc import EpisodeServiceAsyncStub
    from concord.graph.v1.erasure_pb2_grpc import ErasureServiceAsyncStub
    from concord.graph.v1.governed_pb2_grpc import GovernedChangeServiceAsyncStub
    from concord.graph.v1.graph_pb2_grpc import GraphServiceAsyncStub
    from concord.graph.v1.lineage_pb2_grpc import LineageServiceAsyncStub
    from concord.graph.v1.memory_pb2_grpc import MemoryServiceAsyncStub
    from concord.graph.v1.recall_pb2_grpc import RecallServiceAsyncStub
    from concord.graph.v1.relation_pb2_grpc import RelationServiceAsyncStub
    from concord.graph.v1.session_pb2_grpc import SessionServiceAsyncStub
    from concord.graph.v1.space_pb2_grpc import SpaceServiceAsyncStub
    from concord.graph.v1.undo_pb2_grpc import UndoServiceAsyncStub
    from concord.graph.v1.working_memory_pb2_grpc import WorkingMemoryServiceAsyncStub
    from concord.search.v1.feedback_pb2_grpc import FeedbackServiceAsyncStub
    from concord.search.v1.health_pb2_grpc import MemoryHealthServiceAsyncStub
    from concord.search.v1.search_pb2_grpc import IndexServiceAsyncStub, SearchServiceAsyncStub
    from concord.search.v1.suggestion_pb2_grpc import SuggestionServiceAsyncStub

R = TypeVar("R", bound=Message)


def connect(
    url: str | None = None,
    api_key: str | None = None,
    space: str | None = None,
    *,
    timeout: float = DEFAULT_TIMEOUT,
) -> "Client":
    """A client of the Concord at `url`; it connects with its first call.

    Missing arguments come from `CONCORD_URL` and `CONCORD_API_KEY`, else from the file that
    `concord up` wrote to `CONCORD_DATA` (or to the default data directory), which has the agent's
    key for programs. The key decides the space; `space` (default "default") chooses among those.
    `timeout`: seconds, for calls that state none. `https://` uses the PEM files that `CONCORD_CA`
    (the authorities to trust), `CONCORD_CERT` and `CONCORD_CERT_KEY` (the client's own) name.
    Raises `CredentialsError`.
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
    """As `connect`, but an asynchronous client, whose stubs' methods are awaited."""
    found = credentials.find(url=url, api_key=api_key, space=space, environ=os.environ)
    return AsyncClient(found, timeout=timeout)


class Client:
    """A synchronous client. Calls raise `Refused`. Threads may share it. Close it at the end."""

    def __init__(  # noqa: PLR0915 - a line a service
        self, target: Target, *, timeout: float = DEFAULT_TIMEOUT
    ) -> None:
        place, tls = address(target.url, target.certificates)
        self.url = target.url
        self._plain = (
            grpc.insecure_channel(place, options=options())
            if tls is None
            else grpc.secure_channel(place, tls, options=options())
        )
        channel = grpc.intercept_channel(self._plain, Outgoing(Terms(target.api_key, timeout)))
        self._called = channel
        self.graph = GraphServiceStub(channel)
        """`concord.graph.v1.GraphService`: nodes, edges and walks along them."""
        self.memory = MemoryServiceStub(channel)
        """`concord.graph.v1.MemoryService`: memories, their history and their erasure."""
        self.lineage = LineageServiceStub(channel)
        """`concord.graph.v1.LineageService`: lineage between items, and their chains."""
        self.dialogue = DialogueServiceStub(channel)
        """`concord.graph.v1.DialogueService`: the turns of a session."""
        self.episode = EpisodeServiceStub(channel)
        """`concord.graph.v1.EpisodeService`: episodes: what was tried, with its reward."""
        self.working_memory = WorkingMemoryServiceStub(channel)
        """`concord.graph.v1.WorkingMemoryService`: the few texts of working memory."""
        self.space = SpaceServiceStub(channel)
        """`concord.graph.v1.SpaceService`: counts, operations, export and import of a space."""
        self.relation = RelationServiceStub(channel)
        """`concord.graph.v1.RelationService`: declarations of relations."""
        self.recall = RecallServiceStub(channel)
        """`concord.graph.v1.RecallService`: the log of the searches' results."""
        self.erasure = ErasureServiceStub(channel)
        """`concord.graph.v1.ErasureService`: forgetting somebody whole."""
        self.undo = UndoServiceStub(channel)
        """`concord.graph.v1.UndoService`: undoing what a principal, session or import did."""
        self.conflict = ConflictServiceStub(channel)
        """`concord.graph.v1.ConflictService`: recorded conflicts."""
        self.claim = ClaimServiceStub(channel)
        """`concord.graph.v1.ClaimService`: what would change what a higher principal said."""
        self.dialectic = DialecticServiceStub(channel)
        """`concord.dissonance.v1.DialecticService`: synthesis of opposing claims."""
        self.dissonance = DissonanceServiceStub(channel)
        """`concord.dissonance.v1.DissonanceService`: finding and deciding conflicts."""
        self.session = SessionServiceStub(channel)
        """`concord.graph.v1.SessionService`: sessions, and when they end."""
        self.governed = GovernedChangeServiceStub(channel)
        """`concord.graph.v1.GovernedChangeService`: changes that need consent."""
        self.proposals = ProposalServiceStub(channel)
        """`concord.governance.v1.ProposalService`: proposals, consent, execution and undo."""
        self.principals = PrincipalServiceStub(channel)
        """`concord.governance.v1.PrincipalService`: the principals whose consent counts."""
        self.audit = AuditServiceStub(channel)
        """`concord.governance.v1.AuditService`: the audit log and its proofs."""
        self.access = AccessServiceStub(channel)
        """`concord.governance.v1.AccessService`: spaces, and the keys that open them."""
        self.search = SearchServiceStub(channel)
        """`concord.search.v1.SearchService`: search, with explanations."""
        self.index = IndexServiceStub(channel)
        """`concord.search.v1.IndexService`: the state of the derived index."""
        self.memory_health = MemoryHealthServiceStub(channel)
        """`concord.search.v1.MemoryHealthService`: memories at risk, stale or orphans."""
        self.suggestions = SuggestionServiceStub(channel)
        """`concord.search.v1.SuggestionService`: memories that surface by themselves."""
        self.feedback = FeedbackServiceStub(channel)
        """`concord.search.v1.FeedbackService`: votes, and the weight calibrated by them."""
        self.health = HealthStub(channel)
        """`grpc.health.v1.Health`: whether the services serve."""

    def call(
        self, path: str, request: Message, reply: type[R], *, timeout: float | None = None
    ) -> R:
        """Calls the method at `path` ("/package.Service/Method") by hand. Raises `Refused`."""
        method = self._called.unary_unary(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        answered: R = method(request, timeout=timeout)
        return answered

    def stream(
        self, path: str, request: Message, reply: type[R], *, timeout: float | None = None
    ) -> Replies[R]:
        """Calls a method that streams replies by hand. `timeout` in seconds. Raises `Refused`."""
        method = self._called.unary_stream(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        return cast("Replies[R]", method(request, timeout=timeout))  # as `Outgoing` makes it

    def close(self) -> None:
        """Ends calls under way and the connection."""
        self._plain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class AsyncClient:
    """An asynchronous client, for one event loop, with the services of `Client`, whose methods are
    awaited. Calls raise `Refused` then."""

    def __init__(self, target: Target, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        place, tls = address(target.url, target.certificates)
        applied = aio_calls.interceptors(Terms(target.api_key, timeout))
        self.url = target.url
        self._channel = channel = (
            grpc.aio.insecure_channel(place, options=options(), interceptors=applied)
            if tls is None
            else grpc.aio.secure_channel(place, tls, options=options(), interceptors=applied)
        )
        self.graph: GraphServiceAsyncStub = GraphServiceStub(channel)
        self.memory: MemoryServiceAsyncStub = MemoryServiceStub(channel)
        self.lineage: LineageServiceAsyncStub = LineageServiceStub(channel)
        self.dialogue: DialogueServiceAsyncStub = DialogueServiceStub(channel)
        self.episode: EpisodeServiceAsyncStub = EpisodeServiceStub(channel)
        self.working_memory: WorkingMemoryServiceAsyncStub = WorkingMemoryServiceStub(channel)
        self.space: SpaceServiceAsyncStub = SpaceServiceStub(channel)
        self.relation: RelationServiceAsyncStub = RelationServiceStub(channel)
        self.recall: RecallServiceAsyncStub = RecallServiceStub(channel)
        self.erasure: ErasureServiceAsyncStub = ErasureServiceStub(channel)
        self.undo: UndoServiceAsyncStub = UndoServiceStub(channel)
        self.conflict: ConflictServiceAsyncStub = ConflictServiceStub(channel)
        self.claim: ClaimServiceAsyncStub = ClaimServiceStub(channel)
        self.dialectic: DialecticServiceAsyncStub = DialecticServiceStub(channel)
        self.dissonance: DissonanceServiceAsyncStub = DissonanceServiceStub(channel)
        self.session: SessionServiceAsyncStub = SessionServiceStub(channel)
        self.governed: GovernedChangeServiceAsyncStub = GovernedChangeServiceStub(channel)
        self.proposals: ProposalServiceAsyncStub = ProposalServiceStub(channel)
        self.principals: PrincipalServiceAsyncStub = PrincipalServiceStub(channel)
        self.audit: AuditServiceAsyncStub = AuditServiceStub(channel)
        self.access: AccessServiceAsyncStub = AccessServiceStub(channel)
        self.search: SearchServiceAsyncStub = SearchServiceStub(channel)
        self.index: IndexServiceAsyncStub = IndexServiceStub(channel)
        self.memory_health: MemoryHealthServiceAsyncStub = MemoryHealthServiceStub(channel)
        self.suggestions: SuggestionServiceAsyncStub = SuggestionServiceStub(channel)
        self.feedback: FeedbackServiceAsyncStub = FeedbackServiceStub(channel)
        self.health = HealthStub(channel)

    async def call(
        self,
        path: str,
        request: Message,
        reply: type[R],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the call's deadline, which gRPC keeps
    ) -> R:
        """Calls the method at `path` ("/package.Service/Method") by hand. Raises `Refused`."""
        method = self._channel.unary_unary(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        answered: R = await method(request, timeout=timeout)
        return answered

    async def stream(
        self,
        path: str,
        request: Message,
        reply: type[R],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the call's deadline, which gRPC keeps
    ) -> AsyncGenerator[R]:
        """Calls a method that streams replies by hand. `timeout` in seconds. Raises `Refused`."""
        method = self._channel.unary_stream(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        async for each in method(request, timeout=timeout):
            yield each

    async def close(self) -> None:
        """Ends calls under way and the connection."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()
