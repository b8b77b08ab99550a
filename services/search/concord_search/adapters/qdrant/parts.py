"""The parts of an index, and the partitions in which they lie: opened, made, removed."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic

from concord_chassis.channel.partitions import partition_of

from concord_search.adapters.qdrant.cache import ColumnsCache
from concord_search.adapters.qdrant.catalogue import Catalogue, Stamp
from concord_search.adapters.qdrant.columns_file import ColumnsFile
from concord_search.adapters.qdrant.filters import Filter, MatchAny
from concord_search.adapters.qdrant.partition import Part, Partition
from concord_search.adapters.qdrant.payload import MARK
from concord_search.adapters.qdrant.shard import LAYOUT, S, Shards, Words
from concord_search.adapters.qdrant.space import STORED_FROM, SpaceIndex
from concord_search.adapters.qdrant.tenant import Tenant, number_of
from concord_search.adapters.qdrant.watermark import Watermark
from concord_search.domain.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexUnavailable,
    ModelMismatch,
)
from concord_search.ports.embedder import EmbeddingModel

VERSION_MARK = "\n"
"""The separator between a space's name and a version's; no space's name contains it."""

NOTED_PAGE = 100
"""Points read at once while a copy catches up: with the embedded engine, all else waits."""

_MARKS = Filter(must=(MatchAny(MARK, (1,)),))


class Parts(Generic[S]):
    """The parts by name, under one directory that no other process may open. Blocking.

    ROOT/lock                 held while open
    ROOT/X/columns/N          the ranking columns of a large part that is not in memory

    The transport provides the shards and the catalogue of the parts. A partition's stamp is written
    last. Where processes share both, `open` also brings what is in memory up to date, and the one
    process that `leads` alone writes. New parts use the
    first of `models`; existing parts may use the others: each model has shards of its own. One
    thread changes the parts: whoever iterates over them takes a copy.
    """

    def __init__(
        self,
        root: Path,
        models: Sequence[EmbeddingModel],
        shards: Shards[S],
        words: Words,
        *,
        partitions: int,
        cache_bytes: int,
        stored_from: int = STORED_FROM,
    ) -> None:
        self._root = root
        self._models = models
        self._shards = shards
        self._words = words
        self._count = partitions
        self._stored_from = stored_from
        self._lock: int | None = None
        self._catalogue: Catalogue | None = None
        self.by_name: dict[str, Part[S]] = {}
        self.partitions: dict[tuple[int, EmbeddingModel], Partition[S]] = {}
        self.columns = ColumnsCache(self._loaded, cache_bytes)

    # Opening

    def stamped(self) -> tuple[Mapping[Path, Stamp | None], int]:
        """Locks the root; returns each partition's stamp, None if its shard is lost, and how many
        parts there are. Leaves what is in memory of shards without a stamp.

        Raises `IndexLocked`, `IndexCorrupt` or `IndexDiskFull`.
        """
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._lock is None:
            self._lock = _locked(self._root)
        self._shards.require_room()
        if self._catalogue is None:
            self._catalogue = self._shards.catalogue(self._root)
        else:
            self._catalogue.renew()
        self._count = self._catalogue.partitions(self._count)
        stamps = self._catalogue.stamps()
        lost = self._shards.missing({str(stamp["shard"]) for stamp in stamps.values() if stamp})
        there = {
            self._root / name: None if stamp and stamp["shard"] in lost else stamp
            for name, stamp in stamps.items()
        }
        for partition in [*self.partitions.values()]:
            if there.get(partition.path) is None:
                self._leave(partition)
        return there, len(self._catalogue.tenants())

    def open(self, directory: Path, stamp: Stamp | None) -> None:
        """Opens a partition with its parts; drops one of another layout or engine, or whose making
        was interrupted."""
        if stamp is None or not self._can_open(stamp):
            if self._shards.leads:
                self._discard(directory, str(stamp["shard"]) if stamp else "")
            return
        model = EmbeddingModel(**stamp["model"])
        if model not in self._models:
            known = " or ".join(each.in_words for each in self._models)
            raise ModelMismatch(
                f"{directory} holds vectors of {model.in_words}, this server embeds with {known}, "
                "and the two are never mixed. Configure the former model, or delete "
                f"{directory}: it is rebuilt from graph."
            )
        shard, shared = self._shards.load(directory, str(stamp["shard"])), self._shards.shared
        partition = Partition(directory, int(stamp["partition"]), model, shard)
        partition.shared = partition.inherited = shared
        partition.leads = self._shards.leads
        partition.removals = int(directory.name in self.catalogue.traced())
        former = self.partitions.get((partition.number, model))
        self._open_parts(partition)
        self.partitions[partition.number, model] = partition
        if former is not None:
            for number in former.parts.keys() - partition.parts.keys():
                self._forget(former.parts[number])
        self._leave_if_empty(partition)

    def _can_open(self, stamp: Stamp) -> bool:
        engine = stamp.get("engine", "edge")  # older stamps do not name the engine
        return stamp.get("layout") == LAYOUT and bool(engine == self._shards.engine)

    def _open_parts(self, partition: Partition[S]) -> None:
        """Reads every part's watermark, and no other point."""
        known = self.catalogue.tenants()
        for point, values in partition.shard.scroll(_MARKS):
            number = number_of(point)
            if number in known:
                self._add(partition, number, Watermark.of(values))
            elif self._shards.leads:  # a process was killed, or the file of spaces is a new one
                self._note_removal(partition)
                partition.shard.delete_all(Tenant(partition.shard, number).own)

    def _add(self, partition: Partition[S], number: int, mark: Watermark) -> None:
        part = Part(*self.catalogue.tenants()[number], number, partition, mark, partition.removals)
        partition.parts[number] = self.by_name[part.name] = part

    def settle(self) -> None:
        """Ends the opening: forgets spaces that no partition has."""
        there = {part.number for part in self.by_name.values()}
        if self._shards.leads and (gone := self.catalogue.tenants().keys() - there):
            self.catalogue.remove(gone)

    def _forget(self, part: Part[S]) -> None:
        self.columns.drop(part)
        part.partition.parts.pop(part.number, None)
        if self.by_name.get(part.name) is part:
            del self.by_name[part.name]

    def _leave(self, partition: Partition[S]) -> None:
        del self.partitions[partition.number, partition.model]
        for part in [*partition.parts.values()]:
            self._forget(part)

    @property
    def catalogue(self) -> Catalogue:
        """What is known of the parts beside their points. Raises `IndexUnavailable` at first."""
        if self._catalogue is None:
            raise IndexUnavailable("the index is not open")
        return self._catalogue

    def _loaded(self, part: Part[S]) -> SpaceIndex[S]:
        space = self._over(part)
        space.load()
        return space

    def _over(self, part: Part[S]) -> SpaceIndex[S]:
        return SpaceIndex(
            part,
            self._words,
            ColumnsFile(_columns(part)),
            lambda part: self._note_removal(part.partition, part),
            stored_from=self._stored_from,
        )

    def read_again(self, part: Part[S]) -> None:
        """Leaves what is in memory of a part: its shard says how it is."""
        self.columns.drop(part)
        part.read()

    # Parts

    def model(self, name: str) -> EmbeddingModel:
        """The model of a part, or that of new parts."""
        part = self.by_name.get(name)
        return self._models[0] if part is None else part.model

    def begin(self, name: str, epoch: str, given: EmbeddingModel | None) -> None:
        """Makes an empty part for a store's epoch, dropping one of another epoch."""
        part, model = self.by_name.get(name), given or self.model(name)
        if part is not None and part.mark.epoch == epoch:  # a reindex may have asked, too
            return
        self._shards.require_room()
        self.remove(name)
        space = name.partition(VERSION_MARK)[0]
        partition = self._partition(partition_of(space, self._count), model)
        number, secret = self.catalogue.add(name)
        part = Part(name, secret, number, partition, Watermark())
        part.write(Watermark(epoch))
        partition.parts[number] = self.by_name[name] = part
        self.columns.put(part, self._over(part))

    def _partition(self, number: int, model: EmbeddingModel) -> Partition[S]:
        found = self.partitions.get((number, model))
        if found is None:
            path = self._root / secrets.token_hex(8)
            path.mkdir(mode=0o700)
            shard = self._shards.create(path, model.dimension)
            shard.flush()
            found = Partition(path, number, model, shard, shared=self._shards.shared)
            self.make_current(found, shard)
            self.partitions[number, model] = found
        return found

    def remove(self, name: str) -> None:
        """Removes a part with its secret, if there is one. The shard's files keep its bytes until
        they are made anew, which `has_traces` says."""
        part = self.by_name.pop(name, None)
        if part is None:
            return
        partition = part.partition
        self.columns.drop(part)
        _columns(part).unlink(missing_ok=True)
        del partition.parts[part.number]
        self._note_removal(partition)
        partition.leavers.add(part.number)
        if not self._leave_if_empty(partition):
            partition.shard.delete_all(part.tenant.own)
        self.catalogue.remove([part.number])

    def __getitem__(self, name: str) -> Part[S]:
        try:
            return self.by_name[name]
        except KeyError:
            raise IndexCorrupt(f"the space {name!r} has no part yet") from None

    # Partitions

    def make_current(self, partition: Partition[S], shard: S) -> None:
        """Makes a shard its partition's current one."""
        self._shards.make_current(partition.path, shard)
        stamp = {
            "partition": partition.number,
            "layout": LAYOUT,
            "engine": self._shards.engine,
            "model": asdict(partition.model),
            "shard": shard.name,
        }
        # to the disk, since the shard that it no longer names is removed next
        self.catalogue.stamp(partition.path.name, stamp)

    def _leave_if_empty(self, partition: Partition[S]) -> bool:
        """Removes a partition without parts, unless its files are being copied."""
        key = partition.number, partition.model
        if partition.parts or partition.shard.noted is not None or key not in self.partitions:
            return False
        if not self._shards.leads:
            return False
        del self.partitions[key]
        partition.shard.close()
        self._discard(partition.path, partition.shard.name)
        return True

    def _discard(self, directory: Path, shard: str) -> None:
        self.catalogue.unstamp(directory.name)  # first: a kill may come between
        self._shards.discard(directory, shard)
        shutil.rmtree(directory, ignore_errors=True)
        self.catalogue.untrace(directory.name)

    def lost(self) -> list[Partition[S]]:
        """The partitions whose shards are lost. Raises `IndexUnavailable`."""
        named = {each.shard.name: each for each in self.partitions.copy().values()}
        return [named[name] for name in self._shards.missing(named)]

    def leave_lost(self) -> None:
        """Lets go of partitions whose shards are lost, with their parts."""
        self.catalogue.renew()
        for partition in self.lost():
            self._leave(partition)
            if self._shards.leads:
                self._discard(partition.path, partition.shard.name)
        self.settle()

    # Making files anew (M4)

    def _note_removal(self, partition: Partition[S], part: Part[S] | None = None) -> None:
        """Notes that points are removed next: before, as a kill may come in between."""
        if partition.removals == partition.clean:
            self.catalogue.trace(partition.path.name)
        partition.removals += 1
        if part is not None:
            part.removal = partition.removals

    def begin_copy(self, partition: Partition[S]) -> int:
        """Begins to note what is written; returns the removals until now."""
        partition.shard.noted = set()
        partition.leavers = set()
        parts = partition.parts.values()
        partition.erased = {part.number: part.mark.unconfirmed for part in parts}
        for space in self.columns.loaded():
            if space.part.partition is partition:
                space.forget_words()
        return partition.removals

    def take(self, partition: Partition[S], fresh: S, clean: int) -> None:
        """Brings a copy up to date and makes it the shard, without bytes of the first `clean`
        removals.

        Running searches end on the former one: it is closed when nobody holds it any more.
        """
        former, noted = partition.shard, sorted(partition.shard.noted or ())
        for start in range(0, len(noted), NOTED_PAGE):
            some = noted[start : start + NOTED_PAGE]
            there = partition.lasting(former.points(some))
            fresh.upsert(there)
            fresh.delete(sorted({*some} - {point for point, _, _ in there}))
        for number in partition.leavers:
            fresh.delete_all(Tenant(fresh, number).own)
        fresh.flush()
        self.make_current(partition, fresh)
        partition.shard, former.noted = fresh, None
        partition.clean, partition.inherited = clean, False
        if partition.removals == clean:
            self.catalogue.untrace(partition.path.name)
        self._shards.remove(former)
        self._leave_if_empty(partition)

    def leave_copy(self, partition: Partition[S]) -> None:
        """Ends a copy that was not taken."""
        partition.shard.noted = None
        self._leave_if_empty(partition)

    def close(self) -> None:
        """Closes everything, and unlocks the directory."""
        for space in self.columns.loaded():
            with suppress(IndexUnavailable):  # then the next start asks the server for its points
                space.store()
        while self.partitions:
            with suppress(IndexUnavailable):
                self.partitions.popitem()[1].shard.close()
        if self._catalogue is not None:
            self._catalogue.close()
            self._catalogue = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _columns(part: Part[Any]) -> Path:
    return part.partition.path / "columns" / str(part.number)


def _locked(root: Path) -> int:
    lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise IndexLocked(
            f"The index in {root} is in use by another process. Stop that process, or choose "
            "another data directory."
        ) from error
    return lock
