"""The index port over an index of parts: each version of a space is a part of its own.

A file maps the versions of each space to parts. A version begins to serve when the file is
replaced, in one durable step. A space that is not in it has one version, the part with its name.
"""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from concord_chassis.channel.cursors import Cursor
from cryptography.exceptions import InvalidTag

from concord_search.adapters.qdrant.index import QdrantIndex
from concord_search.adapters.qdrant.parts import VERSION_MARK
from concord_search.domain.candidates import Candidates
from concord_search.domain.digests import State
from concord_search.domain.errors import IndexCorrupt, NotTheWriter
from concord_search.domain.memory import MemoryState
from concord_search.ports.embedder import EmbeddingModel, Vector
from concord_search.ports.index import (
    Batch,
    IndexState,
    Near,
    NearQuery,
    OnPart,
    Question,
    Version,
    Weighed,
)

T = TypeVar("T")

_ROLES, _CURSORS = "versions", "cursors"

Roles = Mapping[Version, str]
"""The parts of one space by version."""


class PartVersions:
    """The versions of every space's index. A note beside the parts says which part is which.

    Lives on one event loop, which also changes the roles, so no search meets a half-done change.
    """

    def __init__(self, parts: QdrantIndex[Any]) -> None:
        self._parts = parts
        self._roles: Mapping[str, Roles] | None = None
        self._removing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._assigning = asyncio.Lock()

    async def open(self, on_part: OnPart = lambda _ready, _all: None) -> None:
        """Opens every part; removes unfinished ones of a process that was killed."""
        await self._parts.open(on_part)
        if self._roles is None:
            await self._read_roles()

    async def _read_roles(self) -> None:
        self._roles = await self._parts.note(_ROLES, _by_space, {})
        for name in (await self._parts.states()) if self._parts.leads else ():
            if name not in self._of(name.partition(VERSION_MARK)[0]).values():
                await self._parts.remove(name)

    async def check(self) -> None:
        await self._parts.check()

    def _of(self, space: str) -> Roles:
        return (self._roles or {}).get(space) or {Version.SERVING: space}

    def _name(self, space: str, version: Version = Version.SERVING) -> str:
        return self._of(space).get(version, "")

    async def _assign(self, space: str, change: Callable[[Roles], Roles]) -> Roles:
        """Changes a space's roles, one change at a time; returns those of before."""
        async with self._assigning:
            before = self._of(space)
            changed = {**(self._roles or {}), space: change(before)}
            # to the disk, since parts that it no longer names are removed next
            await self._parts.keep(_ROLES, changed)
            self._roles = changed
            return before

    # One index of several processes: by default this one alone has it, and leads

    def demand_lead(self) -> None:
        if not self._parts.leads:
            raise NotTheWriter

    # Versions

    async def states(self, version: Version = Version.SERVING) -> Mapping[str, IndexState]:
        return _States(await self._parts.states(), lambda space: self._name(space, version))

    async def state(self, space: str, version: Version = Version.SERVING) -> IndexState | None:
        return await self._parts.state(self._name(space, version))

    async def cursors(self) -> Mapping[int, Cursor]:
        """Also none if there are fewer parts than when they were kept: somebody may have deleted
        some, to have them built anew."""
        none: tuple[int, Mapping[int, Cursor]] = (0, {})
        parts, kept = await self._parts.note(_CURSORS, _kept, none)
        return kept if len(await self._parts.states()) >= parts else {}

    async def keep_cursors(self, cursors: Mapping[int, Cursor]) -> None:
        kept = {"parts": len(await self._parts.states()), "cursors": cursors}
        await self._parts.keep(_CURSORS, kept)

    def model(self, space: str) -> EmbeddingModel:
        """The model of the version that serves, or of the part that a space will get."""
        return self._parts.model(self._name(space))

    async def begin(self, space: str, epoch: str, model: EmbeddingModel | None = None) -> None:
        state = (await self.states()).get(space)
        if state is not None and state.epoch != epoch:
            for version in (Version.NEXT, Version.FORMER):
                await self.remove_version(space, version)
        await self._parts.begin(self._name(space), epoch, model)

    async def begin_next(self, space: str, model: EmbeddingModel) -> None:
        await self.remove_version(space, Version.NEXT)
        name = f"{space}{VERSION_MARK}{secrets.token_hex(4)}"
        await self._parts.begin(name, (await self.states())[space].epoch, model)
        await self._assign(space, lambda before: {**before, Version.NEXT: name})

    async def recall(self, space: str) -> None:
        await self._assign(space, _recalled)

    async def promote(self, space: str) -> None:
        before = await self._assign(space, partial(_swapped, space))
        if former := before.get(Version.FORMER):
            await self._removed(space, former)

    async def remove_version(self, space: str, version: Version) -> None:
        if version is Version.SERVING or not self._name(space, version):
            return
        before = await self._assign(space, partial(_without, version))
        if name := before.get(version):
            await self._removed(space, name)

    async def _removed(self, space: str, name: str) -> None:
        async with self._removing[space]:  # not while its files are made anew
            await self._parts.remove(name)

    # Of the version that serves, if no other is named

    async def remove(self, space: str) -> None:
        """Removes a space's part with all its versions."""
        for version in (Version.NEXT, Version.FORMER):
            await self.remove_version(space, version)
        await self._parts.remove(self._name(space))
        await self._parts.scrub_removed()

    async def apply(self, space: str, batch: Batch, version: Version = Version.SERVING) -> None:
        await self._parts.apply(self._name(space, version), batch)

    async def unembedded(
        self, space: str, states: Sequence[MemoryState], version: Version = Version.SERVING
    ) -> list[bool]:
        return await self._parts.unembedded(self._name(space, version), states)

    def _answering(self, space: str, model: EmbeddingModel) -> str:
        """The part with vectors of a model: the serving one, or the one that served just before."""
        serving, former = self._name(space), self._name(space, Version.FORMER)
        if former and self._parts.model(serving) != model == self._parts.model(former):
            return former
        return serving

    async def ask(self, space: str, question: Question) -> Candidates:
        return await self._asked(self._parts.ask, space, question)

    async def weigh(self, space: str, question: Question, weight: asyncio.Future[float]) -> Weighed:
        return await self._asked(self._parts.weigh, space, question, weight)

    async def _asked(
        self,
        ask: Callable[..., Awaitable[T]],
        space: str,
        question: Question,
        *given: asyncio.Future[float],
    ) -> T:
        name = self._answering(space, question.model)
        found = await ask(name, question, *given)
        if name in self._of(space).values():
            return found
        return await self._asked(ask, space, question, *given)  # removed meanwhile

    async def near(
        self, space: str, vector: Vector, model: EmbeddingModel, query: NearQuery
    ) -> list[Near]:
        name = self._answering(space, model)
        return await self._parts.near(name, vector, model, query)

    async def near_each(
        self, space: str, ids: Sequence[str], query: NearQuery
    ) -> list[Sequence[Near] | None]:
        return await self._parts.near_each(self._name(space), ids, query)

    async def vector_of(
        self, space: str, item_id: str, seq: int, model: EmbeddingModel
    ) -> Vector | None:
        return await self._parts.vector_of(self._answering(space, model), item_id, seq, model)

    async def held(self, space: str) -> Sequence[State]:
        return await self._parts.held(self._name(space))

    async def drop(self, space: str, ids: Collection[str]) -> None:
        await self._parts.drop(self._name(space), ids)

    async def unconfirmed(self) -> Sequence[str]:
        found = await self._parts.unconfirmed()
        spaces = ((name, name.partition(VERSION_MARK)[0]) for name in found)
        return [space for name, space in spaces if name == self._name(space)]

    async def scrub_removed(self) -> None:
        await self._parts.scrub_removed()

    async def scrub(self, space: str) -> Sequence[str]:
        async with self._removing[space]:
            ids = await self._parts.scrub(self._name(space))
            if former := self._name(space, Version.FORMER):
                await self._parts.scrub(former)
        return ids

    async def confirmed(self, space: str, ids: Sequence[str]) -> None:
        await self._parts.confirmed(self._name(space), ids)

    def id_of(self, space: str, item: str) -> str:
        try:
            return self._parts.id_of(self._name(space), item)
        except InvalidTag:  # encrypted by the version that served the search
            return self._parts.id_of(self._name(space, Version.FORMER), item)

    async def close(self) -> None:
        await self._parts.close()


class _States(Mapping[str, IndexState]):
    """The states of one version of each space, each made when it is asked for."""

    def __init__(self, parts: Mapping[str, IndexState], name_of: Callable[[str], str]) -> None:
        self._parts = parts
        self._name_of = name_of

    def __getitem__(self, space: str) -> IndexState:
        return self._parts[self._name_of(space)]

    def __iter__(self) -> Iterator[str]:
        spaces = dict.fromkeys(name.partition(VERSION_MARK)[0] for name in self._parts)
        return (space for space in spaces if self._name_of(space) in self._parts)

    def __contains__(self, space: object) -> bool:
        return self._name_of(str(space)) in self._parts

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _by_space(found: Any) -> Mapping[str, Roles]:
    return {
        space: {Version(version): str(part) for version, part in roles.items()}
        for space, roles in found.items()
    }


def _kept(found: Any) -> tuple[int, Mapping[int, Cursor]]:
    return found["parts"], {int(each): Cursor(*at) for each, at in found["cursors"].items()}


def _recalled(before: Roles) -> Roles:
    former = before.get(Version.FORMER)
    return {**_without(Version.FORMER, before), Version.NEXT: former} if former else before


def _swapped(space: str, before: Roles) -> Roles:
    if Version.NEXT not in before:
        raise IndexCorrupt(f"the space {space!r} has no {Version.NEXT} index")
    return {Version.SERVING: before[Version.NEXT], Version.FORMER: before[Version.SERVING]}


def _without(version: Version, before: Roles) -> Roles:
    return {each: name for each, name in before.items() if each is not version}
