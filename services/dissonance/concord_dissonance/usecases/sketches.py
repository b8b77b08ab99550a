"""Sketches of memories' texts: kept where they were read before, else read now."""

from collections.abc import Mapping, Sequence

from concord_chassis.server.workers import Workers

from concord_dissonance.domain.candidates import Sketches
from concord_dissonance.domain.sides import Side, read_all
from concord_dissonance.domain.sketch import Sketch, sketch, version
from concord_dissonance.domain.statements import Statement
from concord_dissonance.ports.sketches import SketchStore


class Sketched:
    """The use case. `key`: under it words are hashed; with another one all is read anew."""

    def __init__(self, store: SketchStore, workers: Workers, key: bytes) -> None:
        self._store, self._workers, self._key = store, workers, key

    async def __call__(
        self, space: str, memories: Sequence[Statement], *, at_once: int
    ) -> Sketches:
        """The sketch of each memory; `at_once`: most texts that keep the thread busy."""
        versions, kept = await self._kept(space, memories)
        found = {memory_id: Sketch.unpacked(packed) for memory_id, packed in kept.items()}
        unread = [each for each in memories if each.id not in found]
        for start in range(0, len(unread), at_once):
            part = unread[start : start + at_once]
            new = await self._workers.run_in(space, self._read, [each.side for each in part])
            rows = [(each, versions[each], made.packed()) for each, made in new.items()]
            await self._store.put(space, rows)
            found |= new
        return found

    async def unread(self, space: str, memories: Sequence[Statement]) -> Sequence[str]:
        """The ids of the memories whose texts, as they are now, were not read."""
        _, kept = await self._kept(space, memories)
        return [each.id for each in memories if each.id not in kept]

    async def _kept(
        self, space: str, memories: Sequence[Statement]
    ) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
        """The version of each memory, and the packed sketches that are of these versions."""
        there = await self._store.get(space, [each.id for each in memories])
        versions = await self._workers.run(self._versions, memories)
        kept = {
            memory_id: packed
            for memory_id, (version, packed) in there.items()
            if version == versions[memory_id]
        }
        return versions, kept

    def _versions(self, memories: Sequence[Statement]) -> dict[str, bytes]:
        return {each.id: version(each.side, self._key) for each in memories}

    def _read(self, sides: Sequence[Side]) -> dict[str, Sketch]:
        read_all(sides)
        return {each.id: sketch(each, self._key) for each in sides}
