"""The transport to a Qdrant server over gRPC: a collection per shard."""
