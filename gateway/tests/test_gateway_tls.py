"""TLS and mTLS on both addresses, with certificates made here."""

import asyncio
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path

import grpc
import httpx
import pytest
from concord_chassis.server.health import LIVE
from concord_chassis.server.probe import serves
from concord_chassis.server.server import BindError
from concord_gateway import tls
from concord_gateway.config import Config, read
from concord_gateway.errors import TlsRefused
from concord_testing.certificates import Pair, pair
from gateway_echo import SECONDS, Front, Request, Stub, front
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub


async def over_grpc(door: Front, ca: Pair | None, mine: Pair | None = None) -> str:
    """What the service answers over gRPC with TLS."""
    credentials = grpc.ssl_channel_credentials(
        root_certificates=ca.cert_file.read_bytes() if ca else None,
        private_key=mine.key_file.read_bytes() if mine else None,
        certificate_chain=mine.cert_file.read_bytes() if mine else None,
    )
    target = f"localhost:{door.gateway.grpc_port}"
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.secure_channel(target, credentials, options=options) as channel:
        call = Stub(channel).say(Request(act="echo"), metadata=door.as_writer, timeout=SECONDS)
        return str((await call).text)


async def over_http(door: Front, ca: Pair, mine: Pair | None = None) -> int:
    """The status over HTTPS."""
    trusting = ssl.create_default_context(cafile=str(ca.cert_file))
    if mine:
        trusting.load_cert_chain(mine.cert_file, mine.key_file)
    url = f"https://localhost:{door.gateway.http_port}"
    async with httpx.AsyncClient(
        base_url=url, verify=trusting, trust_env=False, timeout=SECONDS
    ) as http:
        reply = await http.post(
            "/gateway_echo.v1.EchoService/Say", content=b'{"act": "echo"}', headers=door.json()
        )
    return reply.status_code


async def test_both_addresses_speak_tls(tmp_path: Path) -> None:
    """W6 TLS by configuration: who believes its authority gets in, plain text and others do not."""
    ca, stranger = pair(tmp_path, "ca"), pair(tmp_path, "stranger")
    mine = pair(tmp_path, "gateway", ca)
    async with front(tmp_path, tls_cert=mine.cert_file, tls_key=mine.key_file) as door:
        assert await over_grpc(door, ca) == "echo"
        assert await over_http(door, ca) == 200
        with pytest.raises(grpc.aio.AioRpcError) as untrusted:
            await over_grpc(door, stranger)
        with pytest.raises(httpx.ConnectError):
            await over_http(door, stranger)
        with pytest.raises(grpc.aio.AioRpcError) as plain:
            await door.stub.say(Request(act="echo"))
        with pytest.raises(httpx.RemoteProtocolError):
            await door.http.get("/health")

    assert untrusted.value.code() is plain.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_mutual_tls_lets_in_certified_callers_alone(tmp_path: Path) -> None:
    """W6 mTLS by configuration: a caller needs a certificate of the authority, and still a key."""
    ca, other = pair(tmp_path, "ca"), pair(tmp_path, "other")
    mine, caller = pair(tmp_path, "gateway", ca), pair(tmp_path, "caller", ca)
    forged = pair(tmp_path, "forged", other)
    async with front(
        tmp_path, tls_cert=mine.cert_file, tls_key=mine.key_file, tls_client_ca=ca.cert_file
    ) as door:
        assert await over_grpc(door, ca, caller) == "echo"
        assert await over_http(door, ca, caller) == 200
        for wrong in (None, forged):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await over_grpc(door, ca, wrong)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
            with pytest.raises(httpx.TransportError):
                await over_http(door, ca, wrong)


async def test_the_health_socket_asks_for_no_certificate_and_tells_the_truth(
    tmp_path: Path,
) -> None:
    """W1 W6 Under mTLS a container's own check needs none; it offers health alone, takes the place
    of a socket that was left there, and says at once that a service went away, for which nobody
    restarts the gateway (W10)."""
    ca = pair(tmp_path, "ca")
    mine, path = pair(tmp_path, "gateway", ca), tmp_path / "health.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    async with front(
        tmp_path,
        tls_cert=mine.cert_file,
        tls_key=mine.key_file,
        tls_client_ca=ca.cert_file,
        health_address=(address := f"unix:{path}"),
    ) as door:
        assert path.stat().st_mode & 0o777 == 0o600
        assert await asyncio.to_thread(serves, address)
        assert not await asyncio.to_thread(serves, f"127.0.0.1:{door.gateway.grpc_port}")
        async with grpc.aio.insecure_channel(address) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await Stub(channel).say(Request(), metadata=door.as_writer, timeout=SECONDS)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        await door.upstream.server.stop(0)
        assert not await asyncio.to_thread(serves, address)
        async with grpc.aio.insecure_channel(address) as channel:
            own = await HealthStub(channel).Check(HealthCheckRequest(service=LIVE), timeout=SECONDS)
        assert own.status == HealthCheckResponse.SERVING


async def test_a_health_socket_that_cannot_be_is_named_with_its_setting(tmp_path: Path) -> None:
    """W6 It does not start without the check that its container waits for."""
    with pytest.raises(BindError, match="HEALTH_ADDRESS"):
        async with front(tmp_path, health_address=f"unix:{tmp_path}/nowhere/health.sock"):
            pass


SMALLEST = {
    "GATEWAY_UPSTREAMS": "concord=unix:/run/c",
    "GATEWAY_ISSUER_KEY_FILE": "/i",
}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"TLS_CERT": "{ca}"}, "need each other"),
        ({"TLS_KEY": "{key}"}, "need each other"),
        ({"TLS_CLIENT_CA": "{ca}"}, "GATEWAY_TLS_CLIENT_CA needs"),
        ({"TLS_CERT": "/no/such", "TLS_KEY": "{key}"}, "Cannot read /no/such: No such file"),
        (
            {"TLS_CERT": "{ca}", "TLS_KEY": "/"},
            "Cannot read /: Is a directory. Set GATEWAY_TLS_KEY",
        ),
        ({"TLS_CERT": "{key}", "TLS_KEY": "{key}"}, "are no certificate"),
        ({"TLS_CERT": "{ca}", "TLS_KEY": "{other}"}, "are no certificate"),
        (
            {"TLS_CERT": "{ca}", "TLS_KEY": "{key}", "TLS_CLIENT_CA": "{key}"},
            "holds no certificate",
        ),
        ({"GRPC_LISTEN": "0.0.0.0:1"}, "0.0.0.0:1 would cross the network in plain text"),
        ({"HTTP_LISTEN": "[::]:1"}, "GATEWAY_PLAIN_TEXT_NETWORK=true"),
        ({"HTTP_LISTEN": "example.org:1"}, "plain text"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    tmp_path: Path, settings: Mapping[str, str], sentence: str
) -> None:
    """W6 Missing and unreadable files, halves, and plain text beyond loopback do not start."""
    ca, other = pair(tmp_path, "ca"), pair(tmp_path, "other")
    files = {"ca": ca.cert_file, "key": ca.key_file, "other": other.key_file}
    given = {f"GATEWAY_{name}": value.format_map(files) for name, value in settings.items()}

    with pytest.raises(TlsRefused) as refused:
        tls.of(read(SMALLEST | given))

    assert sentence in str(refused.value)


@pytest.mark.parametrize("listen", ["127.0.0.1:1", "127.8.0.1:1", "[::1]:1", "localhost:1"])
def test_loopback_needs_no_tls(listen: str) -> None:
    """W6 The default stays as simple as it is."""
    assert tls.of(read(SMALLEST | {"GATEWAY_GRPC_LISTEN": listen})) is None


def test_plain_text_beyond_loopback_has_to_be_said(tmp_path: Path) -> None:
    """W6 With TLS it needs no saying, behind something that ends TLS one setting."""
    ca = pair(tmp_path, "ca")
    everywhere = SMALLEST | {"GATEWAY_GRPC_LISTEN": "0.0.0.0:1"}
    secured: Config = read(
        everywhere | {"GATEWAY_TLS_CERT": str(ca.cert_file), "GATEWAY_TLS_KEY": str(ca.key_file)}
    )

    assert tls.of(secured) == tls.Tls(ca.cert_file, ca.key_file, None)
    assert tls.of(read(everywhere | {"GATEWAY_PLAIN_TEXT_NETWORK": "true"})) is None
