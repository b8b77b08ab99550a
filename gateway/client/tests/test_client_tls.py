"""The clients over TLS and mTLS, told by their environment."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from concord_client import AsyncClient, Client, Unreachable
from concord_client.credentials import CredentialsError, find
from concord_testing.certificates import pair
from concord_testing.command_line import CommandLine
from concord_testing.up_process import clean_environ
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
ASKED = health_pb2.HealthCheckRequest()


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What the environment says of a live server that asks its callers for a certificate."""
    ca = pair(tmp_path, "ca")
    theirs, ours = pair(tmp_path, "server", ca), pair(tmp_path, "caller", ca)
    shown = (theirs.key_file.read_bytes(), theirs.cert_file.read_bytes())
    tls = grpc.ssl_server_credentials([shown], ca.cert_file.read_bytes(), require_client_auth=True)
    with ThreadPoolExecutor(2) as threads:
        server = grpc.server(threads)
        health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
        port = server.add_secure_port("127.0.0.1:0", tls)
        server.start()
        yield {
            "CONCORD_URL": f"https://localhost:{port}",
            "CONCORD_API_KEY": "ck_" + "x" * 43,
            "CONCORD_CA": str(ca.cert_file),
            "CONCORD_CERT": str(ours.cert_file),
            "CONCORD_CERT_KEY": str(ours.key_file),
        }
        server.stop(None).wait()


async def test_the_environment_names_certificates(environ: dict[str, str]) -> None:
    """W6 With CONCORD_CA the clients believe the gateway, with CONCORD_CERT it believes them."""
    found = find(url=None, api_key=None, space=None, environ=environ)

    with Client(found) as client:
        assert client.health.Check(ASKED).status == SERVING
    async with AsyncClient(found) as concord:
        assert (await concord.health.Check(ASKED)).status == SERVING


@pytest.mark.parametrize("missing", ["CONCORD_CA", "CONCORD_CERT"])
def test_without_certificates_neither_side_believes_a_stranger(
    environ: dict[str, str], missing: str
) -> None:
    """W6 An unknown authority, or no certificate to show, and nobody gets through."""
    less = {name: value for name, value in environ.items() if not name.startswith(missing)}
    found = find(url=None, api_key=None, space=None, environ=less)

    with Client(found) as client, pytest.raises(Unreachable):
        client.health.Check(ASKED, timeout=60)


def test_what_is_missing_is_named(environ: dict[str, str]) -> None:
    """W4 W6 Plain text to TLS, and an authority that is not known, each with its remedy."""
    url = environ["CONCORD_URL"].replace("localhost", "127.0.0.1")  # one address: one error
    plain = {"CONCORD_URL": url.removeprefix("https://")}
    unknown = {"CONCORD_URL": url, "CONCORD_CA": environ["CONCORD_CERT"]}

    told = [CommandLine(clean_environ() | environ | less)("get", "x") for less in (plain, unknown)]

    assert [each.exit_code for each in told] == [1, 1]
    assert "CONCORD_URL begins with https://" in told[0].stderr
    assert "in CONCORD_CA" in told[1].stderr


@pytest.mark.parametrize("name", ["CONCORD_CA", "CONCORD_CERT", "CONCORD_CERT_KEY"])
def test_a_file_that_is_not_there_is_a_sentence(environ: dict[str, str], name: str) -> None:
    """W6 The client says which file it cannot read."""
    found = find(url=None, api_key=None, space=None, environ=environ | {name: "/no/such"})

    with pytest.raises(CredentialsError, match="Cannot read /no/such: No such file"):
        Client(found)
