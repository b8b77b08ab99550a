"""One story through every door: remember, correct, disagree, propose, sign twice, verify, undo."""

import base64
import hashlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from concord.dissonance.v1 import dissonance_pb2
from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import memory_pb2
from concord.search.v1 import search_pb2
from concord_client import AsyncConcord, Concord, Fact, Refused, credentials, read_signer
from concord_client.client import AsyncClient, Client
from concord_client.credentials import Target
from concord_client.trust.signing import Signer, public_bytes
from concord_testing.command_line import CommandLine, Unique
from concord_testing.up_process import Spawned
from mcp import StdioServerParameters
from mcp.client.client import Client as McpClient
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from two_signers import PASSPHRASE

Triple = tuple[str, str, str]


class Door(Protocol):
    """What an agent does in the story."""

    async def add(self, content: str, fact: Triple, *supersedes: str) -> str: ...
    async def search(self, query: str) -> list[str]: ...
    async def conflicts(self, node: str) -> int: ...
    async def propose(self, edge: Triple) -> str: ...
    async def approve(self, proposal: str) -> str:
        """The status after the agent's signature; a refusal is "REFUSED"."""
        ...

    async def status(self, proposal: str) -> str: ...
    async def verify(self) -> bool: ...
    async def undo(self, proposal: str) -> str: ...


class Keys:
    """What the doors are opened with."""

    def __init__(self, environ: dict[str, str], home: Path, system: Spawned, cli: CommandLine):
        self.environ, self.system, self.cli = environ, system, cli
        self.target: Target = credentials.find(url=None, api_key=None, space=None, environ=environ)
        self._file = home / "config" / "concord" / "agent.key"

    @property
    def signer(self) -> Signer:
        return read_signer(self._file, PASSPHRASE)


@pytest.fixture
def keys(environ: dict[str, str], home: Path, governed: Spawned, signers: CommandLine) -> Keys:
    """Of the space that both principals govern."""
    return Keys(environ, home, governed, signers)


def edge_of(edge: Triple) -> dict[str, object]:
    """A proposal's action: something that defines the agent."""
    source, relation, target = edge
    return {
        "upsert_edge": {
            "edge": {
                "source": {"name": source},
                "relation": relation,
                "target": {"name": target},
                "edge_type": "EDGE_TYPE_CONSTITUTIVE",
            }
        }
    }


class ToolsDoor:
    """MCP tools; over stdio the server signs, over HTTP the agent does."""

    def __init__(self, client: McpClient, signer: Signer | None) -> None:
        self._client, self._signer = client, signer

    async def _told(self, tool: str, **arguments: object) -> Any:
        result: Any = await self._client.call_tool(tool, arguments)
        told = json.loads(result.content[0].text)
        return {"status": "REFUSED"} if result.is_error else told

    async def add(self, content: str, fact: Triple, *supersedes: str) -> str:
        facts = [dict(zip(("subject", "relation", "object"), fact, strict=True))]
        told = await self._told(
            "add_memory", content=content, facts=facts, supersedes=list(supersedes)
        )
        return str(told["id"])

    async def search(self, query: str) -> list[str]:
        told = await self._told("search_memories", query=query)
        return [each["id"] for each in told["results"]]

    async def conflicts(self, node: str) -> int:
        return len((await self._told("dissonance_check", context_node=node))["conflicts"])

    async def propose(self, edge: Triple) -> str:
        return str((await self._told("smf_propose", action=edge_of(edge)))["id"])

    async def approve(self, proposal: str) -> str:
        digest = (await self._told("smf_review", proposal_id=proposal))["digest"]
        answer = await self._told("smf_approve", proposal_id=proposal, digest=digest)
        if self._signer is None or "to_sign" not in answer:
            return str(answer["status"])
        envelope = signed(answer, self._signer)
        sent = await self._told("smf_approve", proposal_id=proposal, envelope=envelope)
        return str(sent["status"])

    async def status(self, proposal: str) -> str:
        return str((await self._told("smf_review", proposal_id=proposal))["status"])

    async def verify(self) -> bool:
        return bool((await self._told("audit_verify"))["verified"])

    async def undo(self, proposal: str) -> str:
        return str((await self._told("smf_undo", proposal_id=proposal))["status"])


def signed(answer: Mapping[str, str], signer: Signer) -> str:
    """The envelope around the bytes that a tool gave to sign, made of nothing but them."""
    signature = signer.key.sign(base64.b64decode(answer["to_sign"]))
    return json.dumps(
        {
            "payload": base64.b64encode(answer["statement"].encode()).decode(),
            "payloadType": answer["payload_type"],
            "signatures": [
                {
                    "keyid": hashlib.sha256(public_bytes(signer.key)).hexdigest(),
                    "sig": base64.b64encode(signature).decode(),
                }
            ],
        }
    )


class PythonDoor:
    """The asynchronous client; `Twin` makes the synchronous one look like it."""

    def __init__(self, concord: Any, signer: Signer) -> None:
        self._concord, self._signer = concord, signer

    async def add(self, content: str, fact: Triple, *supersedes: str) -> str:
        added = await self._concord.add(content, facts=[Fact(*fact)], supersedes=supersedes)
        return str(added.id)

    async def search(self, query: str) -> list[str]:
        return [each.memory.id for each in (await self._concord.search(query)).results]

    async def conflicts(self, node: str) -> int:
        return len((await self._concord.check(node)).conflicts)

    async def propose(self, edge: Triple) -> str:
        return str((await self._concord.propose(edge_of(edge))).id)

    async def approve(self, proposal: str) -> str:
        seen = await self._concord.review(proposal)
        try:
            return str((await self._concord.approve(seen, self._signer)).status)
        except Refused:
            return "REFUSED"

    async def status(self, proposal: str) -> str:
        return str((await self._concord.review(proposal)).status)

    async def verify(self) -> bool:
        first = await self._concord.verify()
        again = await self._concord.verify(first.checkpoint)
        return bool(again.entries >= first.entries > 0)

    async def undo(self, proposal: str) -> str:
        return str((await self._concord.undo(await self._concord.review(proposal))).status)


class Twin:
    """The synchronous client, its verbs as coroutines."""

    def __init__(self, concord: Concord) -> None:
        self._concord = concord

    def __getattr__(self, name: str) -> Any:
        async def said(*args: Any, **kwargs: Any) -> Any:
            return getattr(self._concord, name)(*args, **kwargs)

        return said


class CommandDoor:
    """The command line."""

    def __init__(self, cli: CommandLine, folder: Path) -> None:
        self._cli, self._folder = cli, folder

    async def add(self, content: str, fact: Triple, *supersedes: str) -> str:
        links = [word for each in supersedes for word in ("--supersedes", each)]
        asked = ("add", content, "--fact", "|".join(fact), *links)
        return self._cli.reply(memory_pb2.AddMemoryResponse, *asked).memory.id

    async def search(self, query: str) -> list[str]:
        found = self._cli.reply(search_pb2.SearchResponse, "search", query)
        return [each.memory.id for each in found.results]

    async def conflicts(self, node: str) -> int:
        reply = self._cli.reply(dissonance_pb2.CheckDissonanceResponse, "check", node)
        return len(reply.conflicts)

    async def propose(self, edge: Triple) -> str:
        asked = ("propose", "set", *edge, "--constitutive")
        return self._cli.reply(proposal_pb2.CreateProposalResponse, *asked).proposal.id

    async def approve(self, proposal: str) -> str:
        self._cli.done("review", proposal, "--as", "agent")
        result = self._cli("approve", proposal, "--as", "agent")
        return await self.status(proposal) if result.exit_code == 0 else "REFUSED"

    async def status(self, proposal: str) -> str:
        listed = self._cli.reply(proposal_pb2.ListProposalsResponse, "proposals").proposals
        return self._name(next(each.status for each in listed if each.id == proposal))

    async def verify(self) -> bool:
        log = str(self._folder / "log.jsonl")
        self._cli.done("audit", "export", log)
        return "The log holds" in self._cli.done("audit", "verify", log)

    async def undo(self, proposal: str) -> str:
        made = self._cli.reply(proposal_pb2.UndoModificationResponse, "undo", proposal).proposal
        return self._name(made.status)

    @staticmethod
    def _name(status: proposal_pb2.ProposalStatus.ValueType) -> str:
        return proposal_pb2.ProposalStatus.Name(status).removeprefix("PROPOSAL_STATUS_")


@asynccontextmanager
async def stdio(keys: Keys, _folder: Path) -> AsyncIterator[Door]:
    """`concord mcp`, as agents start it."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "concord_client", "mcp", "--profile", "governance"],
        env=keys.environ,
    )
    async with McpClient(stdio_client(started)) as client:
        yield ToolsDoor(client, None)


@asynccontextmanager
async def http(keys: Keys, _folder: Path) -> AsyncIterator[Door]:
    """The gateway's /mcp/governance: the agent signs by itself."""
    headers = {"authorization": f"Bearer {keys.target.api_key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as plain:
        address = f"{keys.system.http_url}/mcp/governance"
        async with McpClient(streamable_http_client(address, http_client=plain)) as client:
            yield ToolsDoor(client, keys.signer)


@asynccontextmanager
async def awaited(keys: Keys, _folder: Path) -> AsyncIterator[Door]:
    """`AsyncConcord`."""
    async with AsyncConcord(AsyncClient(keys.target)) as concord:
        yield PythonDoor(concord, keys.signer)


@asynccontextmanager
async def called(keys: Keys, _folder: Path) -> AsyncIterator[Door]:
    """`Concord`."""
    with Concord(Client(keys.target)) as concord:
        yield PythonDoor(Twin(concord), keys.signer)


@asynccontextmanager
async def typed(keys: Keys, folder: Path) -> AsyncIterator[Door]:
    """`concord ...`."""
    yield CommandDoor(keys.cli, folder)


@pytest.mark.parametrize("opened", [stdio, http, awaited, called, typed])
async def test_the_story_passes_through_every_door(
    opened: Any, keys: Keys, unique: Unique, tmp_path: Path
) -> None:
    """W3 W4 V1 V6 V8 What the agent signs twice is pending still; the human signs with
    `concord approve`."""
    ada, lives, value = unique("Ada"), "LIVES_IN", unique("candour")
    keys.cli.done("relation", lives, "--functional", "--temporal-class", "state")
    async with opened(keys, tmp_path) as door:
        old = await door.add(f"{ada} lives in Bonn.", (ada, lives, "Bonn"))
        new = await door.add(f"{ada} lives in Rome.", (ada, lives, "Rome"), old)
        found = await door.search(f"Where does {ada} live?")
        agreed = await door.conflicts(ada)
        await door.add(f"{ada} lives in Oslo.", (ada, lives, "Oslo"))
        disputed = await door.conflicts(ada)

        made = await door.propose((ada, "VALUES", value))
        once, twice = await door.approve(made), await door.approve(made)
        still = await door.status(made)
        keys.cli.done("review", made, "--as", "human")
        keys.cli("approve", made, "--as", "human")
        done, whole, undone = await door.status(made), await door.verify(), await door.undo(made)

    assert new in found
    assert old not in found
    assert disputed > agreed
    assert once == still == "PENDING"
    assert twice in {"PENDING", "REFUSED"}
    assert (done, whole, undone) == ("EXECUTED", True, "PENDING")
