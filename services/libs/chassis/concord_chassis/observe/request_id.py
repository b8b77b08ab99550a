"""The request id, which is in every log line and every inner call of one request."""

import re
import uuid
from contextvars import ContextVar

METADATA_KEY = "x-request-id"

_WELL_FORMED = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_CURRENT: ContextVar[str] = ContextVar("concord_request_id", default="")


def current() -> str:
    """Returns the current call's request id, or "" outside a call."""
    return _CURRENT.get()


def accept(offered: object) -> str:
    """Returns `offered` if it is well formed, else a new id: no arbitrary text enters our logs.

    Well formed are 1 to 128 ASCII letters, digits, dots, underscores, colons and hyphens.
    """
    if isinstance(offered, str) and _WELL_FORMED.fullmatch(offered):
        return offered
    return new()


def new() -> str:
    """Returns a new random id of 32 hex digits."""
    return uuid.uuid4().hex


def enter(request_id: str) -> None:
    """Makes `request_id` the current one for the rest of the running task."""
    _CURRENT.set(request_id)
