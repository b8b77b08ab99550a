"""A space's whole history as lines (G15, the full form): genesis, record, reads, burnt nonces.

All lines come from one consistent view. They go to a temporary file first, not into memory: the
header comes first, but counts all lines, and so is only known at the end.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO

from concord_graph.domain.facts import Support
from concord_graph.domain.items import ItemKind
from concord_graph.domain.sessions import Restatement, Session, SessionRead, key_of
from concord_graph.ports import Change, ChangeType, OperationFilter, Reads, Ref
from concord_graph.ports.reads import SessionRowT
from concord_graph.usecases.governed.apply import RESTORED
from concord_graph.usecases.transfer.full_lines import (
    FORMAT,
    AccessLine,
    EndLine,
    GenesisLine,
    Header,
    Line,
    NonceLine,
    encode,
    kind_of,
)
from concord_graph.usecases.write.commands import IMPORT

PAGE = 500
EVERY_CHANGE = OperationFilter(types=tuple(ChangeType), oldest_first=True)
REVISING = frozenset(
    {
        *(ChangeType.CREATED, ChangeType.UPDATED, ChangeType.DELETED, ChangeType.RESTORED),
        ChangeType.ERASED,
    }
)
"""The types of changes that make a revision, whose line comes before the change's."""


async def put_down(tx: Reads, file: BinaryIO) -> FullExport:
    """Write all lines between header and end line to a file, from its beginning."""
    file.seek(0)
    file.truncate()
    export = FullExport(file, tx.space, tx.epoch)
    await export.fill(tx)
    return export


class FullExport:
    """An export whose lines are in a file, but for the first and the last."""

    def __init__(self, file: BinaryIO, space: str, epoch: str) -> None:
        self._file = file
        self._space = space
        self._epoch = epoch
        self._counts: Counter[str] = Counter()
        self._hashed = hashlib.sha256()
        self._imports: list[Change] = []
        self._burnt: list[str] = []

    def lines(self) -> Iterator[str]:
        """Yield every line, without its line feed."""
        imports, burnt = tuple(self._imports), tuple(self._burnt)
        yield encode(Header(FORMAT, self._space, self._epoch, self._counts, imports, burnt))
        self._file.seek(0)
        for data in self._file:
            yield data.decode().removesuffix("\n")
        yield encode(EndLine(self._counts.total(), self._hashed.hexdigest()))

    async def fill(self, tx: Reads) -> None:
        """Write the lines between the first and the last."""
        envelope = (await tx.founding()).genesis
        if envelope:
            self._keep(GenesisLine(envelope.decode()))
        await self._keep_record(tx)
        after = ""
        while accesses := await tx.accesses(after, PAGE):
            for after, access in accesses:
                self._keep(AccessLine(after, access.count, access.last_time))
        await self._keep_rows(tx, Session)
        await self._keep_rows(tx, SessionRead)
        await self._keep_rows(tx, Restatement)
        after = ""
        while nonces := await tx.nonces(after, PAGE):
            for after in nonces:
                if after.startswith(RESTORED):
                    self._burnt.append(after)
                else:
                    self._keep(NonceLine(after))

    async def _keep_rows(self, tx: Reads, kind: type[SessionRowT]) -> None:
        after = ("", "")
        while rows := await tx.session_rows(kind, after, PAGE):
            for row in rows:
                self._keep(row)
            after = key_of(rows[-1])

    async def _keep_record(self, tx: Reads) -> None:
        """Write every change in sequence: first its revision, then the change, then its receipt."""
        async for changes in _steps(tx):
            made = [change for change in changes if change.type in REVISING]
            refs = [Ref(change.item_kind, change.item_id, change.revision) for change in made]
            found = await tx.revisions(refs)
            revisions = {change.seq: item for change, item in zip(made, found, strict=True)}
            supports = await _supports(tx, made)
            for change in changes:
                if change.author.method == IMPORT:
                    self._imports.append(change)
                    continue
                revision = revisions.get(change.seq)
                if revision is not None:
                    self._keep(revision)
                self._keep(change)
                for support in supports[change.seq]:
                    self._keep(support)
                if change.type == ChangeType.ERASED and change.item_kind == ItemKind.MEMORY:
                    receipt = await tx.erasure(memory_id=change.item_id)
                    if receipt is not None:
                        self._keep(replace(receipt, confirmations=()))  # belong to this system

    def _keep(self, line: Line) -> None:
        data = f"{encode(line)}\n".encode()
        self._counts[kind_of(line)] += 1
        self._hashed.update(data)
        self._file.write(data)


async def _steps(tx: Reads) -> AsyncIterator[Sequence[Change]]:
    """Yield every change in sequence, in parts; changes of one record time are in one part."""
    beyond, held = 0, list[Change]()
    while changes := await tx.operations(EVERY_CHANGE, beyond, PAGE):
        beyond = changes[-1].seq
        held += changes
        whole = [change for change in held if change.record_time < held[-1].record_time]
        if whole:
            yield whole
        held = held[len(whole) :]
    if held:
        yield held


async def _supports(tx: Reads, made: Sequence[Change]) -> Mapping[int, Sequence[Support]]:
    """Return the memories' new facts by the number of the change that their lines follow.

    That is the memory's own change at that record time, else its newest edge's, else the last: an
    erasure may replace several edges of a memory, in any order.
    """
    behind: dict[int, list[Support]] = defaultdict(list)
    if not made:
        return behind
    seqs = {(change.record_time, change.item_id): change.seq for change in made}
    last = {change.record_time: change.seq for change in made}
    for support in await tx.supports(made[0].record_time, made[-1].record_time):
        time = support.record_from
        edges = [seqs[time, edge] for edge in support.edges if (time, edge) in seqs]
        newest = max(edges, default=last[time])
        behind[seqs.get((time, support.memory_id), newest)].append(support)
    return behind
