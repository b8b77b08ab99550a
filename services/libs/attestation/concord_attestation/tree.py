"""The Merkle tree of an append-only log: RFC 6962, section 2.1; proofs checked as in RFC 9162.

A tree over n leaves is cut at the largest power of two below n, so every complete subtree keeps
its hash for ever. Such a subtree is named (level, index): the hash of leaves
index·2^level up to (index + 1)·2^level. A `Node` function returns those hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

Node = Callable[[int, int], bytes]
"""(level, index) -> hash of that complete subtree, 32 bytes."""

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()


class ProofInvalid(ValueError):
    """A proof does not prove its claim; the text says no more than the failed check."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf: SHA-256 of 0x00 and its bytes."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of two subtrees: SHA-256 of 0x01 and their hashes."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: one hash for each bit of its size, enough to append."""

    def __init__(self, size: int = 0, edge: Iterable[bytes] = ()) -> None:
        """`edge` holds the hashes of the complete subtrees of `size` leaves, left to right."""
        self._edge = list(edge)
        self.size = size
        if len(self._edge) != size.bit_count():
            raise ValueError("a frontier has one hash for each bit of its size")

    @staticmethod
    def edge_of(size: int) -> list[tuple[int, int]]:
        """Return the (level, index) of the complete subtrees of `size` leaves, left to right."""
        return _complete_subtrees(0, size)

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf's hash; return (level, index, hash) of the completed subtrees, leaf first."""
        level, index, digest = 0, self.size, leaf
        made = [(level, index, digest)]
        while index % 2 == 1:
            digest = node_hash(self._edge.pop(), digest)
            level, index = level + 1, index // 2
            made.append((level, index, digest))
        self._edge.append(digest)
        self.size += 1
        return made

    def root(self) -> bytes:
        """Return the tree's root hash, 32 bytes."""
        return _fold(self._edge) if self._edge else EMPTY_ROOT


def inclusion_proof(node: Node, index: int, size: int) -> list[bytes]:
    """Return the hashes that lead from leaf `index` to the root over `size` leaves.

    Raises ValueError unless 0 <= index < size.
    """
    if not 0 <= index < size:
        raise ValueError("no such leaf in a tree of that size")
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        cut = start + _largest_power_below(end - start)
        if index < cut:
            proof.append(_subtree(node, cut, end))
            end = cut
        else:
            proof.append(_subtree(node, start, cut))
            start = cut
    return proof[::-1]


def consistency_proof(node: Node, old: int, new: int) -> list[bytes]:
    """Return the hashes that show the tree of `old` leaves to be a prefix of that of `new`.

    Raises ValueError unless 0 < old <= new.
    """
    if not 0 < old <= new:
        raise ValueError("no such pair of sizes")
    proof: list[bytes] = []
    start, end, known = 0, new, True  # known: the verifier already has the hash of start..old
    while end != old:
        cut = start + _largest_power_below(end - start)
        if old <= cut:
            proof.append(_subtree(node, cut, end))
            end = cut
        else:
            proof.append(_subtree(node, start, cut))
            start, known = cut, False
    if not known:
        proof.append(_subtree(node, start, end))
    return proof[::-1]


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Check that the leaf of this hash is at `index` under the root over `size` leaves.

    Raises:
        ProofInvalid: the leaf is not there, or the proof is longer or shorter than it must be.
    """
    if not 0 <= index < size:
        raise ProofInvalid("index")
    place, last, digest = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProofInvalid("length")
        if place % 2 or place == last:
            digest = node_hash(sibling, digest)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            digest = node_hash(digest, sibling)
        place, last = place // 2, last // 2
    if last != 0 or digest != root:
        raise ProofInvalid("root")


def verify_consistency(
    old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Check that the log of `new` leaves begins with the one of `old` leaves.

    Every log begins with the empty log and with itself: both need an empty proof.

    Raises:
        ProofInvalid: it does not, or the proof is longer or shorter than it must be.
    """
    if not 0 <= old <= new:
        raise ProofInvalid("sizes")
    if old in (0, new):
        if proof or old_root != (EMPTY_ROOT if old == 0 else new_root):
            raise ProofInvalid("root")
        return
    hashes = list(proof)
    if old.bit_count() == 1:
        hashes.insert(0, old_root)  # a complete subtree: the verifier has its hash
    if not hashes:
        raise ProofInvalid("length")
    place, last = old - 1, new - 1
    while place % 2:
        place, last = place // 2, last // 2
    before = after = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            raise ProofInvalid("length")
        if place % 2 or place == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            after = node_hash(after, sibling)
        place, last = place // 2, last // 2
    if last != 0 or before != old_root or after != new_root:
        raise ProofInvalid("root")


def _subtree(node: Node, start: int, end: int) -> bytes:
    return _fold([node(level, index) for level, index in _complete_subtrees(start, end)])


def _complete_subtrees(start: int, end: int) -> list[tuple[int, int]]:
    """Cut aligned leaves start..end into complete subtrees, left to right."""
    found: list[tuple[int, int]] = []
    while start < end:
        level = (end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def _fold(hashes: Sequence[bytes]) -> bytes:
    """Join subtrees from the right, as unbalanced ends of a tree join."""
    digest = hashes[-1]
    for left in reversed(hashes[:-1]):
        digest = node_hash(left, digest)
    return digest


def _largest_power_below(size: int) -> int:
    return 1 << ((size - 1).bit_length() - 1)
