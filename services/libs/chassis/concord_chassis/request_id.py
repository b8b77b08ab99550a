"""The id that ties together everything one request causes, across services and logs."""

import re
import uuid
from contextvars import ContextVar

METADATA_KEY = "x-request-id"

_WELL_FORMED = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_CURRENT: ContextVar[str] = ContextVar("concord_request_id", default="")


def current() -> str:
    """The current call's request id, or "" outside a call."""
    return _CURRENT.get()


def accept(offered: object) -> str:
    """`offered` when it is well formed, else a new id: a stranger's text never enters our logs."""
    if isinstance(offered, str) and _WELL_FORMED.fullmatch(offered):
        return offered
    return new()


def new() -> str:
    """A new random id of 32 hexadecimal characters."""
    return uuid.uuid4().hex


def enter(request_id: str) -> None:
    """Makes `request_id` the current one for the rest of the running task."""
    _CURRENT.set(request_id)
