"""The real services in the test's own process, asked through their descriptors."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from concord.graph.v1 import feed_pb2
from concord_chassis.call.failure import Failure, from_rpc_error
from concord_chassis.call.identity import Caller, TokenIssuer, TokenVerifier
from concord_chassis.server.server import Registration
from concord_graph.adapters.sqlite.schema import SCHEMA
from concord_graph.adapters.sqlite.store import SqliteStore, open_store
from concord_graph.bootstrap import GraphApp
from concord_testing import blank_files
from concord_testing.serving import Serving, new_issuer, serving
from contract_descriptors import METHODS, scopes
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

NOW = 1_800_000_000_000_000
"""Where the clock of every deployment here stands: 2027-01-15T08:00Z, in microseconds."""

SERVICE_SCOPES = frozenset(
    {"feed:all", "confirm:write", "conflict:write", "granted:write", "callers:resolve"}
    | {"record:all"}
)
"""What only Concord's own services hold."""

# One request, the requests of a stream, or bytes that are no message.
Request: TypeAlias = Message | bytes | list[Message | bytes]


@dataclass(frozen=True)
class Answer:
    """What a call came to: its replies, or why it was refused."""

    replies: tuple[Any, ...] = ()  # only the method knows, at run time, of what type they are
    refusal: Failure | None = None

    @property
    def reply(self) -> Any:
        """The one reply. Fails the test when the call was refused."""
        assert self.refusal is None, str(self.refusal)
        (reply,) = self.replies
        return reply

    @property
    def code(self) -> grpc.StatusCode:
        """The status code."""
        return self.refusal.code if self.refusal else grpc.StatusCode.OK

    @property
    def reason(self) -> str:
        """The machine reason; empty for a success."""
        return self.refusal.reason if self.refusal else ""


async def heads(live: "Live") -> dict[str, int]:
    """Return the newest sequence number of each space of graph, by its name."""
    feed = "ChangeFeedService"
    partitions = await live.tell(
        FOLLOWER, f"{feed}.ListPartitions", feed_pb2.ListPartitionsRequest()
    )
    found: dict[str, int] = {}
    for partition in range(len(partitions.partitions)):
        request = feed_pb2.ListSpacesRequest(partition=partition)
        reply = await live.tell(FOLLOWER, f"{feed}.ListSpaces", request)
        found |= {head.space: head.head_seq for head in reply.spaces}
    return found


GOVERNANCE = "governance"


def member(space: str, principal: str = "agent-1") -> Caller:
    """Return a principal of a space with every scope that clients can have."""
    return Caller(space, principal, scopes() - SERVICE_SCOPES, "AGENT")


def governing(space: str) -> Caller:
    """Return governance, which alone may apply a change, with a client's scopes too."""
    return Caller(space, GOVERNANCE, member(space).scopes | {"granted:write"}, "SYSTEM")


def dissonant(space: str) -> Caller:
    """Return dissonance, which alone records findings, with a client's scopes too."""
    return Caller(space, "dissonance", member(space).scopes | {"conflict:write"}, "SYSTEM")


OPERATOR = Caller("concord:system", "ops", scopes() - SERVICE_SCOPES, "HUMAN")
"""Who runs this Concord."""
GATEWAY = Caller("", "gateway", frozenset({"callers:resolve"}), "SYSTEM")
"""A gateway, which asks whom a key stands for."""
FOLLOWER = Caller("", "search", SERVICE_SCOPES, "SYSTEM")
"""A service that follows the feed."""


@dataclass
class Live:
    """A running deployment: which server answers which service, and channels by caller."""

    servings: Mapping[str, Serving]
    _channels: dict[tuple[str, Caller | None], grpc.aio.Channel] = field(default_factory=dict)

    async def ask(
        self, caller: Caller | None, method: str | MethodDescriptor, request: Request, most: int = 0
    ) -> Answer:
        """Call a method, named in full or shortly, and read at most `most` replies (0: all)."""
        called = METHODS[full_name(method)] if isinstance(method, str) else method
        service = called.containing_service.full_name
        key = (service, caller)
        if key not in self._channels:
            self._channels[key] = self.servings[service].channel(caller)
        return await ask(self._channels[key], called, request, most)

    async def tell(self, caller: Caller, method: str, request: Message) -> Any:
        """Call a unary method that must succeed and return its reply."""
        return (await self.ask(caller, method, request)).reply


def full_name(short: str) -> str:
    """Return the full name of a method, of which the last part may be enough."""
    if short in METHODS:
        return short
    (found,) = (name for name in METHODS if name.endswith(f".{short}"))
    return found


async def ask(
    channel: grpc.aio.Channel, method: MethodDescriptor, request: Request, most: int = 0
) -> Answer:
    """Call a method of any shape on a channel."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    read = GetMessageClass(method.output_type).FromString
    parts = request if isinstance(request, list) else [request]
    try:
        if method.server_streaming:
            call = channel.unary_stream(path, _bytes, read)(parts[0], timeout=60)
            return Answer(await _first(call, most))
        if method.client_streaming:
            return Answer((await channel.stream_unary(path, _bytes, read)(iter(parts)),))
        return Answer((await channel.unary_unary(path, _bytes, read)(parts[0]),))
    except grpc.aio.AioRpcError as error:
        return Answer(refusal=from_rpc_error(error))


async def _first(call: Any, most: int) -> tuple[Message, ...]:
    replies = []
    async for reply in call:
        replies.append(reply)
        if len(replies) == most:
            call.cancel()
            break
    return tuple(replies)


def _bytes(request: Message | bytes) -> bytes:
    return request if isinstance(request, bytes) else request.SerializeToString()


def frozen_clock() -> int:
    """Return always the same instant, so that equal states give equal bytes."""
    return NOW


def graph_app(
    path: Path,
    *,
    enrolment: Mapping[str, str] | None = None,
    store: SqliteStore | None = None,
) -> GraphApp:
    """Assemble graph over a store file, or over a store that a test has made itself."""
    kept = store or open_store(blank_files.lay(path, SCHEMA), frozen_clock)
    return GraphApp(kept, frozen_clock, enrolment or {})


Verifying = Callable[[TokenIssuer], TokenVerifier]


def verifying(issuer: TokenIssuer) -> TokenVerifier:
    """Return the verifier that every deployment has: it believes one issuer."""
    return TokenVerifier({issuer.name: issuer.public_key})


@asynccontextmanager
async def graph_live(
    app: GraphApp,
    *,
    registrations: Sequence[Registration] | None = None,
    verify: Verifying = verifying,
) -> AsyncIterator[Live]:
    """Serve graph on a real server until the block ends, then close its store.

    What stands beside `app` is replaced only to switch a guard off.
    """
    issuer = new_issuer(GOVERNANCE)
    served = app.registrations if registrations is None else registrations
    try:
        async with serving(
            served,
            ready=app.ready,
            issuer=issuer,
            verifier=verify(issuer),
        ) as live:
            yield Live({each.descriptor.full_name: live for each in served})
    finally:
        await app.close()
