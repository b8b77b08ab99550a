"""The collections and aliases below a folder, as a kill -9 leaves them.

FOLDER/registry.json      the collections' folders and the aliases; replaced whole
FOLDER/X/made             how a collection was asked for
FOLDER/X/shard            the engine's files, its log among them

A folder that the registry does not name was in the making, or its removal was under way.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
import qdrant_edge as engine
from qdrant_client import grpc as wire

from tests.support.qdrant_stand_in import layout
from tests.support.qdrant_stand_in.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection: how it was asked for, its folder, and the engine over it."""

    made: wire.CreateCollection
    folder: Path
    shard: engine.EdgeShard


class Storage:
    """The collections by name, and the aliases."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._registry = folder / "registry.json"
        folder.mkdir(parents=True, exist_ok=True)
        kept: Mapping[str, dict[str, str]] = (
            json.loads(self._registry.read_text("utf-8")) if self._registry.exists() else {}
        )
        self._aliases = kept.get("aliases", {})
        named = kept.get("collections", {})
        for stray in folder.iterdir():
            if stray.is_dir() and stray.name not in named.values():
                shutil.rmtree(stray)
        self._collections = {name: _load(folder / each) for name, each in named.items()}

    @property
    def names(self) -> Iterable[str]:
        """The collections' names."""
        return self._collections.keys()

    @property
    def aliases(self) -> Mapping[str, str]:
        """The aliases, each with its collection's name."""
        return self._aliases

    def __getitem__(self, name: str) -> Collection:
        """A collection by its name or an alias."""
        found = self._collections.get(self._aliases.get(name, name))
        if found is None:
            raise _unknown(name)
        return found

    def create(self, asked: wire.CreateCollection) -> None:
        """Makes an empty collection."""
        name = asked.collection_name
        if name in self._collections or name in self._aliases:
            raise _taken(name)
        config = layout.config(asked)
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir()
        (folder / "made").write_bytes(asked.SerializeToString())
        shard = engine.EdgeShard.create(str(folder / "shard"), config)
        self._keep({**self._collections, name: Collection(asked, folder, shard)}, self._aliases)

    def delete(self, name: str) -> bool:
        """Removes a collection with the aliases that lead to it; returns whether it was there."""
        if name not in self._collections:
            return False
        gone = self._collections[name]
        others = {each: kept for each, kept in self._collections.items() if each != name}
        self._keep(others, {a: to for a, to in self._aliases.items() if to != name})
        gone.shard.close()
        shutil.rmtree(gone.folder)
        return True

    def change_aliases(self, changes: Iterable[wire.AliasOperations]) -> None:
        """Makes all changes of aliases, or none."""
        aliases = dict(self._aliases)
        for change in changes:
            if change.WhichOneof("action") == "create_alias":
                wanted = change.create_alias
                if wanted.collection_name not in self._collections:
                    raise _unknown(wanted.collection_name)
                if wanted.alias_name in self._collections:
                    raise _taken(wanted.alias_name)
                aliases[wanted.alias_name] = wanted.collection_name
            else:
                aliases.pop(change.delete_alias.alias_name, None)
        self._keep(self._collections, aliases)

    def _keep(self, collections: Mapping[str, Collection], aliases: Mapping[str, str]) -> None:
        named = {name: each.folder.name for name, each in collections.items()}
        text = json.dumps({"collections": named, "aliases": dict(aliases)})
        aside = self._registry.with_suffix(".new")
        aside.write_text(text, "utf-8")
        os.replace(aside, self._registry)
        self._collections, self._aliases = dict(collections), dict(aliases)


def _load(folder: Path) -> Collection:
    made = wire.CreateCollection.FromString((folder / "made").read_bytes())
    return Collection(made, folder, engine.EdgeShard.load(str(folder / "shard")))


def _unknown(name: str) -> Refusal:
    text = f"Not found: Collection `{name}` doesn't exist!"
    return Refusal(grpc.StatusCode.NOT_FOUND, text)


def _taken(name: str) -> Refusal:
    text = f"Wrong input: Collection or alias `{name}` already exists!"
    return Refusal(grpc.StatusCode.ALREADY_EXISTS, text)
