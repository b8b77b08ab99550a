"""The log's tree is RFC 6962's, and a proof proves its claim and no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from concord_attestation.tree import (
    EMPTY_ROOT,
    Frontier,
    ProofInvalid,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)
from hypothesis import given
from hypothesis import strategies as st

# the leaves and roots that Certificate Transparency's implementations are tested with
PUBLISHED_LEAVES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243"),
        *("5051525354555657", "606162636465666768696a6b6c6d6e6f"),
    )
]
PUBLISHED_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def hashes(count: int) -> list[bytes]:
    """Return the hashes of so many different leaves."""
    return [leaf_hash(str(number).encode()) for number in range(count)]


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 2.1, word by word."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    cut = 1
    while cut * 2 < len(leaves):
        cut *= 2
    return node_hash(naive_root(leaves[:cut]), naive_root(leaves[cut:]))


def stored(leaves: list[bytes]) -> Callable[[int, int], bytes]:
    """Return the node function of a store of this tree's complete subtrees."""
    nodes: dict[tuple[int, int], bytes] = {}
    frontier = Frontier()
    for leaf in leaves:
        nodes |= {(level, index): digest for level, index, digest in frontier.append(leaf)}
    return lambda level, index: nodes[level, index]


def grown(leaves: list[bytes], frontier: Frontier | None = None) -> Frontier:
    """Return a frontier to which the leaves were appended: an empty one, or that of a log."""
    frontier = Frontier() if frontier is None else frontier
    for leaf in leaves:
        frontier.append(leaf)
    return frontier


@pytest.mark.parametrize("size", range(1, 9))
def test_published_roots(size: int) -> None:
    """A2 Hashing is RFC 6962's: the published roots come out."""
    leaves = [leaf_hash(data) for data in PUBLISHED_LEAVES[:size]]

    assert grown(leaves).root().hex() == PUBLISHED_ROOTS[size - 1]


def test_the_empty_log() -> None:
    """A2 The root of no leaves is SHA-256 of nothing."""
    assert (
        Frontier().root().hex()
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


@pytest.mark.parametrize("size", range(1, 40))
def test_a_grown_tree_is_the_defined_one(size: int) -> None:
    """A2 Appending one by one, or to a stored tree, gives the root as defined."""
    leaves, half = hashes(size), size // 2
    node = stored(leaves[:half])
    kept = Frontier(half, [node(level, index) for level, index in Frontier.edge_of(half)])

    assert grown(leaves).root() == grown(leaves[half:], kept).root() == naive_root(leaves)


@pytest.mark.parametrize("size", range(1, 34))
def test_every_leaf_is_shown_to_be_included(size: int) -> None:
    """A2 Inclusion proofs hold for their leaf and place, and for no other."""
    leaves = hashes(size)
    root = naive_root(leaves)
    for index in range(size):
        proof = inclusion_proof(stored(leaves), index, size)

        verify_inclusion(leaves[index], index, size, proof, root)

        for other in range(size):
            if other != index:
                with pytest.raises(ProofInvalid):
                    verify_inclusion(leaves[index], other, size, proof, root)


@pytest.mark.parametrize("new", range(1, 34))
def test_every_prefix_is_shown_to_be_one(new: int) -> None:
    """A2 Consistency proofs hold for a log's own beginnings, and not for a changed one."""
    leaves = hashes(new)
    for old in range(1, new + 1):
        proof = consistency_proof(stored(leaves), old, new)
        old_root, new_root = naive_root(leaves[:old]), naive_root(leaves)

        verify_consistency(old, old_root, new, new_root, proof)

        forged = [*leaves[: old - 1], leaf_hash(b"another")]
        with pytest.raises(ProofInvalid):
            verify_consistency(old, naive_root(forged), new, new_root, proof)
        if old > 1:
            with pytest.raises(ProofInvalid):
                verify_consistency(old - 1, naive_root(leaves[: old - 1]), new, new_root, proof)


def test_an_empty_log_begins_every_log() -> None:
    """A2 Every log extends the empty one; a false empty root is refused."""
    verify_consistency(0, EMPTY_ROOT, 3, naive_root(hashes(3)), [])
    with pytest.raises(ProofInvalid):
        verify_consistency(0, leaf_hash(b""), 3, naive_root(hashes(3)), [])
    with pytest.raises(ProofInvalid):
        verify_consistency(4, naive_root(hashes(4)), 3, naive_root(hashes(3)), [])


@given(st.data())
def test_a_touched_proof_shows_nothing(data: st.DataObject) -> None:
    """A2 Flip, drop, add or swap hashes of a proof: it is refused."""
    new = data.draw(st.integers(2, 200))
    old = data.draw(st.integers(1, new - 1))
    leaves = hashes(new)
    node = stored(leaves)
    inclusion = inclusion_proof(node, old, new)
    consistency = consistency_proof(node, old, new)
    touched = data.draw(st.sampled_from(["inclusion", "consistency"]))
    proof = list(inclusion if touched == "inclusion" else consistency)
    how = data.draw(st.sampled_from(["flip", "drop", "add"]))
    place = data.draw(st.integers(0, len(proof) - 1))
    if how == "flip":
        flipped = bytearray(proof[place])
        flipped[data.draw(st.integers(0, 31))] ^= 1 << data.draw(st.integers(0, 7))
        proof[place] = bytes(flipped)
    elif how == "drop":
        del proof[place]
    else:
        proof.insert(place, proof[place])

    def verify() -> None:
        if touched == "inclusion":
            verify_inclusion(leaves[old], old, new, proof, naive_root(leaves))
        else:
            verify_consistency(old, naive_root(leaves[:old]), new, naive_root(leaves), proof)

    with pytest.raises(ProofInvalid):
        verify()


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_that_is_not_there(index: int, size: int) -> None:
    """A2 No proof is made for a leaf outside the tree, and none is accepted."""
    with pytest.raises(ValueError, match="no such leaf"):
        inclusion_proof(stored(hashes(3)), index, size)
    with pytest.raises(ProofInvalid, match="index"):
        verify_inclusion(hashes(1)[0], index, size, [], hashes(1)[0])


@pytest.mark.parametrize(("old", "new"), [(0, 3), (4, 3), (-1, 3)])
def test_sizes_that_are_no_pair(old: int, new: int) -> None:
    """A2 No consistency proof is made of sizes that are none."""
    with pytest.raises(ValueError, match="no such pair"):
        consistency_proof(stored(hashes(3)), old, new)


@pytest.mark.parametrize(("old", "new"), [(4, 3), (-1, 3)])
def test_a_proof_between_sizes_that_are_no_pair(old: int, new: int) -> None:
    """A2 None is believed."""
    with pytest.raises(ProofInvalid, match="sizes"):
        verify_consistency(old, hashes(1)[0], new, hashes(1)[0], [])


def test_a_frontier_fits_its_size() -> None:
    """A2 A stored frontier of the wrong length is refused before anything is appended to it."""
    with pytest.raises(ValueError, match="one hash for each bit"):
        Frontier(3, [leaf_hash(b"")])
