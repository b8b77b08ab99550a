"""Reading a full export into an unused space: whole and consistent, or not at all (G15).

Its memory use is bounded by the number of items whose next revision is still to come.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from concord_attestation.agreed import Agreed
from concord_attestation.consent import RestoreGrant

from concord_graph.domain.erasure import Erasure
from concord_graph.domain.errors import ExportInvalid, ItemClash, SpaceNotEmpty
from concord_graph.domain.facts import Support
from concord_graph.domain.items import (
    FOREVER,
    ItemKind,
    Memory,
    Record,
)
from concord_graph.domain.relevance import Access
from concord_graph.domain.sessions import Restatement, Session, SessionRead, SessionRow, key_of
from concord_graph.ports import Acknowledged, Change, ChangeType, Imported, Ref
from concord_graph.usecases.governed.apply import (
    RESTORED,
    GovernedChanges,
    Restore,
    demand_as_signed,
)
from concord_graph.usecases.governed.principal_keys import RETIRED
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.transfer.full_checks import (
    Sequence,
    as_put,
    is_receipt,
    misfit,
    mismatch,
    missing,
    rank_said,
    states,
    unattested,
)
from concord_graph.usecases.transfer.full_export import PAGE
from concord_graph.usecases.transfer.full_lines import (
    FORMAT,
    AccessLine,
    EndLine,
    GenesisLine,
    Header,
    Line,
    LineMalformed,
    NonceLine,
    decode,
    kind_of,
)
from concord_graph.usecases.write.commands import IMPORT
from concord_graph.usecases.write.outbox import log
from concord_graph.usecases.write.sweep import Sweep
from concord_graph.usecases.write.writer import Writer

LONGEST_LINE = 8 << 20
"""In bytes: several times the largest item's line."""


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file, whole, and the hex SHA-256 of its bytes."""

    file: BinaryIO
    digest: str


async def import_space(
    writer: Writer, *, upload: Upload, restore: Restore, governed: GovernedChanges, erasing: Erasing
) -> Acknowledged:
    """Write a full export into an unused space; raises as `FullImport.run`."""
    await FullImport(writer, upload, restore).run(governed, erasing)
    return Acknowledged()


_ATTESTED_ALONE = frozenset({ChangeType.REFUSED, ChangeType.SELECTION_ERASED})
"""The types of changes that are in the audit log though nobody consents to them."""


class FullImport:
    """One import, in one transaction."""

    def __init__(self, writer: Writer, upload: Upload, restore: Restore) -> None:
        self._writer = writer
        self._upload = upload
        self._restore = restore
        self._number = 0
        self._counts: Counter[str] = Counter()
        self._closing: dict[str, int] = {}  # id -> when (µs) its newest revision is said to end
        self._hashed = hashlib.sha256()
        self._agreed = Agreed()
        self._sweep = Sweep()

    async def run(self, governed: GovernedChanges, erasing: Erasing) -> None:
        """Import all of it.

        Raises:
            SpaceNotEmpty: something was recorded in the space.
            ExportInvalid: the lines are no whole export.
            ConstitutiveProtected, ConsentError, EnrolmentSecretInvalid: it has constitutive items,
                and the restore grant or the secret that allows them is missing or wrong.
        """
        if await self._writer.tx.head_seq() != 0:
            raise SpaceNotEmpty
        try:
            await self._read(governed, erasing)
        except ItemClash as clash:
            raise self._wrong(str(clash)) from clash

    async def _read(self, governed: GovernedChanges, erasing: Erasing) -> None:
        lines = self._lines()
        header = self._header(next(lines))
        await self._writer.tx.burn(header.burnt)
        line = self._body(next(lines))
        grant: RestoreGrant | None = None
        if isinstance(line, GenesisLine):
            envelope = line.envelope.encode()
            self._writer, grant = await governed.restore(
                self._writer, envelope, self._upload.digest, self._restore
            )
            line = self._body(next(lines))
        line = await self._record(line, lines, header, erasing)
        line = await self._accesses(line, lines)
        for kind in (Session, SessionRead, Restatement):
            line = await self._session_rows(line, lines, kind)
        line = await self._nonces(line, lines, granted=grant is not None)
        self._end(line, header)
        await self._sign(header, granted=grant is not None)
        if grant is not None:
            await demand_as_signed(self._writer.tx, grant, self._agreed)
        await self._writer.tx.nonces("", 1)  # a store that buffers writes reports clashes now

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines with their line feeds; refuse to go beyond the last."""
        self._upload.file.seek(0)
        self._number = 1
        while line := self._upload.file.readline(LONGEST_LINE):
            if not line.endswith(b"\n"):
                raise self._wrong("is cut short, or too long")
            yield line
            self._number += 1
        raise self._wrong("is missing: the export was cut short")

    def _header(self, data: bytes) -> Header:
        line = self._decoded(data)
        if not isinstance(line, Header):
            raise self._wrong("is not the first line of an export")
        if line.format != FORMAT:
            raise self._wrong(f"has format {line.format}, and this Concord reads {FORMAT}")
        if not all(nonce.startswith(RESTORED) for nonce in line.burnt):
            raise self._wrong("burns what no import burns")
        if not all(change.author.method == IMPORT for change in line.imports):
            raise self._wrong("has changes that no import made")
        return line

    def _body(self, data: bytes) -> Line:
        line = self._decoded(data)
        if isinstance(line, Header):
            raise self._wrong("is a second first line")
        if not isinstance(line, EndLine):
            self._counts[kind_of(line)] += 1
            self._hashed.update(data)
        return line

    def _decoded(self, data: bytes) -> Line:
        try:
            return decode(data.decode().removesuffix("\n"))
        except (LineMalformed, UnicodeDecodeError) as error:
            raise self._wrong(str(error)) from error

    async def _record(
        self, line: Line, lines: Iterator[bytes], header: Header, erasing: Erasing
    ) -> Line:
        """Replay the changes in sequence, and in their places those of earlier imports."""
        sequence = Sequence(header.imports)
        while not isinstance(line, (AccessLine, SessionRow, NonceLine, EndLine)):
            item = None
            if isinstance(line, Record):
                item, line = line, self._body(next(lines))
            if not isinstance(line, Change):
                raise self._wrong("is not the change that the line before belongs to")
            for change in sequence.due():
                await self._writer.replay(None, change)
            if not sequence.takes(line):
                raise self._wrong(f"has sequence number {line.seq} or a time out of order")
            await self._replay(item, line)
            change, line = line, self._body(next(lines))
            line = await self._supports(line, lines, change, item)
            if change.type == ChangeType.ERASED and change.item_kind == ItemKind.MEMORY:
                if not isinstance(line, Erasure) or not is_receipt(line, change):
                    raise self._wrong("is not the receipt of the erasure before")
                await erasing.open(self._writer.tx, line)
                line = self._body(next(lines))
        for time, settled in self._sweep.drain():
            await self._writer.tx.put_standings(settled, time)
        for change in sequence.due():
            await self._writer.replay(None, change)
        if sequence.left or self._closing:
            raise self._wrong("comes too early: changes or revisions are missing")
        return line

    async def _supports(
        self, line: Line, lines: Iterator[bytes], change: Change, item: Record | None
    ) -> Line:
        """Store which edges a change's memories state."""
        tx, last = self._writer.tx, ""
        while isinstance(line, Support):
            if line.memory_id <= last or line.record_from != change.record_time:
                raise self._wrong("is out of order, or of another change than the one before")
            if not await states(tx, line):
                raise self._wrong("has edges that are not the facts of their memory")
            last = line.memory_id
            await tx.put_facts(line)
            await self._sweep.settle_facts(line.memory_id, line.edges, change.record_time)
            line = self._body(next(lines))
        if isinstance(item, Memory) and not await self._states_all(item):
            raise self._wrong("comes too early: the edges are missing that a memory's facts are")
        return line

    async def _states_all(self, memory: Memory) -> bool:
        """Return whether a just written memory states as many edges as it has facts."""
        if not memory.facts and (memory.revision.number == 1 or not memory.revision.salt):
            return True
        return len(memory.facts) == len(await self._writer.tx.facts_of(memory.id))

    async def _replay(self, item: Record | None, change: Change) -> None:
        unfit = misfit(change, item, consented=self._writer.is_granted)
        if unfit:
            raise self._wrong(unfit)
        if not self._writer.is_granted and rank_said(change, item) > self._writer.standing.rank:
            raise self._wrong("was written by somebody who stands above whoever imports it (W9)")
        if change.needs_consent and change.type not in _ATTESTED_ALONE:
            self._agreed.take(
                change.item_id,
                int(change.item_kind),
                change.revision,
                change.digest,
                change.ends,
                method=change.author.method,
            )
        if item is None:
            await self._writer.replay(None, change)
            return
        before = await self._before(item)
        wrong = mismatch(item, before, change) or await missing(self._writer.tx, item)
        if self._writer.is_granted:  # else protection refuses constitutive items
            wrong = wrong or unattested(item, change)
        if wrong:
            raise self._wrong(wrong)
        if item.revision.record_until != FOREVER:
            self._closing[item.id] = item.revision.record_until
        await self._writer.replay(as_put(item), change)
        await self._sweep.settle(item, change.record_time)

    async def _before(self, item: Record) -> Record | None:
        tx, number = self._writer.tx, item.revision.number
        if number == 1:
            if await tx.kinds([item.id]):
                raise self._wrong("begins an item whose id is taken")
            return None
        (before,) = await tx.revisions([Ref(item.kind, item.id, number - 1)])
        known = (FOREVER, item.revision.record_from)  # an erased revision was written with its end
        if before is None or before.revision.record_until not in known:
            raise self._wrong(f"has revision {number}, which does not follow on the one before")
        if self._closing.pop(item.id, FOREVER) != item.revision.record_from:
            raise self._wrong("does not begin when the revision before is said to end")
        return before

    async def _accesses(self, line: Line, lines: Iterator[bytes]) -> Line:
        last = ""
        while isinstance(line, AccessLine):
            if line.id <= last or not await self._writer.tx.kinds([line.id]):
                raise self._wrong("is out of order, or of an item that is not there")
            last = line.id
            await self._writer.tx.put_access(line.id, Access(line.last_time, line.count))
            line = self._body(next(lines))
        return line

    async def _session_rows(
        self, line: Line, lines: Iterator[bytes], kind: type[SessionRow]
    ) -> Line:
        """Store the rows about sessions of one kind, in parts."""
        last = ("", "")
        while isinstance(line, kind):
            rows: list[SessionRow] = []
            while isinstance(line, kind) and len(rows) < PAGE:
                if key_of(line) <= last:
                    raise self._wrong("is out of order")
                last = key_of(line)
                rows.append(line)
                line = self._body(next(lines))
            named = {row.memory_id for row in rows if not isinstance(row, Session)}
            if named - (await self._writer.tx.kinds(named)).keys():
                raise self._wrong("comes after one of a memory that is not there")
            await self._writer.tx.put_session_rows(rows)
        return line

    async def _nonces(self, line: Line, lines: Iterator[bytes], *, granted: bool) -> Line:
        last, foreign = "", RESTORED if granted else (RESTORED, RETIRED)
        while isinstance(line, NonceLine):
            if line.nonce <= last or line.nonce.startswith(foreign):
                raise self._wrong("is out of order, of an import, or of nobody's key")
            last = line.nonce
            await self._writer.tx.burn([line.nonce])
            line = self._body(next(lines))
        return line

    def _end(self, line: Line, header: Header) -> None:
        if not isinstance(line, EndLine):
            raise self._wrong("does not stand where such a line may stand")
        if line != EndLine(self._counts.total(), self._hashed.hexdigest()):
            raise self._wrong("is about other lines than these: the export was changed")
        if header.counts != self._counts:
            raise ExportInvalid(1, "is about other lines than these: the export was changed")
        if self._upload.file.read(1):
            self._number += 1
            raise self._wrong("comes after the last")

    async def _sign(self, header: Header, *, granted: bool) -> None:
        """Record the import as a change: from where, and by whom."""
        agreed = ", as both of its principals have signed" if granted else ""
        change = await log(
            self._writer.tx,
            ChangeType.IMPORTED,
            self._writer.author,
            digest=self._upload.digest,
            reason=f"from space {header.space}, epoch {header.epoch}{agreed}",
        )
        if granted:
            await self._writer.tx.put_imported(Imported(change.seq, self._restore.grant))

    def _wrong(self, why: str) -> ExportInvalid:
        return ExportInvalid(self._number, why)
