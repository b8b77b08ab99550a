"""Waits until search has seen a write."""

import contextlib
import time
from collections.abc import Iterator

import grpc
from concord.search.v1 import search_pb2
from concord.type.v1.type_pb2 import Consistency

from concord_client.client import Client
from concord_client.refusal import Refused

LOOK = 1.0
"""Seconds that one request waits for the index."""

SETTLED = 5.0
"""Seconds that a writing command waits for the index, which usually needs some hundredths."""

STUCK_AFTER = 60.0
"""Seconds without any progress after which the index counts as stuck."""


class IndexStuckError(Exception):
    """The index makes no progress; the text says what to do."""


def follow(client: Client, token: str, since: int | None = None) -> Iterator[tuple[int, int]]:
    """Yields (changes indexed, changes in all) until search has seen the write `token`.

    Both are counted from the change `since`, or from what is indexed at the call. Raises
    `IndexStuckError` after `STUCK_AFTER` seconds without progress.
    """
    status = _status(client)
    newest = status.applied_seq
    first = newest if since is None else since
    moved = time.monotonic()
    yield newest - first, max(status.head_seq, newest) - first
    while not _has_seen(client, token, LOOK):
        status = _status(client)
        if status.applied_seq != newest:
            newest, moved = status.applied_seq, time.monotonic()
        elif time.monotonic() - moved > STUCK_AFTER:
            raise IndexStuckError(
                f"The index has not moved for {STUCK_AFTER:.0f} s: search does not find all of it "
                "yet. `concord status` shows how far it is."
            )
        yield newest - first, max(status.head_seq, newest) - first
    done = _status(client).applied_seq - first
    yield done, done


def settle(client: Client, token: str) -> None:
    """Waits up to `SETTLED` seconds until search has seen the write `token`.

    Failures of search are ignored, since the write has succeeded.
    """
    with contextlib.suppress(Refused):
        _has_seen(client, token, SETTLED)


def _status(client: Client) -> search_pb2.GetIndexStatusResponse:
    return client.index.GetIndexStatus(search_pb2.GetIndexStatusRequest())


def _has_seen(client: Client, token: str, seconds: float) -> bool:
    """Whether search has seen the token; it waits for it up to the call's deadline."""
    request = search_pb2.SearchRequest(
        query="index",
        consistency=Consistency(at_least_as_fresh=token),
        page_size=1,
        peek=True,
    )
    try:
        client.search.Search(request, timeout=seconds)
    except Refused as refused:
        stale = refused.reason == "ERROR_REASON_INDEX_STALE"
        if stale or refused.code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return False
        raise
    return True
