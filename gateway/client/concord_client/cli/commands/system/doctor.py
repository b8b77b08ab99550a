"""`concord doctor`: finds what is wrong with an installation, with advice."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer
from concord.search.v1.search_pb2 import (
    GetIndexStatusRequest,
    GetIndexStatusResponse,
    ReconcileIndexRequest,
)

from concord_client.cli.errors import CommandError, error_report
from concord_client.cli.render.page import show, text
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
from concord_client.cli.session import Party, Session, SystemSession, write_line
from concord_client.credentials import (
    FILE_NAME,
    LOCK_NAME,
    SYSTEM_SPACE,
    URL_VARIABLE,
    CredentialsError,
    Role,
    data_directory,
    read,
)

if TYPE_CHECKING:
    from concord_client.client import Client

COMPARE_SECONDS = 300.0
"""The timeout in seconds of comparing an index with graph."""
CATCH_UP_SECONDS = 5.0
_STUCK = "see that there is room on the disk, and its log; `concord reindex` makes it anew"
_GOES_ON = "wait: search finds them as they are indexed; `concord status` shows how far it is"


@dataclass(frozen=True)
class Finding:
    """A problem, or, without `is_wrong`, one that will arise or may be unseen; and what to do."""

    about: str
    problem: str
    advice: str
    is_wrong: bool = True


def doctor(
    session: SystemSession,
    *,
    port: Annotated[
        int, typer.Option(min=1, max=65534, help="The gRPC port that `up` takes.")
    ] = 7600,
) -> None:
    """Find what is wrong with this installation, running or not, and say what to do.

    Looks at the data directory, settings as this shell has them, ports, disk, clock, keys and
    backups; of a running system also at its services, feeds, judges, and whether each index holds
    what the graph remembers. Changes nothing. Ends with 1 if something is wrong.
    """
    found, runs = _local(session, port)
    if runs:
        found += _running(session)
    if session.as_json:
        write_line(json.dumps({"running": runs, "findings": [asdict(each) for each in found]}))
    else:
        _show(found, runs=runs)
    wrong = sum(each.is_wrong for each in found)
    if wrong:
        raise CommandError(f"{wrong} of these must be put right." if wrong > 1 else "Put it right.")


def _local(session: Session, port: int) -> tuple[list[Finding], bool]:
    """Findings in the data directory, none for a remote system; and whether a system runs."""
    if URL_VARIABLE in session.environ or find_spec("concord_embedded") is None:
        return [], True
    from concord_embedded import doctor as embedded

    root = data_directory(session.environ).absolute()
    if not (root / LOCK_NAME).exists() and (root / FILE_NAME).exists():
        return [], True  # a distributed system's folder: no embedded system ever ran here
    now = time.time_ns() // 1_000
    found = embedded.examine(root, port, session.environ, now)
    return [Finding(**asdict(each)) for each in found], embedded.is_running(root)


def _running(session: Session) -> list[Finding]:
    """Findings that the running system reports, space by space."""
    try:
        known = read(data_directory(session.environ) / FILE_NAME)
        named = [each for each in {**known.keys, **known.owner_keys} if each != SYSTEM_SPACE]
        spaces: Sequence[str | None] = named or [SYSTEM_SPACE]
    except CredentialsError:
        spaces = [session.space]
    found: list[Finding] = []
    for place, space in enumerate(spaces):
        asked = Session(space, session.as_json, session.environ, Party.AGENT)
        found += _of(asked, space or session.space_name, is_first=place == 0)
        if any(each.about == "address" for each in found):
            break
    return found


def _of(session: Session, space: str, *, is_first: bool) -> Iterator[Finding]:
    from concord_client.refusal import NotPermitted, Refused, Unreachable

    try:
        with session.client() as client:
            if is_first:
                yield from _permitted(_services(client), space, "which judges are dead")
            if space == SYSTEM_SPACE:
                return  # it holds keys and its log alone: no memories, and no index
            yield from _permitted(_space(client, space), space, "how far its index is")
        with session.client(Role.ADMIN) as client:
            unseen = "whether its index holds what the graph remembers"
            yield from _permitted(_index(client, space), space, unseen)
    except Unreachable as refused:
        advice = "see its log, log/concord.jsonl in the data directory; or start it again"
        yield Finding("address", error_report(refused), advice)
    except NotPermitted as refused:
        advice = f"a key that counts, in CONCORD_API_KEY: `concord key create --space {space}`"
        yield Finding("keys", f"of {space}: {error_report(refused)}", advice)
    except (Refused, CredentialsError) as refused:
        yield Finding("services", f"of {space}: {error_report(refused)}", "see its log")


def _permitted(found: Iterator[Finding], space: str, unseen: str) -> Iterator[Finding]:
    """Yield what is found; and what stays unseen, which is no fault, if the key may not look."""
    from concord_client.refusal import NotPermitted

    try:
        yield from found
    except NotPermitted as refused:
        if refused.reason != "ERROR_REASON_PERMISSION_MISSING":
            raise
        permission = refused.metadata["permission"]
        problem = f"the key of {space} lacks {permission}: unseen is {unseen}"
        wanted = f"`concord key create --space {space} --scopes read,write,govern,admin --save ...`"
        advice = f"{wanted}, of a person, to see it"
        yield Finding("keys", problem, advice, is_wrong=False)


def _services(client: "Client") -> Iterator[Finding]:
    from concord.dissonance.v1.dissonance_pb2 import ListJudgesRequest

    down = [name for name in SERVICES if not serves(client, name)]
    if down:
        advice = "its log says why: log/concord.jsonl in the data directory, or the container's"
        yield Finding("services", f"not serving: {', '.join(down)}", advice)
    for task in failing_tasks(client):
        advice = "it was started again; its log has the error: please report it"
        yield Finding("services", f"a background task died: {task}", advice)
    if JUDGING not in down:
        dead = dead_judges(client.dissonance.ListJudges(ListJudgesRequest()))
        if dead:
            advice = (
                "see that its endpoint answers (DISSONANCE_LLM_URL); until then checks are DEGRADED"
            )
            yield Finding("judges", f"dead: {dead}", advice)
    if DECIDING not in down and briefing(client).too_many_spaces:
        advice = "make the next ones in a system of their own (another CONCORD_DATA)"
        problem = f"there are too many: {TOO_MANY_SPACES}"
        yield Finding("spaces", problem, advice, is_wrong=False)


def _space(client: "Client", space: str) -> Iterator[Finding]:
    if serves(client, DECIDING) and briefing(client).graph_rolled_back:
        advice = "stop Concord and restore the newer copy of the graph's store, or a backup"
        yield Finding("stores", f"the graph is older than the audit log of {space}", advice)
    index, missing, moves = _caught_up(client)
    if not index.following:
        yield Finding("index", f"{space} is not followed", _STUCK)
    elif missing or index.applied_seq < index.head_seq:
        problem = f"of {space}: {index_state(index, missing)}"
        yield Finding("index", problem, _GOES_ON if moves else _STUCK, is_wrong=not moves)
    if index.parked_changes:
        problem = f"{index.parked_changes:,} changes of {space} are set aside"
        yield Finding("index", problem, f"`concord parked --retry --space {space}`")


def _caught_up(client: "Client") -> tuple[GetIndexStatusResponse, int, bool]:
    """Return the index's status, the number of memories that it lacks, and whether it moves."""
    from concord.graph.v1.space_pb2 import CountByTypeRequest

    end = time.monotonic() + CATCH_UP_SECONDS
    first: int | None = None
    while True:
        counts = client.space.CountByType(CountByTypeRequest())
        index = client.index.GetIndexStatus(GetIndexStatusRequest())
        first = index.applied_seq if first is None else first
        missing = not_indexed(counts, index)
        followed = index.following and index.applied_seq >= index.head_seq and not missing
        if followed or time.monotonic() > end:
            return index, missing, index.applied_seq > first
        time.sleep(0.1)


def _index(client: "Client", space: str) -> Iterator[Finding]:
    reply = client.index.ReconcileIndex(ReconcileIndexRequest(), timeout=COMPARE_SECONDS)
    if not reply.agrees:
        problem = f"the index of {space} does not hold what the graph remembers"
        yield Finding("index", problem, f"`concord reconcile --repair --space {space}`")


def _show(found: Sequence[Finding], *, runs: bool) -> None:
    for each in found:
        word, style = ("wrong", "red") if each.is_wrong else ("note", "yellow")
        show(text(f"{word}  {each.about}: {each.problem}", style))
        show(text(f"  → {each.advice}"))
    if not any(each.is_wrong for each in found):
        show(text("Nothing else is wrong." if found else "Nothing is wrong.", "green"))
    if not runs:
        show(text("Concord does not run there: its files, settings and ports were looked at."))
