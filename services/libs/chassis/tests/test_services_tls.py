"""TLS between services: the checks of its settings, and of the other side's certificate."""

from pathlib import Path

import grpc
import pytest
from chassis_probe import READER, ProbeServicer, Request, Stub, registration
from concord_chassis.call.failure import TLS_REMEDY, from_rpc_error
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.channel import services_tls
from concord_chassis.channel.channel import connect
from concord_chassis.config import ConfigError
from concord_chassis.server.server import Server
from concord_testing.certificates import Pair, pair
from concord_testing.serving import METRICS, always_ready, new_issuer


def settings(ca: Path, cert: Path, key: Path) -> dict[str, str]:
    """Returns the three settings with these files."""
    return {
        "SERVICES_TLS_CA": str(ca),
        "SERVICES_TLS_CERT": str(cert),
        "SERVICES_TLS_KEY": str(key),
    }


def of(ca: Pair, mine: Pair) -> dict[str, str]:
    """Returns settings with the certificate `mine` and the authority `ca`."""
    return settings(ca.cert_file, mine.cert_file, mine.key_file)


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "one is missing": ({"SERVICES_TLS_KEY": ""}, r"SERVICES_TLS_KEY is not set: .* need each"),
    "no such file": ({"SERVICES_TLS_CA": "/no/such"}, r"SERVICES_TLS_CA: /no/such cannot be read"),
    "no certificate": ({"SERVICES_TLS_CA": "{mine.key}"}, "SERVICES_TLS_CA holds no certificate"),
    "another key": ({"SERVICES_TLS_KEY": "{ca.key}"}, r"SERVICES_TLS_KEY: .* set both to a pair"),
    "unknown authority": ({"SERVICES_TLS_CA": "{other.pem}"}, "SERVICES_TLS_CERT is not signed by"),
    "ended": (
        {"SERVICES_TLS_CERT": "{ended.pem}", "SERVICES_TLS_KEY": "{ended.key}"},
        r"SERVICES_TLS_CERT holds a certificate for .* not now: put one .* in its place",
    ),
    "ended authority": ({"SERVICES_TLS_CA": "{ended.pem}"}, "SERVICES_TLS_CA holds .* not now"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_setting_that_cannot_be_is_named_with_its_remedy(tmp_path: Path, case: str) -> None:
    """W6, issue 17: a wrong, expired or unknown certificate is refused at the start."""
    ca = pair(tmp_path, "ca")
    mine = pair(tmp_path, "mine", ca)
    pair(tmp_path, "other")
    pair(tmp_path, "ended", ca, hours=-1.0)
    changes, sentence = WRONG[case]
    environ = of(ca, mine) | {
        key: str(tmp_path / value[1:-1]) if value.startswith("{") else value
        for key, value in changes.items()
    }

    with pytest.raises(ConfigError, match=sentence):
        services_tls.read(environ)


def test_without_settings_services_speak_plain_text() -> None:
    """W6: without settings there is no TLS between services."""
    assert services_tls.read({}) is None


async def test_either_side_alone_refuses_and_the_failure_says_what_to_check(tmp_path: Path) -> None:
    """W6: a certificate of another authority, or plain text on one side, gets no connection."""
    ca, other = pair(tmp_path, "ca"), pair(tmp_path, "other")
    mine, theirs = pair(tmp_path, "mine", ca), pair(tmp_path, "theirs", other)
    issuer = new_issuer()
    server = Server(
        name="probe",
        registrations=[registration(ProbeServicer())],
        verifier=TokenVerifier({issuer.name: issuer.public_key}),
        listen=["127.0.0.1:0"],
        ready=always_ready,
        metrics=METRICS,
    )
    services_tls.enter(of(ca, mine))
    await server.start()
    address = f"127.0.0.1:{server.ports['127.0.0.1:0']}"
    try:
        assert await refusal(address, issuer.mint(READER)) == ""
        for environ in (of(other, theirs), {}):
            services_tls.enter(environ)
            assert TLS_REMEDY in await refusal(address, issuer.mint(READER))
    finally:
        services_tls.enter({})
        await server.stop(0)


def test_several_addresses_have_no_name_that_a_certificate_could_be_for(tmp_path: Path) -> None:
    """W6: with TLS a list of replicas is refused; the remedy is a host name for all of them."""
    ca = pair(tmp_path, "ca")
    services_tls.enter(of(ca, pair(tmp_path, "mine", ca)))
    try:
        with pytest.raises(ConfigError, match="name the replicas by one host name"):
            services_tls.channel("ipv4:127.0.0.1:1,127.0.0.1:2", [])
    finally:
        services_tls.enter({})


async def refusal(address: str, token: str) -> str:
    """Returns the text for the log of a call without a connection; "" for an answered call."""
    async with connect(address, token=lambda: token) as channel:
        try:
            await Stub(channel).ask(Request(), timeout=10.0)
        except grpc.aio.AioRpcError as error:
            return from_rpc_error(error).summary
    return ""
