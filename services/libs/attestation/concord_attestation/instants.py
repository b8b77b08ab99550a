"""Times as signed statements write them, RFC 3339 in UTC with six decimals, and as people do."""

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


def stated_time(text: str) -> datetime:
    """Read an ISO 8601 date or time as people state it, in UTC; without a zone it is UTC.

    A date is its first instant. ValueError for any other form, and for an instant that is not
    within the years 1 to 9999 in UTC.
    """
    time = datetime.fromisoformat(text)
    try:
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("not within the years 1 to 9999") from None


def expiry_problem(expire_time: str, now_us: int) -> str:
    """Return the defect of a statement's expiry: "format" if it is no time, "passed" from that
    instant on; "" before it."""
    try:
        return "passed" if parse_time(expire_time) <= now_us else ""
    except ValueError:
        return "format"
