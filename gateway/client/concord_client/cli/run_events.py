"""Follows a run of the dialectic: a bar on standard error, and its result or its refusal."""

from collections.abc import Callable, Iterable
from typing import Protocol

import grpc
from concord.dissonance.v1 import dialectic_pb2

from concord_client.cli.render.progress import bar
from concord_client.cli.session import Session, write_line
from concord_client.refusal import KIND_OF_REASON, Refused


class Reply(Protocol):
    """A message of a stream that follows a run."""

    @property
    def event(self) -> dialectic_pb2.DialecticEvent:
        """The event."""
        ...


def followed(
    session: Session,
    replies: Iterable[Reply],
    title: str,
    on_event: Callable[[dialectic_pb2.DialecticEvent], None],
) -> dialectic_pb2.DialecticResult | None:
    """Return what a run concluded; None once every event was written as a line of JSON.

    Raises `Refused` for a run that failed.
    """
    from google.protobuf.json_format import MessageToJson

    with bar(title, 100) as advance:
        for reply in replies:
            event = reply.event
            if session.as_json:
                write_line(MessageToJson(event, indent=None, ensure_ascii=False))
            else:
                advance(round(event.percent))
                on_event(event)
            if event.HasField("failed"):
                raise _refusal(event.failed)
    return None if session.as_json else event.done


def _refusal(failed: dialectic_pb2.RunFailure) -> Refused:
    kind = KIND_OF_REASON.get(failed.reason, Refused)
    counts = ", ".join(f"{name} {failed.metadata[name]}" for name in sorted(failed.metadata))
    message = f"{failed.message} ({counts})" if counts else failed.message
    code = grpc.StatusCode[failed.code]
    return kind(code, failed.reason, message, metadata=failed.metadata)
