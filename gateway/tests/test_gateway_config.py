import asyncio
from pathlib import Path

import pytest
from concord_chassis.config import ConfigError
from concord_gateway import bootstrap
from concord_gateway.config import Config, read
from concord_gateway.errors import NoUpstreamError
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gateway_echo import (
    ECHO,
    INTERNAL,
    SECONDS,
    EchoServicer,
    Request,
    front,
    quiet,
    write_issuer_key,
)

SMALLEST = {
    "GATEWAY_UPSTREAMS": "concord.graph=unix:/run/g,concord.search=10.0.0.1:1|10.0.0.2:2",
    "GATEWAY_ISSUER_KEY_FILE": "/i",
}


def test_the_smallest_configuration_is_safe() -> None:
    """W6: loopback, no reflection, nobody else's pages."""
    config = read(SMALLEST)

    assert {"127.0.0.1:7600", "127.0.0.1:7601"} == {config.grpc_listen, config.http_listen}
    assert not config.reflection
    assert (config.http_hosts, config.http_origins) == ((), ())
    assert config.max_message_bytes == 1 << 20


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("GATEWAY_GRPC_LISTEN", "[::1]:1", "[::1]:1"),
        ("GATEWAY_HTTP_LISTEN", "localhost:0", "localhost:0"),
        ("GATEWAY_UPSTREAMS", "a=b:1", {"a": "b:1"}),
        ("GATEWAY_ISSUER_KEY_FILE", "/x", Path("/x")),
        ("GATEWAY_ISSUER_NAME", "front", "front"),
        ("GATEWAY_TOKEN_TTL", "120", 120.0),
        ("GATEWAY_TLS_CERT", "/x", Path("/x")),
        ("GATEWAY_TLS_KEY", "/x", Path("/x")),
        ("GATEWAY_TLS_CLIENT_CA", "/x", Path("/x")),
        ("GATEWAY_PLAIN_TEXT_NETWORK", "true", True),
        ("GATEWAY_REFLECTION", "true", True),
        ("GATEWAY_HTTP_HOSTS", "a.example,b.example", ("a.example", "b.example")),
        ("GATEWAY_HTTP_ORIGINS", "https://a.example", ("https://a.example",)),
        ("GATEWAY_DEADLINE", "5", 5.0),
        ("GATEWAY_MAX_MESSAGE_BYTES", "2048", 2048),
        ("GATEWAY_CALLS_PER_KEY", "3", 3),
        ("GATEWAY_STREAMS_PER_KEY", "3", 3),
        ("GATEWAY_EXPORTS_PER_KEY", "3", 3),
        ("GATEWAY_CALLS", "3", 3),
        ("GATEWAY_HTTP_CONNECTIONS", "3", 3),
        ("GATEWAY_HTTP_HEADER_SECONDS", "3", 3.0),
        ("GATEWAY_HTTP_BODY_SECONDS", "3", 3.0),
        ("GATEWAY_HEALTH_TIMEOUT", "0.5", 0.5),
        ("GATEWAY_HEALTH_INTERVAL", "0.5", 0.5),
        ("GATEWAY_GRACE", "0", 0.0),
        ("GATEWAY_PAGE", "true", True),
    ],
)
def test_each_setting_is_read_from_its_key(key: str, value: str, expected: object) -> None:
    """Style 8: and there is no setting without a case here."""
    name = key.removeprefix("GATEWAY_").lower()

    assert expected == getattr(read(SMALLEST | {key: value}), name)
    cases = test_each_setting_is_read_from_its_key.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {f"GATEWAY_{field.upper()}" for field in Config.model_fields} == {c[0] for c in cases}


@pytest.mark.parametrize("key", sorted(SMALLEST))
def test_a_missing_key_is_named(key: str) -> None:
    """Style 8: fails at start, by name."""
    with pytest.raises(ConfigError, match=key):
        read({k: v for k, v in SMALLEST.items() if k != key})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("GATEWAY_GRPC_LISTEN", "7600"),
        ("GATEWAY_HTTP_LISTEN", "127.0.0.1:70000"),
        ("GATEWAY_UPSTREAMS", "concord.graph"),
        ("GATEWAY_UPSTREAMS", "Con cord=a:1"),
        ("GATEWAY_UPSTREAMS", "a=unix:/x|unix:/y"),
        ("GATEWAY_UPSTREAMS", "a=|b:1"),
        ("GATEWAY_TOKEN_TTL", "60"),
        ("GATEWAY_TOKEN_TTL", "86400"),
        ("GATEWAY_DEADLINE", "-1"),
        ("GATEWAY_MAX_MESSAGE_BYTES", "1"),
        ("GATEWAY_CALLS_PER_KEY", "0"),
        ("GATEWAY_STREAMS_PER_KEY", "1001"),
        ("GATEWAY_EXPORTS_PER_KEY", "0"),
        ("GATEWAY_CALLS", "100001"),
        ("GATEWAY_HTTP_CONNECTIONS", "0"),
        ("GATEWAY_HTTP_HEADER_SECONDS", "0"),
        ("GATEWAY_HTTP_BODY_SECONDS", "3601"),
        ("GATEWAY_REFLECTION", "perhaps"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(key: str, value: str) -> None:
    """Style 8: the key, never the value."""
    with pytest.raises(ConfigError, match=key) as refused:
        read(SMALLEST | {key: value})
    told = str(refused.value).replace(key, "")
    assert value not in (told.split() if value.lstrip("-").isdigit() else told)  # a bound may: 1024


def test_a_service_without_an_upstream_stops_the_start(tmp_path: Path) -> None:
    """Style 8: it is named; nothing is served that goes nowhere."""
    write_issuer_key(tmp_path / "i", Ed25519PrivateKey.generate())
    config = Config(
        upstreams={"gateway_echo.v1.EchoService": "a:1", "concord": "b:1"},
        issuer_key_file=tmp_path / "i",
    )

    with pytest.raises(NoUpstreamError, match="InternalService"):
        bootstrap.build(config, services=[ECHO, INTERNAL])
    config = config.model_copy(update={"upstreams": {"gateway_echo": "a:1"}})
    with pytest.raises(NoUpstreamError, match="AccessService"):
        bootstrap.build(config, services=[ECHO, INTERNAL])


async def test_the_message_limit_is_the_configured_one(tmp_path: Path) -> None:
    """GATEWAY_MAX_MESSAGE_BYTES turns both doors."""
    async with front(tmp_path, max_message_bytes=2048) as door:
        request = Request(long_text="x" * 3000)
        call = door.stub.say(request)

        assert (await call.code()).name == "RESOURCE_EXHAUSTED"
        assert (await door.say({"longText": "x" * 3000})).status_code == 413


async def test_the_token_carries_the_configured_name_and_life(tmp_path: Path) -> None:
    """GATEWAY_ISSUER_NAME, GATEWAY_TOKEN_TTL: services that know another name trust nothing."""
    async with front(tmp_path, issuer_name="stranger") as door:
        call = door.stub.say(Request(act="x"))
        assert (await call.code()).name == "UNAUTHENTICATED"


async def test_replicas_take_turns(tmp_path: Path) -> None:
    """GATEWAY_UPSTREAMS with `|`: calls go to each of several addresses."""
    async with front(tmp_path) as first:
        servicers = [EchoServicer(), EchoServicer()]
        servers = [first.another(servicer, "127.0.0.1:0") for servicer in servicers]
        for server in servers:
            await server.start()
        ports = [server.ports["127.0.0.1:0"] for server in servers]
        config = first.config.model_copy(
            update={
                "upstreams": {
                    **first.config.upstreams,
                    "gateway_echo": "|".join(f"127.0.0.1:{port}" for port in ports),
                }
            }
        )
        gateway = bootstrap.build(config, services=[ECHO, INTERNAL], logger=quiet())
        await gateway.start()
        first.http.base_url = f"http://127.0.0.1:{gateway.http_port}"
        async with asyncio.timeout(SECONDS):  # until both connections stand
            while not all(servicer.said for servicer in servicers):
                assert (await first.say({"act": "echo"})).status_code == 200
        await gateway.stop(1)
        for server in servers:
            await server.stop(0)
