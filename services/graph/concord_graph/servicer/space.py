"""SpaceService: counts, operations, exports in three forms, and the import of one."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from tempfile import TemporaryFile
from typing import BinaryIO

from concord.graph.v1 import space_pb2, space_pb2_grpc
from concord_chassis.call.identity import caller
from concord_chassis.call.opaque import page_cursor

from concord_graph.domain.errors import ExportInvalid, FieldInvalid
from concord_graph.domain.items import AsOf
from concord_graph.servicer import calls, incoming, outgoing
from concord_graph.usecases.governed.apply import GovernedChanges, Restore
from concord_graph.usecases.memory.erase import Erasing
from concord_graph.usecases.read.reader import Reader
from concord_graph.usecases.transfer.exports import Exports
from concord_graph.usecases.transfer.full_import import Upload, import_space
from concord_graph.usecases.write.commands import IMPORT, Commands

EXPORT_CHUNK_CHARACTERS = 500_000
MOST_IMPORTED_BYTES = 8 << 30
"""Bytes of disk that an import may take while it is received."""


class SpaceServicer(space_pb2_grpc.SpaceServiceServicer):
    """Translates in, calls one use case, translates out.

    Exports and imports are buffered in an anonymous temporary file: neither has to fit into memory,
    and no transaction waits for a network.
    """

    def __init__(
        self,
        commands: Commands,
        reader: Reader,
        exports: Exports,
        erasing: Erasing,
        governed: GovernedChanges,
        *,
        erased: Callable[[], None],
    ) -> None:
        """`erased` runs after each import: erasures in it may wait for a confirmation."""
        self._commands = commands
        self._reader = reader
        self._exports = exports
        self._erasing = erasing
        self._governed = governed
        self._erased = erased

    async def CountByType(
        self, request: space_pb2.CountByTypeRequest, context: calls.Context
    ) -> space_pb2.CountByTypeResponse:
        as_of = incoming.as_of(request)
        counts = await self._reader.read(caller().space, lambda tx, now: tx.counts(as_of.at(now)))
        return space_pb2.CountByTypeResponse(
            nodes=counts.nodes,
            edges=counts.edges,
            memories=counts.memories,
            raw_dialogues=counts.raw_dialogues,
            deleted=counts.deleted,
            episodes=counts.episodes,
            working_memory=counts.working_memory,
            working_memory_stale=counts.working_memory_stale,
            status=calls.FOUND if counts.anything else calls.NOT_FOUND,
        )

    async def ListOperations(
        self, request: space_pb2.ListOperationsRequest, context: calls.Context
    ) -> space_pb2.ListOperationsResponse:
        beyond = page_cursor(request, int)
        filter_ = incoming.operation_filter(request)
        found = await self._reader.read(
            caller().space, lambda tx, _: tx.operations(filter_, beyond, calls.page_limit(request))
        )
        changes, token = calls.one_page(request, found, lambda last: last.seq)
        return space_pb2.ListOperationsResponse(
            operations=map(outgoing.operation, changes), next_page_token=token
        )

    async def ExportSpace(
        self, request: space_pb2.ExportSpaceRequest, context: calls.Context
    ) -> AsyncIterator[space_pb2.ExportSpaceResponse]:
        space, as_of = caller().space, incoming.as_of(request)
        if request.form == space_pb2.EXPORT_FORM_FULL:
            if as_of != AsOf():
                raise FieldInvalid("as_of", "the full form is of all times")
            with TemporaryFile() as file:
                await self._reader.flush()  # uses of sessions are stored with the reads
                full = await self._exports.full(space, file)
                for piece in _pieces(full.lines()):
                    yield piece
            return
        if request.form == space_pb2.EXPORT_FORM_DOT:
            lines = await self._exports.drawing(space, as_of)
        else:
            lines = await self._exports.state(space, as_of)
        for piece in _pieces(lines):
            yield piece

    async def ImportSpace(
        self,
        request_iterator: AsyncIterator[space_pb2.ImportSpaceRequest],
        context: calls.Context,
    ) -> space_pb2.ImportSpaceResponse:
        with TemporaryFile() as file:
            header, upload, line_count = await _received(request_iterator, file)
            restore = Restore(header.restore_grant, header.enrolment_secret)
            done = await calls.execute_as(
                self._commands,
                IMPORT,
                header,
                header.SerializeToString(deterministic=True) + upload.digest.encode(),
                partial(
                    import_space,
                    upload=upload,
                    restore=restore,
                    governed=self._governed,
                    erasing=self._erasing,
                ),
            )
        self._erased()
        return calls.reply(
            space_pb2.ImportSpaceResponse, done, export_digest=upload.digest, line_count=line_count
        )


def _pieces(lines: Iterable[str]) -> Iterator[space_pb2.ExportSpaceResponse]:
    chunk: list[str] = []
    size = 0
    for line in lines:
        if chunk and size + len(line) > EXPORT_CHUNK_CHARACTERS:
            yield space_pb2.ExportSpaceResponse(lines=chunk)
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield space_pb2.ExportSpaceResponse(lines=chunk)


async def _received(
    messages: AsyncIterator[space_pb2.ImportSpaceRequest], file: BinaryIO
) -> tuple[space_pb2.ImportHeader, Upload, int]:
    """Write the pieces to a file; return the header, the upload, and its number of lines."""
    header: space_pb2.ImportHeader | None = None
    hashed = hashlib.sha256()
    size = line_count = 0
    async for message in messages:
        if (message.WhichOneof("part") == "header") != (header is None):
            raise FieldInvalid("part", "the header comes first, and only first")
        if header is None:
            header = message.header
            continue
        size += len(message.piece)
        line_count += message.piece.count(b"\n")
        if size > MOST_IMPORTED_BYTES:
            raise ExportInvalid(line_count, f"lies beyond {MOST_IMPORTED_BYTES} bytes")
        hashed.update(message.piece)
        file.write(message.piece)
    if header is None:
        raise FieldInvalid("part", "an import is a header and the pieces of an export")
    file.flush()
    return header, Upload(file, hashed.hexdigest()), line_count
