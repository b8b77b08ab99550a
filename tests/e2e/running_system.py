"""A system that runs already, which tests come to as its clients, each with spaces of its own."""

import secrets
from pathlib import Path
from typing import Any

from concord.governance.v1 import access_pb2, principal_pb2
from concord.graph.v1 import governed_pb2, memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, Client, credentials
from concord_client.credentials import Target
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned
from concord_embedded import Running
from concord_embedded.data_directory import DataDirectory

NAMES = ("default", "demo")
AGENT = (access_pb2.KEY_SCOPE_READ, access_pb2.KEY_SCOPE_WRITE, access_pb2.KEY_SCOPE_GOVERN)
OWNER = (*AGENT, access_pb2.KEY_SCOPE_ADMIN)


async def fresh_spaces(folder: Path) -> Running:
    """The system of a `credentials.json`, with new spaces in the places of the two that a system of
    a test's own has: their keys and secrets are found under those names."""
    known = credentials.read(folder / credentials.FILE_NAME)
    operator_key = known.keys[credentials.SYSTEM_SPACE]
    keys, owner_keys, enrolment = {credentials.SYSTEM_SPACE: operator_key}, {}, {}
    async with AsyncClient(Target(known.url, operator_key)) as operator:
        for name in NAMES:
            space = f"{name}-{secrets.token_hex(4)}"
            made = await operator.access.CreateSpace(access_pb2.CreateSpaceRequest(space=space))
            enrolment[name] = made.enrolment_secret
            agent = access_pb2.CreateKeyRequest(
                space=space, principal="agent", kind=type_pb2.PRINCIPAL_KIND_AGENT, scopes=AGENT
            )
            keys[name] = (await operator.access.CreateKey(agent)).secret
            owner = access_pb2.CreateKeyRequest(
                space=space, principal="owner", kind=type_pb2.PRINCIPAL_KIND_HUMAN, scopes=OWNER
            )
            owner_keys[name] = (await operator.access.CreateKey(owner)).secret
    return Running(
        url=known.url,
        http_url=known.http_url,
        keys=keys,
        owner_keys=owner_keys,
        enrolment_secrets=enrolment,
        data=DataDirectory(folder),
        rolled_back=frozenset(),
        disk_full="",
    )


def add(client: Client, memory_id: str, content: str) -> str:
    """Remember a text; the token of the write."""
    memory = type_pb2.Memory(id=memory_id, content=content)
    return client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory)).token


def found(client: Client, query: str, token: str = "", **fields: Any) -> list[str]:
    """The ids that a search finds which has seen the write `token`; it counts as no read."""
    seen = type_pb2.Consistency(at_least_as_fresh=token)
    request = search_pb2.SearchRequest(query=query, consistency=seen, peek=True, **fields)
    return [result.memory.id for result in client.search.Search(request).results]


async def enrol(
    client: AsyncClient, system: Running, name: str, agent: signing.Signer, human: signing.Signer
) -> tuple[str, Pinned]:
    """Perform the genesis of the space under a name; its own name, and what to pin of its log."""
    told = await client.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    async with AsyncClient(Target(system.url, system.owner_keys[name])) as admin:
        space = (await admin.access.ListKeys(access_pb2.ListKeysRequest())).keys[0].space
        record = signing.sign_genesis(
            space=space, agent=agent, human=human, governance_key=told.governance_key
        )
        await admin.governed.EnrolPrincipals(
            governed_pb2.EnrolPrincipalsRequest(
                enrolment_secret=system.enrolment_secrets[name], genesis=record
            )
        )
    return space, Pinned(told.log_key, signing.genesis_digest(record))
