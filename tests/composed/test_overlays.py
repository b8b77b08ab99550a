"""The overlays of compose.yaml over the composed system: what is added works, and goes again."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from concord.graph.v1 import memory_pb2
from concord_client import AsyncClient, Refused
from concord_client.credentials import Certificates, Target
from concord_embedded.distributed_secrets import CONTAINER_USER
from concord_testing.certificates import pair

from tests.composed.mixed_load import demand_whole, governed_space, in_use
from tests.composed.using import (
    BACK_WITHIN,
    add,
    answered,
    folder,
    overlaid,
    system,
    until_serving,
)
from tests.e2e.running_system import fresh_spaces

pytestmark = [pytest.mark.compose, pytest.mark.timeout(0)]

DEPLOY = Path(__file__).parents[2] / "deploy"
USED_FOR = 20.0
"""Seconds."""
CONFIRMERS = {"graph", "search", "governance"}
CLIENTS_CA = """
services:
  gateway:
    environment: {GATEWAY_TLS_CLIENT_CA: /run/secrets/clients_ca}
    secrets: [clients_ca]
secrets: {clients_ca: {file: "%s"}}
"""


async def test_two_of_each_service_are_one_system() -> None:
    """Issue 17, 4; M4 compose.replicas.yaml: what is acknowledged is there, one log verifies, the
    index equals graph, and what is erased is confirmed by the second search too."""
    async with overlaid(DEPLOY / "compose.replicas.yaml"), AsyncExitStack() as spaces:
        await until_serving(system())  # the gateway stayed: it has to find those that are new
        space = await spaces.enter_async_context(governed_space(await fresh_spaces(folder())))
        async with in_use(space):
            await asyncio.sleep(USED_FOR)
        assert await demand_whole(space, BACK_WITHIN) >= len(space.values) > 0
        assert space.searches
        assert await confirmers(space.agent.stubs) == CONFIRMERS


async def confirmers(client: AsyncClient) -> set[str]:
    """Who confirms that a memory is erased."""
    made = await add(client, "gone")
    erase = memory_pb2.EraseMemoryRequest(request_id="erase", id="gone", etag=made.memory.etag)
    await answered(lambda: client.memory.EraseMemory(erase))
    request = memory_pb2.GetEraseReceiptRequest(memory_id="gone")
    async with asyncio.timeout(BACK_WITHIN):
        while True:
            receipt = (await answered(lambda: client.memory.GetEraseReceipt(request))).receipt
            if receipt.HasField("complete_time"):
                return {each.confirmer for each in receipt.confirmations}
            await asyncio.sleep(0.2)


async def test_a_gateway_that_asks_callers_for_certificates_is_healthy(tmp_path: Path) -> None:
    """W1 W6 compose.gateway-tls.yaml: `up --wait` hears that the gateway serves, though its check
    has no certificate; a caller that has one is let in, another one is not."""
    ca = pair(tmp_path, "ca")
    mine, caller = pair(tmp_path, "gateway", ca), pair(tmp_path, "caller", ca)
    if os.geteuid() == 0:
        os.chown(mine.key_file, CONTAINER_USER, CONTAINER_USER)
    (asking := tmp_path / "asking.yaml").write_text(CLIENTS_CA % ca.cert_file)
    files = {
        "CONCORD_GATEWAY_CERT": str(mine.cert_file),
        "CONCORD_GATEWAY_CERT_KEY": str(mine.key_file),
    }
    at = system()
    async with overlaid(DEPLOY / "compose.gateway-tls.yaml", asking, environ=files):
        known = Certificates(ca.cert_file, caller.cert_file, caller.key_file)
        async with AsyncClient(Target(f"https://{at.url}", at.keys["default"], known)) as concord:
            assert (await add(concord, "over-tls")).token
        nobody = Certificates(ca.cert_file)
        async with AsyncClient(Target(f"https://{at.url}", at.keys["default"], nobody)) as other:
            with pytest.raises(Refused) as refused:
                await other.memory.ListMemories(memory_pb2.ListMemoriesRequest(), timeout=5)
            assert refused.value.code.name == "UNAVAILABLE"
