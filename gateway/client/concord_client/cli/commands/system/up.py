"""`concord up` and `concord status`."""

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

import typer
from concord.search.v1.search_pb2 import GetIndexStatusRequest, GetIndexStatusResponse
from google.protobuf.json_format import MessageToDict

from concord_client.cli.errors import CommandError
from concord_client.cli.options import AsOfOption, KnownAtOption
from concord_client.cli.render.page import fields, plural, show, text
from concord_client.cli.services import (
    DECIDING,
    JUDGING,
    SERVICES,
    TOO_MANY_SPACES,
    briefing,
    dead_judges,
    failing_tasks,
    index_state,
    not_indexed,
    serves,
)
from concord_client.cli.session import Session, SystemSession, demand_embedded, write_line
from concord_client.cli.values import asked_time
from concord_client.credentials import DATA_VARIABLE, data_directory

if TYPE_CHECKING:
    from concord.dissonance.v1.dissonance_pb2 import ListJudgesResponse
    from concord.governance.v1.proposal_pb2 import GetBriefingResponse
    from concord.graph.v1.space_pb2 import CountByTypeResponse

    Replies = tuple[CountByTypeResponse, GetIndexStatusResponse, ListJudgesResponse | None]
    """The services' own status replies; that of dissonance is None while it does not serve."""

DEFAULT_PORT = 7600
ROLLED_BACK = (
    "The graph is older than the audit log of this space, so nothing is proposed or decided there:"
    " stop Concord and restore the newer copy of the graph's store."
)


def up(
    session: SystemSession,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Data directory; made when it is not there.",
            show_default=f"{DATA_VARIABLE}, else ~/.local/share/concord",
        ),
    ] = None,
    *,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65534, help="gRPC port; HTTP listens on the next one. 0 takes any two."
        ),
    ] = DEFAULT_PORT,
) -> None:
    """Start the whole of Concord in one process on this machine, until Ctrl-C or SIGTERM.

    GRAPH_STORE and GOVERNANCE_STORE choose the stores (sqlite, neo4j), INDEX_STORE what keeps the
    index (edge, qdrant with QDRANT_URL). GOVERNANCE_SETTINGS_FILE names a JSON file with
    undo_retention_days and approval_timeout_hours.
    """
    began = time.monotonic()
    demand_embedded()
    from concord_embedded.up import up as run

    where = data or data_directory(session.environ)
    command = typed_as(where, session.environ)
    raise typer.Exit(run(where, port, as_json=session.as_json, began=began, command=command))


def typed_as(data: Path, environ: Mapping[str, str]) -> str:
    """The `concord` command with options for this data directory, for a terminal in this folder."""
    beside = Path(sys.executable).parent / "concord"
    found = which("concord", path=environ.get("PATH"))
    command = "concord"
    if beside.exists() and (found is None or Path(found).resolve() != beside.resolve()):
        command = shlex.quote(os.path.relpath(beside))
    plain = {name: value for name, value in environ.items() if name != DATA_VARIABLE}
    if data.resolve() == data_directory(plain).resolve():
        return command
    return f"{command} --data {shlex.quote(str(data))}"


def status(session: Session, *, as_of: AsOfOption = None, known_at: KnownAtOption = None) -> None:
    """Show whether Concord serves, what the space holds or held, and how far its index is now."""
    from concord.dissonance.v1.dissonance_pb2 import ListJudgesRequest
    from concord.graph.v1.space_pb2 import CountByTypeRequest

    asked = CountByTypeRequest(as_of=asked_time(as_of, known_at))
    with session.client() as client:
        serving = {name: serves(client, name) for name in SERVICES}
        failing = failing_tasks(client)
        counts = client.space.CountByType(asked)
        index = client.index.GetIndexStatus(GetIndexStatusRequest())
        told = briefing(client) if serving[DECIDING] else None
        judges = client.dissonance.ListJudges(ListJudgesRequest()) if serving[JUDGING] else None
        # of a time asked about, the counts are no measure of the index
        missing = 0 if asked.HasField("as_of") else not_indexed(counts, index)
        found = (counts, index, judges)
        if session.as_json:
            _print_json(client.url, serving, failing, found, told, missing=missing)
        else:
            space_name = session.space_name
            _print_page(client.url, space_name, serving, failing, found, told=told, missing=missing)
    if told and told.graph_rolled_back:
        raise CommandError(ROLLED_BACK, reason="ERROR_REASON_GRAPH_ROLLED_BACK")
    if not all(serving.values()):
        silent = ", ".join(name for name, serves in serving.items() if not serves)
        raise CommandError(f"Not serving: {silent}.", reason="ERROR_REASON_UNAVAILABLE")


def _print_json(
    url: str,
    serving: dict[str, bool],
    failing: list[str],
    found: "Replies",
    told: "GetBriefingResponse | None",
    *,
    missing: int,
) -> None:
    """Print one object with the replies' protobuf JSON.

    `url`, `serving`, `failing` (background tasks that died and were started again), `counts`,
    `index`, `notIndexed`: the number of memories that search does not find yet, `judges`,
    `graphRolledBack`: whether graph is older than the space's audit log, and `tooManySpaces`:
    whether no more can be made.
    """
    counts, index, judges = found
    replies = {"counts": MessageToDict(counts), "index": MessageToDict(index)}
    if judges is not None:
        replies |= MessageToDict(judges)
    status = {
        "url": url,
        "serving": serving,
        "failing": failing,
        **replies,
        "notIndexed": missing,
        "graphRolledBack": bool(told and told.graph_rolled_back),
        "tooManySpaces": bool(told and told.too_many_spaces),
    }
    write_line(json.dumps(status, indent=2))


def _print_page(
    url: str,
    space: str,
    serving: dict[str, bool],
    failing: list[str],
    found: "Replies",
    *,
    told: "GetBriefingResponse | None",
    missing: int,
) -> None:
    counts, index, judges = found
    down = [name for name, serves in serving.items() if not serves]
    show(text(f"Concord at {url}: ").append("not serving" if down else "serving", "bold"))
    pairs = [
        ("not serving", ", ".join(down)),
        ("failing", ", ".join(failing)),
        ("space", space),
        ("too many spaces", TOO_MANY_SPACES if told and told.too_many_spaces else ""),
        ("memories", f"{counts.memories:,}"),
        ("dialogue turns", f"{counts.raw_dialogues:,}"),
        ("nodes", f"{counts.nodes:,}"),
        ("edges", f"{counts.edges:,}"),
        ("deleted", f"{counts.deleted:,}"),
        ("index", index_state(index, missing)),
        ("feed", "followed" if index.following else "not followed"),
        ("dead judges", dead_judges(judges)),
        ("set aside", f"{plural(index.parked_changes, 'change')}" if index.parked_changes else ""),
        ("model", f"{index.model.model_id} ({index.model.dimension} dimensions)"),
    ]
    show(fields(pairs))
    for parked in index.parked:
        show(text(f"  set aside: {parked.item_id} (change {parked.seq}): {parked.reason}", "red"))
