"""One space's part of the index over any Qdrant: filters and queries; a transport brings the
shard (`shard.Shard`).
"""
