"""TLS between services: all five as processes, with the settings of compose.tls.yaml."""

import asyncio
import sys
from pathlib import Path

import grpc
from composed_processes import HOST, SERVICES, Composed, composed
from concord_chassis.call.failure import TLS_REMEDY
from concord_chassis.channel import services_tls
from concord_chassis.server.probe import serves
from concord_embedded import service_certificates

OVERLAY = ("compose.tls.yaml",)
ENCRYPTED = SERVICES[:4]
"""Those whom services ask; the gateway's own addresses have settings of their own."""


async def probed(system: Composed, service: str) -> int | None:
    """The exit status of a container's health check."""
    beside = system.environs[service].get("HEALTH_ADDRESS")
    address = beside or f"127.0.0.1:{system.ports[service]}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "concord_chassis.server.probe", address),
        env=system.environs[service],
    )
    return await process.wait()


async def test_services_speak_tls_and_nobody_else_is_spoken_to(tmp_path: Path) -> None:
    """W6 Issue 17: the whole system works under TLS; a caller in plain text, one without a
    certificate, and one of another authority get no answer; the health check does."""
    async with composed(tmp_path, overlays=OVERLAY) as system:
        await system.until_serving()
        assert await system.found() == ["tea"]

        mine = services_tls.read(system.environs["graph"])
        assert mine is not None
        (strangers := tmp_path / "strangers").mkdir()
        service_certificates.ensure(strangers, (HOST,))
        others = services_tls.read(
            {
                "SERVICES_TLS_CA": str(strangers / "services-ca.crt"),
                "SERVICES_TLS_CERT": str(strangers / f"{HOST}.crt"),
                "SERVICES_TLS_KEY": str(strangers / f"{HOST}.key"),
            }
        )
        assert others is not None
        posing = services_tls.ServicesTls(mine.ca, others.cert, others.key, HOST)

        async def answers(service: str) -> list[bool]:
            address = system.address(service)
            callers = (mine, None, others, posing)
            return await asyncio.gather(
                *(asyncio.to_thread(serves, address, caller) for caller in callers),
                asyncio.to_thread(_serves_without_certificate, address, mine.ca),
            )

        for found_by in await asyncio.gather(*map(answers, ENCRYPTED)):
            assert found_by == [True, False, False, False, False]
        assert [await probed(system, each) for each in SERVICES] == [0] * len(SERVICES)


def _serves_without_certificate(address: str, ca: bytes) -> bool:
    with grpc.secure_channel(address, grpc.ssl_channel_credentials(ca)) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=2)
        except grpc.FutureTimeoutError:
            return False
    return True


async def test_a_service_of_another_authority_says_what_to_check(tmp_path: Path) -> None:
    """Issue 17: a certificate that the other side does not accept is named with its settings."""
    async with composed(tmp_path, overlays=OVERLAY, services=("graph",)) as system:
        await system.until_logged("graph", '"listening"')
        (strangers := tmp_path / "strangers").mkdir()
        service_certificates.ensure(strangers, (HOST,))
        for service in ("search", "governance", "dissonance"):
            system.environs[service] |= {
                "SERVICES_TLS_CA": str(strangers / "services-ca.crt"),
                "SERVICES_TLS_CERT": str(strangers / f"{HOST}.crt"),
                "SERVICES_TLS_KEY": str(strangers / f"{HOST}.key"),
            }
            await system.start(service)
            try:
                await system.until_logged(service, TLS_REMEDY)
            finally:
                await system.stop(service)
