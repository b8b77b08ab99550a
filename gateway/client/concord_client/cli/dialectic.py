"""Follows a run of synthesis or review: shows its progress, and returns its result."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from google.protobuf.json_format import MessageToJson

from concord_client.cli.errors import CommandError, with_aside
from concord_client.cli.render.page import complaints, show
from concord_client.cli.session import write_line

if TYPE_CHECKING:
    from concord.dissonance.v1.dialectic_pb2 import DialecticEvent, DialecticResult

LONG_RUN = 600.0
"""Seconds that a run may take."""


class Reply(Protocol):
    """A message of a run's stream."""

    @property
    def event(self) -> "DialecticEvent":
        """The event."""
        ...


def result_of(replies: "Iterable[Reply]", title: str) -> "DialecticResult":
    """Follow a run with a progress bar, and return its result. Raises `CommandError`.

    Reviewers are printed when they answer: on a terminal all, else only those that failed.
    """
    from concord_client.cli.render.progress import bar

    event = None
    with bar(title, 100) as advance:
        for reply in replies:
            event = reply.event
            advance(round(event.percent))
            _tell_reviewer(event)
    return _demand_result(event).done


def written_out(replies: "Iterable[Reply]") -> None:
    """Write each event as a line of JSON. Raises `CommandError` after the event of a failure."""
    event = None
    for reply in replies:
        event = reply.event
        write_line(MessageToJson(event, indent=None, ensure_ascii=False))
    _demand_result(event)


def _tell_reviewer(event: "DialecticEvent") -> None:
    from concord_client.cli.render.review_page import failed_line, reviewer_line

    if event.HasField("failed_reviewer"):
        show(failed_line(event.failed_reviewer), on_error=True)
    elif event.HasField("review") and complaints().is_terminal:
        show(reviewer_line(event.review), on_error=True)


def _demand_result(last: "DialecticEvent | None") -> "DialecticEvent":
    if last is None:
        raise CommandError("The run has no event after that one: it is over.")
    if last.HasField("failed"):
        said = last.failed.metadata
        counts = ", ".join(f"{name} {said[name]}" for name in sorted(said))
        message = with_aside(last.failed.message, counts) if counts else last.failed.message
        raise CommandError(message, reason=last.failed.reason)
    return last
