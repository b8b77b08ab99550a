"""The parts of an index: a directory and a shard per space, opened, made and removed."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic

from concord_search.adapters.durable_file import read_json, replace_json
from concord_search.adapters.qdrant.columns_file import ColumnsFile
from concord_search.adapters.qdrant.keys import new_key, read_key
from concord_search.adapters.qdrant.shard import LAYOUT, S, Shards, Words
from concord_search.adapters.qdrant.space import SpaceIndex
from concord_search.domain.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexUnavailable,
    IndexUnusable,
    ModelMismatch,
)
from concord_search.ports.embedder import EmbeddingModel

SERVER = "qdrant"
"""The engine whose shards cannot be reached without its address."""

Stamp = Mapping[str, Any]
"""A part's space, layout, embedding model, shard and engine."""


class Parts(Generic[S]):
    """The open parts by space, under one directory that no other process may open. Blocking.

    ROOT/lock                 held while open
    ROOT/HASH/stamp.json      the part's stamp; written last
    ROOT/HASH/key             the space's secret (0600)
    ROOT/HASH/columns         the ranking columns, while no process has the part open for writing

    The transport provides the shards, and may store them beside these files. New parts use the
    first of `models`; existing parts may use the others. One thread changes the parts: whoever
    iterates over them takes a copy.
    """

    def __init__(
        self, root: Path, models: Sequence[EmbeddingModel], shards: Shards[S], words: Words
    ) -> None:
        self._root = root
        self._models = models
        self._shards = shards
        self._words = words
        self._lock: int | None = None
        self.by_space: dict[str, SpaceIndex[S]] = {}

    def stamped(self) -> Mapping[Path, Stamp | None]:
        """Locks the root; returns the stamp of each part's directory, None if its shard is lost.

        Raises `IndexLocked`, `IndexCorrupt` or `IndexDiskFull`.
        """
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._lock is None:
            self._lock = _locked(self._root)
        self._shards.require_room()
        directories = sorted(path for path in self._root.iterdir() if path.is_dir())
        stamped = {path: read_json(path / "stamp.json", _stamp, None) for path in directories}
        lost = self._shards.missing({str(stamp["shard"]) for stamp in stamped.values() if stamp})
        return {p: None if s and s["shard"] in lost else s for p, s in stamped.items()}

    def open(self, directory: Path, stamp: Stamp | None) -> None:
        """Opens a part; drops one of another layout or engine, or whose making was interrupted."""
        if stamp is not None and stamp.get("engine") == SERVER != self._shards.engine:
            raise IndexUnusable(
                f"{directory} belongs to the collections {stamp['shard']}-* of a Qdrant "
                "server. To leave that server, remove them there, as they may hold what is "
                f"erased later, and delete {directory}: it is rebuilt from graph."
            )
        if stamp is None or not self._can_open(stamp):
            self._discard(directory)
            return
        model = EmbeddingModel(**stamp["model"])
        if model not in self._models:
            known = " or ".join(each.in_words for each in self._models)
            raise ModelMismatch(
                f"{directory} holds vectors of {model.in_words}, this server embeds with {known}, "
                "and the two are never mixed. Configure the former model, or delete "
                f"{directory}: it is rebuilt from graph."
            )
        self._load(directory, str(stamp["space"]), str(stamp["shard"]), model)

    def _can_open(self, stamp: Stamp) -> bool:
        engine = stamp.get("engine", "edge")  # older stamps do not name the engine
        return stamp.get("layout") == LAYOUT and bool(engine == self._shards.engine)

    def load_again(self, part: SpaceIndex[S], space: str) -> SpaceIndex[S]:
        """The part as its shard says it, in place of what is in memory."""
        return self._load(self.directory(space), space, part.shard.name, part.model)

    def _load(self, directory: Path, space: str, name: str, model: EmbeddingModel) -> SpaceIndex[S]:
        part = self._over(directory, self._shards.load(directory, name), model)
        part.resume()
        self.by_space[space] = part
        return part

    def _over(self, directory: Path, shard: S, model: EmbeddingModel) -> SpaceIndex[S]:
        key, columns = read_key(directory / "key"), ColumnsFile(directory / "columns")
        return SpaceIndex(shard, key, self._words, columns, model)

    def lost(self) -> list[str]:
        """The spaces of parts whose shards are lost. Raises `IndexUnavailable`."""
        named = {part.shard.name: space for space, part in self.by_space.copy().items()}
        return [named[name] for name in self._shards.missing(named)]

    def leave_lost(self) -> None:
        """Lets go of parts whose shards are lost."""
        for space in self.lost():
            del self.by_space[space]

    def model(self, space: str) -> EmbeddingModel:
        """The model of a part, or that of new parts."""
        part = self.by_space.get(space)
        return self._models[0] if part is None else part.model

    def begin(self, space: str, epoch: str, given: EmbeddingModel | None) -> None:
        """Makes an empty part for a store's epoch, dropping one of another epoch."""
        part, model = self.by_space.get(space), given or self.model(space)
        if part is not None and part.state().epoch == epoch:  # a reindex may have asked, too
            return
        self._shards.require_room()
        if (former := self.by_space.pop(space, None)) is not None:
            former.close()
        directory = self.directory(space)
        if directory.exists():
            self._discard(directory)
        directory.mkdir(mode=0o700)
        new_key(directory / "key")
        empty = self._shards.create(directory, model.dimension)
        part = self._over(directory, empty, model)
        part.begin(epoch)
        self.make_current(space, empty, model)
        self.by_space[space] = part

    def make_current(self, space: str, shard: S, model: EmbeddingModel) -> None:
        """Makes a shard its part's current one."""
        directory = self.directory(space)
        self._shards.make_current(directory, shard)
        stamp = {
            "space": space,
            "layout": LAYOUT,
            "engine": self._shards.engine,
            "model": asdict(model),
            "shard": shard.name,
        }
        # to the disk, since the shard that it no longer names is removed next
        replace_json(directory / "stamp.json", stamp)

    def remove(self, space: str) -> None:
        """Removes a part, if there is one."""
        if (part := self.by_space.pop(space, None)) is not None:
            part.close()
            self._discard(self.directory(space))

    def _discard(self, directory: Path) -> None:
        (directory / "stamp.json").unlink(missing_ok=True)  # first: a kill may come between
        self._shards.discard(directory)
        shutil.rmtree(directory)

    def directory(self, space: str) -> Path:
        """The directory of a space's part."""
        return self._root / hashlib.sha256(space.encode()).hexdigest()[:32]

    def __getitem__(self, space: str) -> SpaceIndex[S]:
        try:
            return self.by_space[space]
        except KeyError:
            raise IndexCorrupt(f"the space {space!r} has no part yet") from None

    def close(self) -> None:
        """Closes every part, and unlocks the directory."""
        while self.by_space:
            with suppress(IndexUnavailable):  # then the next start asks the server for everything
                self.by_space.popitem()[1].close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _stamp(found: Any) -> Stamp | None:
    return found if isinstance(found, dict) else None


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
