"""Partitions: the parts into which a store's spaces fall, each with its feed and its index."""

import hashlib


def partition_of(space: str, count: int) -> int:
    """The partition of a space, from 0, in a store of `count` partitions.

    As `ListPartitionsResponse` states it: by every service the same, and for good.
    """
    return int.from_bytes(hashlib.sha256(space.encode()).digest()[:8]) % count
