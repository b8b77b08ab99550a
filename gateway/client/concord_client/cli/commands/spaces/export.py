"""`concord export`."""

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from google.protobuf.json_format import MessageToJson

from concord_client import private_files
from concord_client.cli.choices import ExportForm
from concord_client.cli.errors import CommandError
from concord_client.cli.options import (
    AsOfOption,
    FileArgument,
    KnownAtOption,
    OutOption,
    chosen_file,
)
from concord_client.cli.session import Session
from concord_client.cli.values import asked_time

if TYPE_CHECKING:
    from concord.graph.v1.space_pb2 import ExportSpaceResponse

TIMEOUT = 3600.0


class Form(StrEnum):
    """The form of an export: one of the contract's, or that of another memory system."""

    STATE = "state"
    FULL = "full"
    DOT = "dot"
    MEM0 = "mem0"

    @property
    def asked(self) -> ExportForm:
        """The contract's form to request, from which this one is made."""
        return ExportForm.STATE if self is Form.MEM0 else ExportForm[self.name]


def export(
    session: Session,
    file: FileArgument = None,
    *,
    out: OutOption = None,
    form: Annotated[
        Form,
        typer.Option(
            "--form",
            case_sensitive=False,
            help="state: what holds. full: all history, for import-space. dot: lineage, drawn by "
            "Graphviz; what does not hold is grey. mem0: memories and edges as Mem0 gives them.",
        ),
    ] = Form.STATE,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
) -> None:
    """Write what is in the space, with --as-of only what held then, as JSON Lines.

    With --form full it is all that ever was in it, who wrote it and when: keep such a file as safe
    as the space itself. What is erased later stays in it.
    """
    from concord.graph.v1.space_pb2 import ExportSpaceRequest

    request = ExportSpaceRequest(as_of=asked_time(as_of, known_at), form=form.asked.value_of())
    count = 0
    path = chosen_file(file, out)
    with session.client() as client, _output(path) as output:
        replies = client.space.ExportSpace(request, timeout=TIMEOUT)
        if form is Form.MEM0:
            count = _write_mem0(replies, output)
        for reply in replies:
            count += len(reply.lines)
            if session.as_json:
                output.write(MessageToJson(reply, indent=None, ensure_ascii=False) + "\n")
            else:
                output.writelines(f"{line}\n" for line in reply.lines)
    if path is not None:
        typer.echo(
            f"Wrote {count:,} {'lines' if form is Form.DOT else 'records'} to {path}.",
            err=True,
        )


def _write_mem0(replies: "Iterable[ExportSpaceResponse]", output: TextIO) -> int:
    """Write a state export in Mem0's form; return the number of memories and relations."""
    from concord_client.importers.exports.mem0 import to_mem0

    written = to_mem0(json.loads(line) for reply in replies for line in reply.lines)
    json.dump(written, output, indent=2, ensure_ascii=False)
    output.write("\n")
    return sum(map(len, written.values()))


@contextlib.contextmanager
def _output(out: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file (0600) that is written as a whole or not at all."""
    if out is None:
        yield sys.stdout
        return
    try:
        with private_files.replaced(out) as file:
            yield file
    except OSError as error:
        raise CommandError(f"Cannot write {out}: {error.strerror}.") from error
