"""The part of GraphService that moves spaces: exports in three forms, and the import of one."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import grpc
from concord.graph.v1 import graph_pb2, graph_pb2_grpc, transfer_pb2
from concord_chassis.identity import caller

from concord_graph.domain.errors import ExportInvalid, FieldInvalid
from concord_graph.domain.items import AsOf
from concord_graph.servicer import incoming, outgoing
from concord_graph.servicer.actions import Actions
from concord_graph.servicer.calls import execute_as
from concord_graph.usecases.governed.apply import GovernedChanges, Restore
from concord_graph.usecases.queries import Queries
from concord_graph.usecases.transfer.full_import import FullImport, Upload
from concord_graph.usecases.write.commands import IMPORT, Commands

EXPORT_CHUNK_CHARACTERS = 500_000
MOST_IMPORTED_BYTES = 8 << 30
"""What an import may take of the disk while it comes in."""

Context = grpc.aio.ServicerContext[Any, Any]


class TransferServicer(graph_pb2_grpc.GraphServiceServicer):
    """Translates in, calls one use case, translates out.

    Exports and imports wait in a file without a name, which is gone when they are done: neither has
    to fit into memory, and no transaction waits for a network.
    """

    _commands: Commands
    _queries: Queries
    _actions: Actions
    _governed: GovernedChanges
    _erased: Callable[[], None]

    async def ExportSpace(
        self, request: graph_pb2.ExportSpaceRequest, context: Context
    ) -> AsyncIterator[graph_pb2.ExportSpaceResponse]:
        """Stream the space in the form that was asked for."""
        space, as_of = caller().space, incoming.as_of(request)
        if request.form == transfer_pb2.EXPORT_FORM_FULL:
            if as_of != AsOf():
                raise FieldInvalid("as_of", "the full form is of all times")
            with TemporaryFile() as file:
                full = await self._queries.full(space, file)
                for piece in _pieces(full.lines()):
                    yield piece
            return
        if request.form == transfer_pb2.EXPORT_FORM_DOT:
            lines = await self._queries.drawing(space, as_of)
        else:
            lines = await self._queries.state(space, as_of)
        for piece in _pieces(lines):
            yield piece

    async def ImportSpace(
        self,
        request_iterator: AsyncIterator[transfer_pb2.ImportSpaceRequest],
        context: Context,
    ) -> transfer_pb2.ImportSpaceResponse:
        """Write a full export into an unused space."""
        with TemporaryFile() as file:
            header, upload, line_count = await _received(request_iterator, file)
            restore = Restore(header.restore_grant, header.enrolment_secret)
            done = await execute_as(
                self._commands,
                IMPORT,
                header,
                header.SerializeToString(deterministic=True) + upload.digest.encode(),
                lambda writer: FullImport(writer, upload, restore).run(
                    self._governed, self._actions.erasing
                ),
                shown=0,
            )
        self._erased()  # what was erased there may still wait for a confirmation of this store
        return transfer_pb2.ImportSpaceResponse(
            export_digest=upload.digest,
            line_count=line_count,
            token=outgoing.done_token(caller().space, done),
        )


def _pieces(lines: Iterable[str]) -> Iterator[graph_pb2.ExportSpaceResponse]:
    chunk: list[str] = []
    size = 0
    for line in lines:
        if chunk and size + len(line) > EXPORT_CHUNK_CHARACTERS:
            yield graph_pb2.ExportSpaceResponse(lines=chunk)
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield graph_pb2.ExportSpaceResponse(lines=chunk)


async def _received(
    messages: AsyncIterator[transfer_pb2.ImportSpaceRequest], file: BinaryIO
) -> tuple[transfer_pb2.ImportHeader, Upload, int]:
    """Put the pieces into a file; return the header, the upload, and how many lines it has."""
    header: transfer_pb2.ImportHeader | None = None
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
