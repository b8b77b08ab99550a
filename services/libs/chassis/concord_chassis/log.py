"""Logging: JSON lines, one canonical line per request, never a payload or a secret."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import FilteringBoundLogger

from concord_chassis import request_id, tracing

Logger = FilteringBoundLogger


def json_lines(server: str, *, stream: TextIO | None = None, level: str = "info") -> Logger:
    """A logger that writes one JSON object a line to `stream` (standard error unless given).

    Every line carries `server`, `level`, `timestamp` (UTC) and, during a call, `request_id` and,
    where it is traced, `trace_id`.
    `level` is debug, info, warning or error. Tracebacks come without local variables: those hold
    payloads.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    logger: Logger = structlog.wrap_logger(
        structlog.WriteLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_ids,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        cache_logger_on_first_use=True,
        server=server,
    )
    return logger


# structlog's type of an event: its values are whatever the call site logs.
def _add_ids(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    for name, current in (("request_id", request_id.current()), ("trace_id", tracing.trace_id())):
        if current:
            event.setdefault(name, current)
    return event
