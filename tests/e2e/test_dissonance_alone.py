"""`python -m concord_dissonance`, a process of its own beside the others."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.dissonance.v1 import dissonance_pb2_grpc
from concord.graph.v1 import conflict_pb2, conflict_pb2_grpc, memory_pb2_grpc
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_testing.scraping import free_port, scraped
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from dissonance_over_graph import ASKING
from governed_world import Keys, World, eventually, world
from grpc_health.v1 import health_pb2, health_pb2_grpc
from writing import to_add

OPEN, CLOSED = "The office is open on Sunday.", "The office is not open on Sunday."
WHO = Caller("one", "agent", ASKING, "AGENT")
SECONDS = 60.0


def environ_of(folder: Path, live: World, keys: Keys, own: Ed25519PrivateKey) -> dict[str, str]:
    """Write the key files; return the whole environment of the process."""
    private, public = folder / "own.pem", folder / "clients.pem"
    private.write_bytes(
        own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )
    private.chmod(0o600)
    public.write_bytes(
        keys.clients.public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return {
        "DISSONANCE_LISTEN": "127.0.0.1:0",
        "DISSONANCE_GRAPH_ADDRESS": live.graph.address,
        "DISSONANCE_SEARCH_ADDRESS": f"unix:{folder / 'nobody.sock'}",
        "DISSONANCE_GOVERNANCE_ADDRESS": live.governance.address,
        "DISSONANCE_ISSUER_KEYS": f"{keys.clients.name}={public}",
        "DISSONANCE_KEY_FILE": str(private),
    }


@asynccontextmanager
async def process(environ: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the process until the block ends."""
    command = (sys.executable, "-m", "concord_dissonance")
    piped = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(*command, env=environ, stderr=piped)
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.communicate()


async def port_of(running: asyncio.subprocess.Process) -> int:
    """Return the port that it says it listens on."""
    assert running.stderr is not None
    async for line in running.stderr:
        if b'"listening"' in line:
            return int(json.loads(line)["ports"][0])
    raise AssertionError("the process has ended")


async def test_alone_it_checks_and_ends_at_sigterm(tmp_path: Path) -> None:
    """W1 W6 Told by its environment alone; what a session wrote is checked without search, too."""
    own, keys = Ed25519PrivateKey.generate(), Keys()
    keys.dissonance = type(keys.dissonance)(own, "dissonance")
    async with world(tmp_path, keys=keys) as live, asyncio.timeout(SECONDS):
        memories = memory_pb2_grpc.MemoryServiceStub(live.graph.channel(WHO))
        conflicts = conflict_pb2_grpc.ConflictServiceStub(live.graph.channel(WHO))
        settings = conflict_pb2.CheckSettings(records_text_findings=True)
        await conflicts.SetCheckSettings(conflict_pb2.SetCheckSettingsRequest(settings=settings))
        watched = {"METRICS_ADDRESS": f"127.0.0.1:{(metrics := free_port())}"}
        async with process(environ_of(tmp_path, live, keys, own) | watched) as running:
            port = await port_of(running)
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                health = health_pb2_grpc.HealthStub(channel)

                async def serves() -> bool:
                    reply = await health.Check(health_pb2.HealthCheckRequest())
                    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)

                await eventually(serves)
                for text in (OPEN, CLOSED):
                    memory = type_pb2.Memory(content=text, session_id="talk")
                    await memories.AddMemory(to_add(memory))
                stub = dissonance_pb2_grpc.DissonanceServiceStub(channel)
                reply = await stub.EndSession(
                    pb.EndSessionRequest(request_id="r", session_id="talk"),
                    metadata=(("authorization", f"Bearer {keys.clients.mint(WHO)}"),),
                )
                text = await scraped(metrics)
            running.send_signal(signal.SIGTERM)
            await running.communicate()

        assert [each.conflict_class for each in reply.conflicts] == [
            conflict_pb2.CONFLICT_CLASS_CONTRADICTION
        ]
        assert reply.status == pb.CHECK_STATUS_DEGRADED  # search is away, and it says so
        assert running.returncode == 0
        outcome = 'outcomes_total{judge="LEXICAL",outcome="CONTRADICTION"} 1.0'
        assert f"concord_dissonance_{outcome}" in text
