"""A gRPC server of one or more services, from its start to the end of its last call."""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2_grpc

from concord_chassis.call import access, handlers, stages
from concord_chassis.call.call import Stage
from concord_chassis.call.contract import ContractError
from concord_chassis.call.drain import Drain
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.call.rules import Rulebook
from concord_chassis.call.sizes import MAX_MESSAGE_BYTES, TRANSPORT_BYTES
from concord_chassis.channel import services_tls
from concord_chassis.channel.keepalive import SERVER_KEEPALIVE, Keepalive
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.tracing import Spans
from concord_chassis.server.background import Background
from concord_chassis.server.health import Health, Ready
from concord_chassis.server.reflection import serve_reflection

MAX_CONCURRENT_STREAMS = 1000
MAX_PENDING_CALLS = 10_000
"""Calls that gRPC keeps waiting for Python, which answers each or refuses it with a reason. Above
gRPC's default limit, 1,000, it ends some of them at random, with CANCELLED and no reason."""
_SOCKET = "unix:"
_RULEBOOK = Rulebook()
"""Shared by a process's servers: compiling the rules takes longer than making all else."""


class BindError(Exception):
    """The server cannot listen on an address; the message says what to do."""


@dataclass(frozen=True)
class Registration:
    """A service: its contract, the generated function that registers it, and its servicer.

    A servicer's methods are async functions or, for reply streams, async generators. Raises
    `ContractError` if `memory_operations` names no method of the service.
    """

    descriptor: ServiceDescriptor
    # `Any`: a generated function, whose first parameter is of its own servicer type.
    add: Callable[[Any, grpc.aio.Server], None]
    servicer: object
    not_permitted: stages.NotPermitted | None = None
    """Called with the method's name and the request, None if that is not well formed, before a call
    without the permission is refused."""
    parts: Callable[[], Mapping[str, bool]] = dict
    """Returns, by name, whether each optional part of the service answers. The health of a part is
    under SERVICE/NAME."""
    memory_operations: Mapping[str, str] = field(default_factory=dict)
    """By method name, OpenTelemetry's name of the operation on a memory store, such as
    "search_memory"."""

    def __post_init__(self) -> None:
        if unknown := self.memory_operations.keys() - self.descriptor.methods_by_name.keys():
            raise ContractError(f"{self.descriptor.full_name} has no {', '.join(unknown)}")


class Server:
    """A gRPC server that runs all stages before each method. It listens from `start` on.

    Raises `ContractError` when a method has no permission, is not implemented asynchronously, or
    has a field with rules that do not fit the field, and when a contract and its registration have
    different methods.
    """

    def __init__(
        self,
        *,
        name: str,
        registrations: Sequence[Registration],
        verifier: TokenVerifier,
        listen: Sequence[str],
        ready: Ready,
        reflection: bool = False,
        metrics: Metrics | None = None,
        spans: Spans | None = None,
        log: Logger | None = None,
        health_interval: float = 1.0,
        keepalive: Keepalive = SERVER_KEEPALIVE,
        background: Background | None = None,
    ) -> None:
        """`listen` holds `unix:/path` and `host:port`, where port 0 takes any free port.

        `background` holds the service's tasks, of which health tells.

        `health_interval` is the seconds between two calls of `ready`.
        """
        self.name = name
        self.ports: dict[str, int] = {}
        self._listen = tuple(listen)
        self._reflection = reflection
        self._health_interval = health_interval
        self._keepalive = keepalive
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
        self._health = Health(
            parts,
            ready,
            self._drain,
            Background(self._log) if background is None else background,
            log=self._log,
            on_change=partial(metrics.serving, name),
            on_deaths=partial(metrics.deaths, name),
        )
        self._router = _router(
            registrations,
            stages.ordered(
                log=self._log,
                metrics=metrics,
                verifier=verifier,
                drain=self._drain,
                rulebook=_RULEBOOK,
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
        """Listens on every address. `ports` then holds each address's port (1 for a Unix socket).

        Raises `BindError` when the server cannot listen on an address.
        """
        server = grpc.aio.server(
            options=[*options(MAX_MESSAGE_BYTES), *self._keepalive.of_server()]
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
        self._log.info("listening", addresses=list(self._listen), ports=list(self.ports.values()))

    @property
    def health(self) -> health_pb2_grpc.HealthServicer:
        """The health service, for an address beside those of `listen`."""
        return self._health.servicer

    async def until_ready(self) -> None:
        """Waits until the health is SERVING."""
        await self._health.until_serving()

    async def drain(self) -> None:
        """Sets the health to NOT_SERVING and ends the streams without a deadline, from now on.

        All other calls are still served, new ones, too.
        """
        await self._health.drain()
        self._drain.begin()

    async def stop(self, grace: float) -> None:
        """Drains, refuses new calls, and cancels the calls that last longer than `grace` seconds.

        Does nothing before `start` and after a stop.
        """
        server, self._grpc = self._grpc, None
        if server is None:
            return
        await self.drain()
        await server.stop(grace)
        self._log.info("stopped")


def _router(registrations: Sequence[Registration], ordered: list[Stage]) -> handlers.Router:
    methods = access.table(each.descriptor for each in registrations)
    recorder = handlers.Recorder()
    for each in registrations:
        # Generated code calls only two methods of a server, and a `Recorder` has both.
        each.add(each.servicer, cast(grpc.aio.Server, recorder))
    if differing := recorder.handlers.keys() ^ methods.keys():
        raise ContractError(f"contract and registration differ in {', '.join(sorted(differing))}")
    built = {
        path: handlers.build(ordered, method, recorder.handlers[path])
        for path, method in methods.items()
    }
    return handlers.Router(built, handlers.build_unknown(ordered))


def options(max_message_bytes: int) -> list[tuple[str, int]]:
    """Returns the options of a gRPC server that refuses messages above a limit, in bytes."""
    return [
        # Above our own limit: a message between the two limits is refused with a reason.
        ("grpc.max_receive_message_length", max(TRANSPORT_BYTES, 2 * max_message_bytes)),
        ("grpc.max_concurrent_streams", MAX_CONCURRENT_STREAMS),
        ("grpc.server.max_pending_requests", MAX_PENDING_CALLS),
        ("grpc.server.max_pending_requests_hard_limit", MAX_PENDING_CALLS),
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
    """Sets the garbage collector so that it seldom delays a call; for a process about to serve.

    Most present objects live as long as the process, so later collections leave them all out: a
    full one would stop every call while it visited them. And a collection begins after ten thousand
    new objects: the reply to one graph walk is a thousand, and with Python's default a collection
    would delay one such call in ten.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


_YOUNG_OBJECTS = 10_000


async def serve_until_signal(
    start: Callable[[], Awaitable[None]], stop: Callable[[], Awaitable[None]]
) -> None:
    """Starts, serves until SIGTERM or SIGINT, and stops, also after a failed start.

    A second signal has its default effect: it ends the process at once, except SIGTERM for process
    1.
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
        await start()
        tune_collector()
        await signalled.wait()
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        await stop()


_SIGNALS = (signal.SIGTERM, signal.SIGINT)
