"""Reads the log: entries, checkpoints, proofs, export (A2, A3)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

import rfc8785
from concord_attestation.tree import Node, consistency_proof, inclusion_proof

from concord_governance.domain.errors import ProofImpossible
from concord_governance.domain.signing import LogKey
from concord_governance.ports.graph import Graph
from concord_governance.ports.ledger import EntryFilter, Leaf, Ledger, LedgerReads, frontier_of

EXPORT_LEAVES = 500
"""Leaves that an export reads at once."""
READ_AT_ONCE = 64
"""Entries that a page reads at once; each may be a megabyte."""
_NEWEST = 2**62


class AuditLog:
    """Reads the log. Its readers verify the answers; they need not trust them."""

    def __init__(self, ledger: Ledger, graph: Graph, signer: LogKey) -> None:
        self._ledger = ledger
        self._graph = graph
        self._signer = signer

    async def newest_first(
        self, space: str, filter_: EntryFilter, before: int, wanted: int
    ) -> AsyncGenerator[Leaf]:
        """Yield entries with an index below `before` (-1 = from the newest).

        `wanted`: how many the caller will take; so many are read at once, up to `READ_AT_ONCE`.
        """
        start, step = _NEWEST if before < 0 else before, min(wanted, READ_AT_ONCE)
        while True:
            found = await self._ledger.read(
                space,
                lambda tx, at=start: tx.entries(filter_, at, step),  # type: ignore[misc] # the default binds the loop's value
            )
            for leaf in found:
                yield leaf
            if len(found) < step:
                return
            start = found[-1].index

    async def checkpoint(self, space: str) -> str:
        """Return a signed checkpoint of the log's current size."""
        log = await self._ledger.read(space, frontier_of)
        return self._signer.checkpoint(space, log.size, log.root())

    async def inclusion(self, space: str, index: int, size: int) -> tuple[bytes, Sequence[bytes]]:
        """Return a leaf, and its inclusion proof (hashes) in the tree of this size."""

        async def work(tx: LedgerReads) -> tuple[bytes, Sequence[bytes]]:
            if not 0 <= index < size <= await tx.log_size():
                raise ProofImpossible("no such entry in a log of that size")
            (leaf,) = await tx.leaves(index, index + 1)
            return leaf.data, await _proof(tx, lambda node: inclusion_proof(node, index, size))

        return await self._ledger.read(space, work)

    async def consistency(self, space: str, old: int, new: int) -> Sequence[bytes]:
        """Return the consistency proof (hashes) from the log of size `old` to that of `new`."""

        async def work(tx: LedgerReads) -> Sequence[bytes]:
            if not 0 < old <= new <= await tx.log_size():
                raise ProofImpossible("the log has no such pair of sizes")
            return await _proof(tx, lambda node: consistency_proof(node, old, new))

        return await self._ledger.read(space, work)

    async def export(self, space: str) -> AsyncIterator[bytes]:
        """Yield the log as lines: a header with genesis, keys and checkpoint, then the leaves."""
        log = await self._ledger.read(space, frontier_of)
        keys = await self._graph.principal_keys(space)
        header = {
            "version": 1,
            "space": space,
            "log_origin": self._signer.origin(space),
            "log_key": b64encode(self._signer.public_key).decode(),
            "checkpoint": self._signer.checkpoint(space, log.size, log.root()),
            "genesis": json.loads(keys.envelope) if keys else None,
        }
        yield rfc8785.dumps(header) + b"\n"
        for start in range(0, log.size, EXPORT_LEAVES):
            end = min(start + EXPORT_LEAVES, log.size)
            leaves = await self._ledger.read(space, lambda tx, a=start, b=end: tx.leaves(a, b))  # type: ignore[misc] # the defaults bind the loop's values
            yield b"".join(leaf.data + b"\n" for leaf in leaves)


async def _proof(tx: LedgerReads, make: Callable[[Node], list[bytes]]) -> list[bytes]:
    """Return a proof: a first run of `make` collects the nodes that it needs, a second has them."""
    needed: list[tuple[int, int]] = []

    def collect(level: int, index: int) -> bytes:
        needed.append((level, index))
        return b""

    make(collect)
    nodes = await tx.nodes(needed)
    return make(lambda level, index: nodes[level, index])
