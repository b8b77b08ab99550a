"""What becomes of keys over a restart."""

import json
from pathlib import Path

from concord.governance.v1 import access_pb2
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client.client import AsyncClient
from concord_client.credentials import SYSTEM_SPACE, Target
from concord_client.refusal import Refused
from concord_embedded import Running, running


async def outcome(system: Running, key: str, *, write: bool) -> str:
    """What becomes of a read or a write: empty, or the reason of its refusal."""
    async with AsyncClient(Target(system.url, key)) as client:
        try:
            if write:
                memory = type_pb2.Memory(content="Something.")
                await client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))
            else:
                await client.memory.ListMemories(memory_pb2.ListMemoriesRequest())
        except Refused as refused:
            return refused.reason
    return ""


async def test_the_machines_owner_gets_a_new_operators_key(tmp_path: Path) -> None:
    """W7 After the last one was revoked: it is taken out of credentials.json, and the next start
    draws one that governance takes; the revoked one opens nothing again."""
    data = tmp_path / "data"
    async with (
        running(data, environ={}, grace=1.0) as system,
        AsyncClient(Target(system.url, system.keys[SYSTEM_SPACE])) as client,
    ):
        listed = await client.access.ListKeys(access_pb2.ListKeysRequest())
        (last,) = listed.keys
        await client.access.RevokeKey(access_pb2.RevokeKeyRequest(key_id=last.id))
    file = data / "credentials.json"
    content = json.loads(file.read_text("utf-8"))
    del content["keys"][SYSTEM_SPACE]
    file.write_text(json.dumps(content), "utf-8")

    async with running(data, environ={}, grace=1.0) as again:
        async with AsyncClient(Target(again.url, again.keys[SYSTEM_SPACE])) as client:
            listed = await client.access.ListKeys(access_pb2.ListKeysRequest(include_ended=True))
            await client.access.CreateSpace(access_pb2.CreateSpaceRequest(space="alpha"))
        assert {key.id: key.status for key in listed.keys}[last.id] == access_pb2.KEY_STATUS_REVOKED
        refused = await outcome(again, system.keys[SYSTEM_SPACE], write=False)
        assert refused == "ERROR_REASON_CREDENTIAL_INVALID"
        assert again.keys["default"] == system.keys["default"]
