"""The transport to a Qdrant server: a collection per shard, asked over gRPC."""
