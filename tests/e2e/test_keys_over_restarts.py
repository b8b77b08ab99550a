"""Keys from an older version's data directory, and what becomes of keys over a restart."""

import json
from pathlib import Path

from concord.governance.v1 import access_pb2
from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_client.client import AsyncClient
from concord_client.credentials import SYSTEM_SPACE, Target
from concord_client.refusal import Refused
from concord_embedded import Running, running
from concord_gateway.credentials import digest_of, new_key

BEFORE = ["graph:read", "graph:write", "memory:read", "memory:write", "governed:write"]
"""Bare permissions, as keys had them before there were scopes."""


def written_before(data: Path, scopes: dict[str, list[str]]) -> dict[str, str]:
    """Leaves what `concord up` wrote before governance kept keys; returns them by space."""
    keys = {space: new_key() for space in scopes}
    entries = {
        digest_of(keys[space]): {
            "space": space,
            "principal": "agent",
            "kind": "AGENT",
            "scopes": scopes[space],
        }
        for space in keys
    }
    content = {"url": "", "http_url": "", "keys": keys, "enrolment_secrets": {"default": "s"}}
    (data / "keys").mkdir(parents=True)
    for path, told in (
        (data / "credentials.json", content),
        (data / "keys" / "api_keys.json", entries),
    ):
        path.write_text(json.dumps(told), "utf-8")
        path.chmod(0o600)
    data.chmod(0o700)
    return keys


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


async def test_keys_of_before_stay_valid_and_what_was_taken_away_stays_away(
    tmp_path: Path,
) -> None:
    """W7 A revoked key is not valid again after a restart, nor a narrow one wide."""
    data = tmp_path / "data"
    keys = written_before(data, {"default": BEFORE, "demo": ["memory:read"]})
    async with running(data, environ={}, grace=1.0) as system:
        assert {space: system.keys[space] for space in keys} == keys
        assert await outcome(system, keys["default"], write=True) == ""
        assert await outcome(system, keys["demo"], write=False) == ""
        assert await outcome(system, keys["demo"], write=True) == "ERROR_REASON_PERMISSION_MISSING"
        operator = Target(system.url, system.keys["concord:system"])
        async with AsyncClient(operator) as client:
            listed = await client.access.ListKeys(access_pb2.ListKeysRequest(space="default"))
            (old,) = [each for each in listed.keys if each.permissions]
            assert sorted(old.permissions) == sorted(BEFORE)
            await client.access.RevokeKey(access_pb2.RevokeKeyRequest(key_id=old.id))
    told = data / "keys" / "api_keys.json"
    wider = told.read_text().replace('"memory:read"\n', '"memory:read", "memory:write"\n')
    assert wider != told.read_text()
    told.write_text(wider)

    async with running(data, environ={}, grace=1.0) as again:
        assert again.keys == system.keys
        refused = await outcome(again, keys["default"], write=False)
        assert refused == "ERROR_REASON_CREDENTIAL_INVALID"
        assert await outcome(again, keys["demo"], write=False) == ""
        assert await outcome(again, keys["demo"], write=True) == "ERROR_REASON_PERMISSION_MISSING"
        fresh = await outcome(again, again.owner_keys["default"], write=False)
        assert fresh == ""
