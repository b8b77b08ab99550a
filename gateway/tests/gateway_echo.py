"""What stands behind the gateway in its tests: a real server, and a gateway before it."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import grpc
import httpx
from concord.governance.v1 import access_pb2, access_pb2_grpc
from concord.rules.v1 import rules_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call import deadline, identity
from concord_chassis.call.failure import Failure, FieldViolation
from concord_chassis.call.identity import Caller, TokenIssuer, TokenVerifier
from concord_chassis.observe.log import json_lines
from concord_chassis.server.server import Registration, Server
from concord_gateway import bootstrap
from concord_gateway.bootstrap import Gateway
from concord_gateway.callers import ApiKey
from concord_gateway.config import Config
from concord_gateway.credentials import digest_of, new_key
from concord_gateway.upstream_failure import method_unknown
from concord_testing.serving import Serving, always_ready, serving
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc  # type: ignore[import-untyped]  # it ships no types
from prometheus_client import CollectorRegistry

# The messages are made at run time: no checker can know their fields.
Dynamic = Any

NAME = "gateway_echo.proto"
READER = Caller("space-a", "reader", frozenset({"echo:read"}), "AGENT")
WRITER = Caller("space-a", "writer", frozenset({"echo:read", "echo:write"}), "HUMAN")
SECRET = "what-only-the-log-may-know"
DEADLINE = 60.0
SECONDS = 30.0
"""How long tests wait for what normally comes at once: a busy machine may take its time."""
BRIEF = (0.5, 5.0, 25.0)
"""Deadlines that are meant to pass: a call may not reach the service within the first of them."""


def _compiled() -> FileDescriptor:
    contracts = Path(rules_pb2.__file__).parents[4]
    folder = Path(__file__).parent
    with tempfile.TemporaryDirectory() as out:
        described = Path(out) / "set"
        well_known = files("grpc_tools") / "_proto"
        paths = [f"--proto_path={path}" for path in (folder, contracts, well_known)]
        assert protoc.main(["protoc", *paths, f"--descriptor_set_out={described}", NAME]) == 0
        found = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(found.file[0].SerializeToString())
    return pool.FindFileByName(NAME)


FILE = _compiled()
ECHO: ServiceDescriptor = FILE.services_by_name["EchoService"]
INTERNAL: ServiceDescriptor = FILE.services_by_name["InternalService"]
Request: Dynamic = GetMessageClass(FILE.message_types_by_name["Request"])
Reply: Dynamic = GetMessageClass(FILE.message_types_by_name["Reply"])


def rich_failure() -> Failure:
    """A refusal with everything that a failure can carry."""
    return Failure(
        grpc.StatusCode.FAILED_PRECONDITION,
        "ERROR_REASON_LINEAGE_CYCLE",
        "Löst einen Kreis aus – ünïcode.",
        metadata={"item_id": "a/b"},
        violations=[FieldViolation("part.title", "must differ")],
        retry_after=1.5,
    )


@dataclass
class EchoServicer:
    """Does what a request's `act` says; remembers what came whole and what was cut short."""

    whole: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    said: int = 0
    taken: int = 0
    written: int = 0
    hanging: int = 0

    async def Say(self, request: Dynamic, context: Dynamic) -> Dynamic:  # noqa: N802
        self.said += 1
        return await self._acted(request, context)

    async def Change(self, request: Dynamic, context: Dynamic) -> Dynamic:  # noqa: N802
        return await self._acted(request, context)

    async def Peek(self, request: Dynamic, context: Dynamic) -> Dynamic:  # noqa: N802
        return await self._acted(request, context)

    async def Follow(  # noqa: N802
        self, request: Dynamic, context: Dynamic
    ) -> AsyncIterator[Dynamic]:
        if request.act == "refuse late":
            yield Reply(text="first")
            raise rich_failure()
        count = 100_000 if request.act == "flood" else 3
        finished = False
        try:
            for index in range(count):
                reply = await self._acted(request, context)
                reply.text = f"{index}:{reply.text}"
                self.written += 1
                yield reply
            finished = True
        finally:
            (self.whole if finished else self.cut).append(request.act)

    ExportAll = Follow

    async def Collect(  # noqa: N802
        self, requests: AsyncIterator[Dynamic], context: Dynamic
    ) -> Dynamic:
        texts: list[str] = []
        finished = False
        try:
            async for request in requests:
                self.taken += 1
                if request.act == "enough":
                    return Reply(text="stopped early")
                texts.append((await self._acted(request, context)).text)
            await asyncio.sleep(0.3)  # what a store would take, and longer than a cancellation
            finished = True
        finally:
            (self.whole if finished else self.cut).append(",".join(texts))
        return Reply(text=",".join(texts))

    async def Converse(  # noqa: N802
        self, requests: AsyncIterator[Dynamic], context: Dynamic
    ) -> AsyncIterator[Dynamic]:
        async for request in requests:
            self.taken += 1
            yield await self._acted(request, context)

    async def _acted(self, request: Dynamic, context: Dynamic) -> Dynamic:
        match request.act:
            case "refuse":
                raise rich_failure()
            case "bug":
                raise ValueError(SECRET)
            case "hang":
                await self._hang(request.act)
            case "caller":
                return Reply(text=repr(_shown(identity.caller())))
            case "deadline":
                return Reply(text=str(deadline.remaining()))
            case "metadata":
                pairs = [(k, str(v)) for k, v in context.invocation_metadata()]
                await context.send_initial_metadata((("echo-head", "h"), ("echo-bin", b"\x00\xff")))
                return Reply(text=json.dumps(pairs))
        return Reply(text=request.act, echoed=request)

    async def _hang(self, act: str) -> None:
        self.hanging += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.hanging -= 1
            self.cut.append(act)


@dataclass
class KeysServicer:
    """What governance is to the gateway: says of a key's digest whom it stands for."""

    keys: dict[str, ApiKey]
    asked: list[str] = field(default_factory=list)
    answering: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.answering.set()

    async def GetCaller(self, request: Dynamic, _context: Dynamic) -> Dynamic:  # noqa: N802
        self.asked.append(request.key_digest)
        key = self.keys.get(request.key_digest)  # an answer can be older than it is late
        await self.answering.wait()
        if key is None:
            return access_pb2.GetCallerResponse(status=access_pb2.KEY_STATUS_NOT_FOUND)
        reply = access_pb2.GetCallerResponse(
            status=access_pb2.KEY_STATUS_ACTIVE,
            key_id=key.id,
            space=key.caller.space,
            principal=key.caller.principal,
            kind=type_pb2.PrincipalKind.Value(f"PRINCIPAL_KIND_{key.caller.kind}"),
            permissions=sorted(key.caller.scopes),
        )
        if key.expires_at is not None:
            reply.expire_time.FromMicroseconds(round(key.expires_at * 1e6))
        return reply


def keys_registration(servicer: KeysServicer) -> Registration:
    """AccessService, of which gateways ask one method."""

    async def away(_request: Dynamic, _context: Dynamic) -> Dynamic:
        raise method_unknown("Not here.")

    service = access_pb2.DESCRIPTOR.services_by_name["AccessService"]
    methods = {method.name: staticmethod(away) for method in service.methods}
    answering = type("Access", (), {**methods, "GetCaller": staticmethod(servicer.GetCaller)})
    return Registration(service, access_pb2_grpc.add_AccessServiceServicer_to_server, answering())


def _shown(caller: Caller) -> tuple[str, str, str, list[str]]:
    return caller.space, caller.principal, caller.kind, sorted(caller.scopes)


def add_to(service: ServiceDescriptor) -> Callable[[Any, grpc.aio.Server], None]:
    """What generated code would be: registers a servicer of `service`."""

    def add(servicer: Any, server: grpc.aio.Server) -> None:
        handlers = {each.name: _handler(each, servicer) for each in service.methods}
        server.add_registered_method_handlers(service.full_name, handlers)

    return add


def _handler(method: MethodDescriptor, servicer: object) -> "grpc.RpcMethodHandler[Any, Any]":
    shapes = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make: Callable[..., grpc.RpcMethodHandler[Any, Any]] = shapes[
        bool(method.client_streaming), bool(method.server_streaming)
    ]
    return make(
        getattr(servicer, method.name),
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=GetMessageClass(method.output_type).SerializeToString,
    )


def registrations(servicer: EchoServicer) -> list[Registration]:
    """Both services, answered by `servicer`."""
    return [Registration(service, add_to(service), servicer) for service in (ECHO, INTERNAL)]


class Stub:
    """What a generated stub would be, and the terms of calls that state none of their own."""

    def __init__(self, channel: grpc.aio.Channel, **terms: object) -> None:
        def of(make: Callable[..., Dynamic], name: str, service: str = ECHO.full_name) -> Dynamic:
            path = f"/{service}/{name}"
            return partial(make(path, Request.SerializeToString, Reply.FromString), **terms)

        self.say = of(channel.unary_unary, "Say")
        self.change = of(channel.unary_unary, "Change")
        self.follow = of(channel.unary_stream, "Follow")
        self.export = of(channel.unary_stream, "ExportAll")
        self.collect = of(channel.stream_unary, "Collect")
        self.converse = of(channel.stream_stream, "Converse")
        self.nothing = of(channel.stream_unary, "Nothing")
        self.nonsense = of(channel.unary_unary, "Nonsense")
        self.peek = of(channel.unary_unary, "Peek", INTERNAL.full_name)


@dataclass
class Front:
    """A gateway under test, and what is needed to use it."""

    gateway: Gateway
    upstream: Serving
    servicer: EchoServicer
    governance: Serving
    keys: KeysServicer
    config: Config
    logged: StringIO
    reader: str
    writer: str
    channel: grpc.aio.Channel
    http: httpx.AsyncClient
    direct: grpc.aio.Channel
    registry: CollectorRegistry

    @asynccontextmanager
    async def revived(self) -> AsyncIterator[None]:
        """A new process of the service, so to say, at the address of the one that was stopped."""
        server = self.another(self.servicer, self.upstream.address)
        await server.start()
        try:
            yield
        finally:
            await server.stop(0)

    def another(self, servicer: EchoServicer, listen: str) -> Server:
        """One more server of the service, not started."""
        issuer = self.upstream.issuer
        return Server(
            name="another",
            registrations=registrations(servicer),
            verifier=TokenVerifier({issuer.name: issuer.public_key}),
            listen=[listen],
            ready=always_ready,
            log=quiet(),
        )

    @property
    def stub(self) -> Stub:
        """Calls through the gateway, with the writer's key."""
        return Stub(self.channel, metadata=self.as_writer, timeout=SECONDS)

    @property
    def as_reader(self) -> tuple[tuple[str, str], ...]:
        """Metadata with the reader's key."""
        return with_key(self.reader)

    @property
    def as_writer(self) -> tuple[tuple[str, str], ...]:
        """Metadata with the writer's key."""
        return with_key(self.writer)

    def headers(self, **more: str) -> dict[str, str]:
        """HTTP headers with the writer's key; underscores in names become hyphens."""
        given = {name.replace("_", "-"): value for name, value in more.items()}
        return {"authorization": f"Bearer {self.writer}"} | given

    async def say(self, value: object, **more: str) -> httpx.Response:
        """Posts `value` as JSON to Say."""
        return await self.http.post(
            f"/{ECHO.full_name}/Say", content=json.dumps(value), headers=self.json(**more)
        )

    def json(self, **more: str) -> dict[str, str]:
        """The headers of a JSON request."""
        return self.headers(**{"content_type": "application/json", **more})


def write_issuer_key(path: Path, key: Ed25519PrivateKey) -> None:
    """Writes `key` as the gateway wants it."""
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


@asynccontextmanager
async def front(
    folder: Path,
    *,
    upstreams: Mapping[str, str] | None = None,
    health_address: str = "",
    **settings: object,
) -> AsyncIterator[Front]:
    """A gateway before the echo service, on free ports; `settings` override the configuration."""
    key, servicer = Ed25519PrivateKey.generate(), EchoServicer()
    write_issuer_key(folder / "issuer.pem", key)
    reader, writer = new_key(), new_key()
    keys = KeysServicer(
        {digest_of(reader): ApiKey("r", READER), digest_of(writer): ApiKey("w", WRITER)}
    )
    logged = StringIO()
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(
            serving(registrations(servicer), issuer=TokenIssuer(key, "gateway"), log=quiet())
        )
        issuer_name = str(settings.get("issuer_name", "gateway"))
        governance = await stack.enter_async_context(
            serving([keys_registration(keys)], issuer=TokenIssuer(key, issuer_name), log=quiet())
        )
        config = Config.model_validate(
            {
                "grpc_listen": "127.0.0.1:0",
                "http_listen": "127.0.0.1:0",
                "upstreams": {
                    "gateway_echo": upstream.address,
                    "concord.governance": governance.address,
                    **(upstreams or {}),
                },
                "issuer_key_file": folder / "issuer.pem",
                "deadline": DEADLINE,
                "health_timeout": SECONDS,
                **settings,
            }
        )
        registry = CollectorRegistry()
        gateway = bootstrap.build(
            config,
            services=[ECHO, INTERNAL],
            registry=registry,
            logger=json_lines("gateway", stream=logged),
            health_address=health_address,
        )
        await gateway.start()
        stack.push_async_callback(gateway.stop, 0.2)
        channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(
                f"127.0.0.1:{gateway.grpc_port}",
                options=[
                    ("grpc.use_local_subchannel_pool", 1),
                    ("grpc.max_send_message_length", -1),
                ],
            )
        )
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{gateway.http_port}", trust_env=False, timeout=SECONDS
            )
        )
        direct = upstream.channel(WRITER)
        yield Front(
            gateway,
            upstream,
            servicer,
            governance,
            keys,
            config,
            logged,
            reader,
            writer,
            channel,
            http,
            direct,
            registry,
        )


def quiet() -> Any:
    """A logger to nowhere; `Any`: structlog's type."""
    return json_lines("upstream", stream=StringIO())


def with_key(key: str) -> tuple[tuple[str, str], ...]:
    """Metadata with an API key."""
    return (("authorization", f"Bearer {key}"),)


async def eventually(holds: Callable[[], bool], within: float = SECONDS) -> None:
    """Returns when `holds()`; fails when it does not within so many seconds."""
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - what it waits for is not asyncio's
            await asyncio.sleep(0.005)
