"""One space's part of the index over any Qdrant: filters and queries; a transport provides
the shard (`shard.Shard`).
"""
