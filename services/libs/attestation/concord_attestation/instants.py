"""Times as signed statements write them: RFC 3339 in UTC with six decimals."""

import re
from datetime import UTC, datetime, timedelta

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_time(text: str) -> int:
    """Read a time as microseconds since 1970; ValueError for any other form."""
    if not _TIME.fullmatch(text):
        raise ValueError("not a time")
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


def format_time(time: int) -> str:
    """Write microseconds since 1970."""
    return (_EPOCH + timedelta(microseconds=time)).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def expiry_problem(expire_time: str, now_us: int) -> str:
    """Return the defect of a statement's expiry: "format" if it is no time, "passed" from that
    instant on; "" before it."""
    try:
        return "passed" if parse_time(expire_time) <= now_us else ""
    except ValueError:
        return "format"
