"""How a collection is laid out: the engine's settings, its payload indexes, and what it tells."""

from typing import Any

import qdrant_edge as engine
from qdrant_client import grpc as wire

from tests.support.qdrant_stand_in.messages import OF_A_CLUSTER
from tests.support.qdrant_stand_in.refusal import only, unimplemented

KEPT_ALONE = ("shard_number", "replication_factor", "write_consistency_factor")
"""What a collection tells as it was made, and is without effect."""


def config(asked: wire.CreateCollection) -> engine.EdgeConfig:
    """The engine's settings of a collection."""
    only(
        asked,
        *("collection_name", "vectors_config", "sparse_vectors_config", "on_disk_payload"),
        *("quantization_config", *KEPT_ALONE, *OF_A_CLUSTER),
    )
    only(asked.vectors_config, "params_map")
    dense = asked.vectors_config.params_map.map
    sparse = asked.sparse_vectors_config.map
    return engine.EdgeConfig(
        vectors={name: _dense(each) for name, each in dense.items()},
        # The engine has no collection without vectors, which a server has: one that nobody names.
        sparse_vectors={name: _sparse(each) for name, each in sparse.items()}
        or (None if dense else {"": engine.EdgeSparseVectorParams()}),
        on_disk_payload=asked.on_disk_payload,
        quantization_config=_quantisation(asked.quantization_config),
        max_search_threads=1,
    )


def _dense(asked: wire.VectorParams) -> engine.EdgeVectorParams:
    only(asked, "size", "distance", "datatype", "on_disk")
    return engine.EdgeVectorParams(
        size=asked.size,
        distance=getattr(engine.Distance, wire.Distance.Name(asked.distance)),
        datatype=getattr(engine.VectorStorageDatatype, wire.Datatype.Name(asked.datatype))
        if asked.HasField("datatype")
        else None,
        on_disk=asked.on_disk,
    )


def _sparse(asked: wire.SparseVectorParams) -> engine.EdgeSparseVectorParams:
    only(asked, "modifier", "index")
    only(asked.index, "on_disk")
    idf = asked.modifier == wire.Modifier.Idf
    return engine.EdgeSparseVectorParams(
        modifier=engine.Modifier.Idf if idf else None, on_disk=asked.index.on_disk
    )


def _quantisation(asked: wire.QuantizationConfig) -> Any:
    match asked.WhichOneof("quantization"):
        case None:
            return None
        case "scalar":
            only(asked.scalar, "type", "always_ram")
            return engine.ScalarQuantizationConfig(
                engine.ScalarType.Int8, always_ram=asked.scalar.always_ram
            )
        case "binary":
            only(asked.binary, "always_ram")
            return engine.BinaryQuantizationConfig(always_ram=asked.binary.always_ram)
        case other:
            raise unimplemented(f"QuantizationConfig.{other}")


def field_index(asked: wire.CreateFieldIndexCollection) -> engine.UpdateOperation:
    """The update that makes a payload index."""
    only(
        asked,
        *("collection_name", "field_name", "field_type", "field_index_params", *OF_A_CLUSTER),
    )
    params: Any
    match asked.field_index_params.WhichOneof("index_params"):
        case "integer_index_params":
            numbers = asked.field_index_params.integer_index_params
            only(numbers, "lookup", "range")
            params = engine.IntegerIndexParams(lookup=numbers.lookup, range=numbers.range)
        case "keyword_index_params":
            words = asked.field_index_params.keyword_index_params
            only(words, "is_tenant")
            params = engine.KeywordIndexParams(is_tenant=words.is_tenant)
        case other:
            raise unimplemented(f"such a payload index ({other})")
    return engine.UpdateOperation.create_field_index(asked.field_name, params)


def info(made: wire.CreateCollection, told: "engine.ShardInfo") -> wire.CollectionInfo:
    """What a collection tells about itself."""
    params = wire.CollectionParams(
        shard_number=made.shard_number or 1,
        replication_factor=made.replication_factor or 1,
        write_consistency_factor=made.write_consistency_factor or 1,
        on_disk_payload=made.on_disk_payload,
        vectors_config=made.vectors_config,
        sparse_vectors_config=made.sparse_vectors_config,
    )
    quantised = made.HasField("quantization_config")
    return wire.CollectionInfo(
        status=wire.CollectionStatus.Green,
        optimizer_status=wire.OptimizerStatus(ok=True),
        segments_count=told.segments_count,
        points_count=told.points_count,
        indexed_vectors_count=told.indexed_vectors_count,
        config=wire.CollectionConfig(
            params=params,
            quantization_config=made.quantization_config if quantised else None,
        ),
        payload_schema={name: _schema(each) for name, each in told.payload_schema.items()},
    )


def _schema(index: "engine.PayloadIndexInfo") -> wire.PayloadSchemaInfo:
    if isinstance(index.params, engine.KeywordIndexParams):
        words = wire.KeywordIndexParams(is_tenant=index.params.is_tenant)
        return wire.PayloadSchemaInfo(
            data_type=wire.PayloadSchemaType.Keyword,
            params=wire.PayloadIndexParams(keyword_index_params=words),
            points=index.points,
        )
    assert isinstance(index.params, engine.IntegerIndexParams)
    numbers = wire.IntegerIndexParams(lookup=index.params.lookup, range=index.params.range)
    return wire.PayloadSchemaInfo(
        data_type=wire.PayloadSchemaType.Integer,
        params=wire.PayloadIndexParams(integer_index_params=numbers),
        points=index.points,
    )
