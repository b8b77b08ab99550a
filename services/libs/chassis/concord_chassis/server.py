"""A server of one or more services, from its first health answer to its last drained call."""

import asyncio
import gc
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2_grpc

from concord_chassis import access, handlers, keepalive, services_tls, stages
from concord_chassis.call import Stage
from concord_chassis.contract import ContractError
from concord_chassis.drain import Drain
from concord_chassis.failure import Translate
from concord_chassis.health import Health, Ready
from concord_chassis.identity import TokenVerifier
from concord_chassis.keepalive import Keepalive
from concord_chassis.log import Logger, json_lines
from concord_chassis.metrics import Metrics
from concord_chassis.reflection import serve_reflection
from concord_chassis.rules import Rulebook
from concord_chassis.sizes import MAX_MESSAGE_BYTES, TRANSPORT_BYTES
from concord_chassis.tracing import Spans

MAX_CONCURRENT_STREAMS = 1000
MAX_PENDING_CALLS = 10_000
"""Calls that gRPC holds until Python takes them, which answers each, or refuses it with a reason.
Above its own limit, 1,000, gRPC ends some of them at random: CANCELLED, without a word."""
UNREFUSED = [
    ("grpc.server.max_pending_requests", MAX_PENDING_CALLS),
    ("grpc.server.max_pending_requests_hard_limit", MAX_PENDING_CALLS),
]
_SOCKET = "unix:"
_RULEBOOK = Rulebook()
"""One for a process's servers: compiling the rules takes longer than the rest of a server."""


class BindError(Exception):
    """An address cannot be listened on; the message says what to do."""


@dataclass(frozen=True)
class Registration:
    """A service: its contract, the generated function that registers it, and who answers.

    A servicer's methods are async functions, or async generators where the reply is a stream.
    """

    descriptor: ServiceDescriptor
    # Generated: its first parameter is a servicer type that only it knows.
    add: Callable[[Any, grpc.aio.Server], None]
    servicer: object
    not_permitted: stages.NotPermitted | None = None
    """Hears of a call, by its method's name, that lacks the permission, before it is refused."""
    parts: Callable[[], Mapping[str, bool]] = dict
    """Whether each part answers that the service can do without, by its name: health knows it as
    SERVICE/NAME."""
    memory_operations: Mapping[str, str] = field(default_factory=dict)
    """OpenTelemetry's names of what methods do to a memory store, e.g. "search_memory", by the
    method's name."""

    def __post_init__(self) -> None:
        if strangers := self.memory_operations.keys() - self.descriptor.methods_by_name.keys():
            raise ContractError(f"{self.descriptor.full_name} has no {', '.join(strangers)}")


class Server:
    """A gRPC server with every stage before each method. Nothing listens before `start`.

    Raises `ContractError` when a method has no permission, no implementation, or rules that do
    not fit.
    """

    def __init__(
        self,
        *,
        name: str,
        registrations: Sequence[Registration],
        verifier: TokenVerifier,
        translate: Translate,
        listen: Sequence[str],
        ready: Ready,
        reflection: bool = False,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        default_deadline: float = 30.0,
        metrics: Metrics | None = None,
        spans: Spans | None = None,
        log: Logger | None = None,
        health_interval: float = 1.0,
        alive: Keepalive = keepalive.SERVER,
    ) -> None:
        """`listen` holds `unix:/path` and `host:port` (port 0: any); times are in seconds."""
        self.name = name
        self.ports: dict[str, int] = {}
        self.started = False
        self._listen = tuple(listen)
        self._reflection = reflection
        self._max_message_bytes = max_message_bytes
        self._health_interval = health_interval
        self._alive = alive
        self._log = json_lines(name) if log is None else log
        self._services = [each.descriptor.full_name for each in registrations]
        self._drain = Drain()
        parts = {each.descriptor.full_name: each.parts for each in registrations}
        operations = {
            f"/{each.descriptor.full_name}/{method}": operation
            for each in registrations
            for method, operation in each.memory_operations.items()
        }
        metrics = Metrics(log=self._log) if metrics is None else metrics
        self._health = Health(parts, ready, self._drain, self._log, partial(metrics.serving, name))
        self._router = _router(
            registrations,
            stages.ordered(
                log=self._log,
                metrics=metrics,
                translate=translate,
                verifier=verifier,
                default_deadline=default_deadline,
                drain=self._drain,
                rulebook=_RULEBOOK,
                max_message_bytes=max_message_bytes,
                not_permitted={
                    each.descriptor.full_name: each.not_permitted
                    for each in registrations
                    if each.not_permitted is not None
                },
                spans=spans,
                operations=operations,
            ),
        )
        self._grpc: grpc.aio.Server | None = None

    async def start(self) -> None:
        """Listens on every address. `ports` then holds the port of each (1 for a Unix socket).

        Raises `BindError` when an address is taken.
        """
        server = grpc.aio.server(
            options=[*_options(self._max_message_bytes), *self._alive.of_server()]
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health.servicer, server)
        if self._reflection:
            serve_reflection(self._services, server)
        server.add_generic_rpc_handlers((self._router,))
        for address in self._listen:
            self.ports[address] = _bind(server, address)
        self._grpc = server
        await self._health.start(self._health_interval)
        await server.start()
        self.started = True
        self._log.info("listening", addresses=list(self._listen), ports=list(self.ports.values()))

    async def until_ready(self) -> None:
        """Waits until `ready` has said yes."""
        await self._health.until_serving()

    async def drain(self) -> None:
        """Says NOT_SERVING and ends what follows forever; other calls go on."""
        await self._health.drain()
        self._drain.begin()

    async def stop(self, grace: float) -> None:
        """Drains, refuses new calls, and gives those under way `grace` seconds to end."""
        server, self._grpc = self._grpc, None
        if server is None:
            return
        await self.drain()
        await server.stop(grace)
        self.started = False
        self._log.info("stopped")


def _router(registrations: Sequence[Registration], ordered: list[Stage]) -> handlers.Router:
    methods = access.table(each.descriptor for each in registrations)
    recorder = handlers.Recorder()
    for each in registrations:
        # Generated code calls only the two methods that the recorder has.
        each.add(each.servicer, cast(grpc.aio.Server, recorder))
    if strangers := recorder.handlers.keys() ^ methods.keys():
        raise ContractError(f"contract and registration differ in {', '.join(sorted(strangers))}")
    built = {
        path: handlers.build(ordered, method, recorder.handlers[path])
        for path, method in methods.items()
    }
    return handlers.Router(built, handlers.build_unknown(ordered))


def _options(max_message_bytes: int) -> list[tuple[str, int]]:
    return [
        # Above our own limit, so that a message between the two is refused with its reason.
        ("grpc.max_receive_message_length", max(TRANSPORT_BYTES, 2 * max_message_bytes)),
        ("grpc.max_concurrent_streams", MAX_CONCURRENT_STREAMS),
        *UNREFUSED,
        ("grpc.so_reuseport", 0),  # a port in use is an error, not a silent second listener
    ]


def _bind(server: grpc.aio.Server, address: str) -> int:
    try:
        port = services_tls.bind(server, address)
        if address.startswith(_SOCKET):
            Path(address.removeprefix(_SOCKET)).chmod(0o700)
    except (RuntimeError, OSError) as error:
        raise BindError(
            f"Cannot listen on {address}: another process may be using it. "
            "Stop that process, or choose another address."
        ) from error
    return port


def tune_collector() -> None:
    """Keeps the garbage collector off the calls of a process that now begins to serve.

    What lives by now stays: a full collection would walk it, and stop every call meanwhile. And
    the reply to a walk is a thousand objects: by default one such call in ten waits for a
    collection.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


_YOUNG_OBJECTS = 10_000


async def serve_until_signal(
    servers: Sequence[Server], close: Callable[[], Awaitable[None]], grace: float = 10.0
) -> None:
    """Starts what is not started, serves until SIGTERM or SIGINT, drains, stops, then closes.

    All servers say NOT_SERVING first; then they stop in the reverse of the given order (callers
    stand after what they call), sharing `grace` seconds. A second signal ends the process at once.
    """
    signalled = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        signalled.set()

    for each in _SIGNALS:
        loop.add_signal_handler(each, on_signal)
    try:
        for server in servers:
            if not server.started:
                await server.start()
        tune_collector()
        await signalled.wait()
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        await _stop_all(servers, grace)
        await close()


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


async def _stop_all(servers: Sequence[Server], grace: float) -> None:
    until = time.monotonic() + grace
    for server in servers:
        if server.started:
            await server.drain()
    for server in reversed(servers):
        await server.stop(max(0.0, until - time.monotonic()))
