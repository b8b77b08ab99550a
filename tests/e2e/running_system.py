"""A system that runs already, which tests come to as its clients, each with spaces of its own."""

import secrets
from pathlib import Path

from concord.governance.v1 import access_pb2, principal_pb2
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, credentials
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
