"""Fresh spaces of a running `concord up`, each with keys as it makes them, and honest memories.

`honest.tsv` was written for this: of each line the subject, relation and object of a fact, a false
object, a question, a memory that answers it in other words, and a false answer in the question's
own words. The first 25 are a person's.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from concord.governance.v1 import access_pb2
from concord.graph.v1 import memory_pb2, relation_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient, credentials
from concord_client.credentials import SYSTEM_SPACE, Target
from concord_testing.up_process import Spawned

MATERIAL = Path(__file__).parent / "honest.tsv"
PERSONS = 25
AT_ONCE = 8
PATIENCE = 120.0
"""Seconds a call may take: a busy machine is no failure."""
T = TypeVar("T")
_numbers = itertools.count(1)
_SCOPES = (access_pb2.KEY_SCOPE_READ, access_pb2.KEY_SCOPE_WRITE, access_pb2.KEY_SCOPE_GOVERN)
_KEYS = {
    "owner": (type_pb2.PRINCIPAL_KIND_HUMAN, (*_SCOPES, access_pb2.KEY_SCOPE_ADMIN)),
    "agent": (type_pb2.PRINCIPAL_KIND_AGENT, _SCOPES),
    "helper": (type_pb2.PRINCIPAL_KIND_AGENT, _SCOPES),
    "crawler": (type_pb2.PRINCIPAL_KIND_SYSTEM, _SCOPES[:2]),
}
"""Kinds and scopes as `concord up` gives its own two keys."""


@dataclass(frozen=True)
class Honest:
    """A question, the memory that answers it in other words, and what somebody would have said."""

    id: str
    subject: str
    relation: str
    target: str
    false: str
    question: str
    memory: str
    imitation: str
    """The false object in the question's own words."""
    is_persons: bool

    def fact(self, target: str = "") -> type_pb2.Fact:
        """The fact that its memory states, or one with another object."""
        return type_pb2.Fact(
            subject=self.subject, relation=self.relation, object=target or self.target
        )

    @property
    def lie(self) -> str:
        """Its memory with the false object."""
        return self.memory.replace(self.target, self.false)


def material(least: int = 1) -> list[Honest]:
    """Every so many-th line."""
    lines = MATERIAL.read_text("utf-8").splitlines()
    every = [
        Honest(*line.split("\t"), is_persons=at < PERSONS)  # type: ignore[arg-type,misc] # 8 fields
        for at, line in enumerate(lines)
    ]
    return every[::least]


@dataclass(frozen=True)
class Space:
    """A space with its keys' clients: the owner, a person; two agents; a tool."""

    name: str
    owner: AsyncClient
    agent: AsyncClient
    helper: AsyncClient
    crawler: AsyncClient
    agent_key: str
    secret: str
    """For its genesis."""

    def whose(self, line: Honest) -> AsyncClient:
        """Who says a line."""
        return self.owner if line.is_persons else self.agent

    async def furnish(self, lines: Iterable[Honest], *, every: bool = False) -> str:
        """Has the owner and the agent say what they know; the token of the last write.

        Of every second relation, or of `every` one, they declare that it has one value.
        """
        token = ""
        for at, each in enumerate(lines):
            by = self.whose(each)
            if every or at % 2:
                request = relation_pb2.DeclareRelationRequest(name=each.relation, functional=True)
                await by.relation.DeclareRelation(request)
            facts = [each.fact()]
            token = (await add(by, each.memory, id=each.id, external_id=each.id, facts=facts)).token
        return token

    async def search(self, question: str, token: str) -> search_pb2.SearchResponse:
        """The default results of a question, once the index has the write `token`."""
        return await found(self.agent, question, token)


async def add(by: AsyncClient, content: str, **fields: object) -> memory_pb2.AddMemoryResponse:
    """Remembers a text."""
    memory = type_pb2.Memory(content=content, **fields)  # type: ignore[arg-type]
    return await by.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=memory))


async def get(by: AsyncClient, memory_id: str) -> type_pb2.Memory:
    """A memory as it is now."""
    request = memory_pb2.GetMemoryRequest(id=memory_id, peek=True)
    return (await by.memory.GetMemory(request)).memory


async def found(
    by: AsyncClient, question: str, token: str, **fields: object
) -> search_pb2.SearchResponse:
    """What a search finds by default, once the index has the write `token`."""
    seen = type_pb2.Consistency(at_least_as_fresh=token)
    request = search_pb2.SearchRequest(query=question, consistency=seen, peek=True, **fields)  # type: ignore[arg-type]
    return await by.search.Search(request)


async def fresh(by: AsyncClient) -> str:
    """The token of a write behind all others."""
    return (await add(by, "The round is over.", id=f"end-{next(_numbers)}")).token


async def at_once(work: Callable[[T], Awaitable[object]], given: Sequence[T]) -> None:
    """Works on all that is given, a few at a time."""
    rest = iter(given)

    async def some() -> None:
        for each in rest:
            await work(each)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


@asynccontextmanager
async def space(system: Spawned, what: str) -> AsyncIterator[Space]:
    """A new space and its keys."""
    known = credentials.read(system.data / credentials.FILE_NAME)
    name = f"{what}-{next(_numbers)}"
    async with AsyncExitStack() as stack:
        operator_key = Target(system.url, known.keys[SYSTEM_SPACE])
        operator = await stack.enter_async_context(AsyncClient(operator_key))
        made = await operator.access.CreateSpace(access_pb2.CreateSpaceRequest(space=name))
        clients, keys = dict[str, AsyncClient](), dict[str, str]()
        for principal, (kind, scopes) in _KEYS.items():
            request = access_pb2.CreateKeyRequest(
                space=name, principal=principal, kind=kind, scopes=scopes
            )
            keys[principal] = (await operator.access.CreateKey(request)).secret
            client = AsyncClient(Target(system.url, keys[principal]), timeout=PATIENCE)
            clients[principal] = await stack.enter_async_context(client)
        yield Space(name, **clients, agent_key=keys["agent"], secret=made.enrolment_secret)
