"""Logging: JSON lines, one canonical line per request, never a payload or a secret."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import FilteringBoundLogger

from concord_chassis.observe import request_id, tracing

Logger = FilteringBoundLogger


def json_lines(server: str, *, stream: TextIO | None = None, level: str = "info") -> Logger:
    """Returns a logger that writes one JSON object a line to `stream`, by default standard error.

    Every line has `event`, `server`, `level` and `timestamp` (ISO 8601, UTC); during a call also
    `request_id`, and during a traced call `trace_id`. `level` is the lowest level that is written:
    debug, info, warning, error or critical. Tracebacks are without local variables, which may be
    payloads.

    Raises `KeyError` for an unknown level.
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


# `Any` is in structlog's type of an event: its values are whatever the caller logs.
def _add_ids(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    for name, current in (("request_id", request_id.current()), ("trace_id", tracing.trace_id())):
        if current:
            event.setdefault(name, current)
    return event
