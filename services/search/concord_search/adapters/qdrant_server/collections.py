"""The collections of an index: their layout, names and aliases, and their removal.

A collection per shard, named PREFIX-PARTITION-vLAYOUT-X. Searches use the alias without -X, which
leads to the current one. PREFIX is the installation's name; PREFIX-catalogue leads to the
collection that names the partitions, which all processes of the installation share.
"""

import secrets
import time
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from qdrant_client import grpc as wire

from concord_search.adapters.qdrant import payload
from concord_search.adapters.qdrant.catalogue import Catalogue
from concord_search.adapters.qdrant.shard import DENSE, LAYOUT, WORDS, Shards
from concord_search.adapters.qdrant_server import local_files
from concord_search.adapters.qdrant_server.catalogue import CATALOGUE, ServerCatalogue
from concord_search.adapters.qdrant_server.connection import Connection
from concord_search.adapters.qdrant_server.settings import QdrantConfig
from concord_search.adapters.qdrant_server.shard import ServerShard
from concord_search.domain.errors import IndexUnavailable


class ServerShards(Shards[ServerShard]):
    """The shards of all partitions, each a collection."""

    engine = "qdrant"
    shared = True

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._settings = connection.settings
        self.prefix = connection.settings.prefix

    @property
    def leads(self) -> bool:
        return self._connection.writes_until > time.monotonic()

    def catalogue(self, root: Path) -> Catalogue:
        local_files.settle(root, self._settings, self._delete_former)
        return ServerCatalogue(self, local_files.secret(root, self._settings))

    def _delete_former(self, alias: str) -> None:
        """Removes the collections that this process had for itself, before they were shared."""
        for name in self._named(alias):
            deletion = wire.DeleteCollection(collection_name=name)
            self._connection.reply(self._connection.collections.Delete, deletion)

    def missing(self, names: Collection[str]) -> Collection[str]:
        return set(names) - self._aliases().keys()

    def _aliases(self) -> dict[str, str]:
        """The server's aliases, each with its collection."""
        reply = self._connection.reply(
            self._connection.collections.ListAliases, wire.ListAliasesRequest()
        )
        return {each.alias_name: each.collection_name for each in reply.aliases}

    def create(self, partition: Path, dimension: int) -> ServerShard:
        name = f"{self._alias(partition)}-{secrets.token_hex(4)}"
        self._connection.write(
            self._connection.collections.Create, _creation(name, dimension, self._settings)
        )
        for index in _field_indexes(name) if partition.name != CATALOGUE else ():
            self._connection.write(self._connection.points.CreateFieldIndex, index)
        return self._shard(name)

    def _alias(self, partition: Path) -> str:
        stem = self._stem(partition)
        return stem if partition.name == CATALOGUE else f"{stem}-v{LAYOUT}"

    def _stem(self, partition: Path) -> str:
        return f"{self._settings.prefix}-{partition.name}"

    def _shard(self, collection: str) -> ServerShard:
        replicated = self._settings.replicas > 1
        return ServerShard(self._connection, collection, replicated=replicated)

    def make_current(self, partition: Path, shard: ServerShard) -> None:
        """Makes the partition's alias lead to a collection, in one atomic step."""
        alias = self._alias(partition)
        actions = []
        if alias in self._aliases():
            deletion = wire.DeleteAlias(alias_name=alias)
            actions.append(wire.AliasOperations(delete_alias=deletion))
        creation = wire.CreateAlias(collection_name=shard.collection, alias_name=alias)
        actions.append(wire.AliasOperations(create_alias=creation))
        self._connection.write(
            self._connection.collections.UpdateAliases, wire.ChangeAliases(actions=actions)
        )
        # Requests use the alias from now on, so that they also succeed on a later collection.
        shard.name = alias

    def found(self, partition: Path) -> ServerShard | None:
        """The current shard of a partition, if there is one."""
        alias = self._alias(partition)
        return self.load(partition, alias) if alias in self._aliases() else None

    def load(self, _: Path, name: str) -> ServerShard:
        collection = self._aliases().get(name)
        if collection is None:
            raise IndexUnavailable(f"the Qdrant server has lost {name}")
        for stray in self._named(name) if self.leads else ():
            if stray != collection:  # a process was killed while it made the files anew
                self._delete(stray)
        shard = self._shard(collection)
        shard.name = name
        return shard

    def _named(self, stem: str) -> Sequence[str]:
        reply = self._connection.reply(
            self._connection.collections.List, wire.ListCollectionsRequest()
        )
        names = [each.name for each in reply.collections]
        return [name for name in names if name.startswith(f"{stem}-")]

    def _delete(self, collection: str) -> None:
        deletion = wire.DeleteCollection(collection_name=collection)
        self._connection.write(self._connection.collections.Delete, deletion)

    def remove(self, shard: ServerShard) -> None:
        self._delete(shard.collection)

    def discard(self, partition: Path, name: str) -> None:
        """Removes a partition's collections, of all versions of the layout.

        Older layouts made their names otherwise.
        """
        named = [self._named(stem) for stem in (self._stem(partition), name) if stem]
        for collection in {*chain(*named)}:
            self._delete(collection)


def _creation(name: str, dimension: int, settings: QdrantConfig) -> wire.CreateCollection:
    dense = wire.VectorParams(
        size=dimension,
        distance=wire.Distance.Cosine,
        datatype=wire.Datatype.Float16,  # as in the embedded engine
        on_disk=settings.on_disk,
    )
    words = wire.SparseVectorParams(
        modifier=wire.Modifier.Idf, index=wire.SparseIndexConfig(on_disk=settings.on_disk)
    )
    return wire.CreateCollection(
        collection_name=name,
        vectors_config=wire.VectorsConfig(params_map=wire.VectorParamsMap(map={DENSE: dense})),
        sparse_vectors_config=wire.SparseVectorConfig(map={WORDS: words}),
        shard_number=settings.shards,
        replication_factor=settings.replicas,
        write_consistency_factor=settings.replicas // 2 + 1,
        on_disk_payload=settings.on_disk,
        quantization_config=_quantisation(settings),
    )


def _quantisation(settings: QdrantConfig) -> wire.QuantizationConfig | None:
    in_memory = True  # the purpose of quantising: full vectors may then be on disk
    match settings.quantisation:
        case "scalar":
            scalar = wire.ScalarQuantization(type=wire.QuantizationType.Int8, always_ram=in_memory)
            return wire.QuantizationConfig(scalar=scalar)
        case "binary":
            binary = wire.BinaryQuantization(always_ram=in_memory)
            return wire.QuantizationConfig(binary=binary)
    return None


def _field_indexes(collection: str) -> Iterator[wire.CreateFieldIndexCollection]:
    words = wire.PayloadIndexParams(keyword_index_params=wire.KeywordIndexParams(is_tenant=True))
    yield _field_index(collection, payload.TENANT, wire.FieldType.FieldTypeKeyword, words)
    for field in (*payload.LOOKUPS, *payload.RANGES, *payload.WEIGHED, payload.WRITE):
        is_lookup = field in payload.LOOKUPS
        numbers = wire.IntegerIndexParams(lookup=is_lookup, range=not is_lookup)
        params = wire.PayloadIndexParams(integer_index_params=numbers)
        yield _field_index(collection, field, wire.FieldType.FieldTypeInteger, params)


def _field_index(
    collection: str, field: str, kind: "wire.FieldType.ValueType", params: wire.PayloadIndexParams
) -> wire.CreateFieldIndexCollection:
    return wire.CreateFieldIndexCollection(
        collection_name=collection,
        wait=False,  # the server applies changes in order, so the first points wait for it
        field_name=field,
        field_type=kind,
        field_index_params=params,
    )
