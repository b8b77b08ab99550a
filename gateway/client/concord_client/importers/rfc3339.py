"""Times as the contract's JSON writes them."""

from collections.abc import Mapping

from concord_client.importers.chat.records import time_at


def rfc3339(record: Mapping[str, object], name: str) -> str:
    """A record's time in ISO 8601 with its zone, "" for no value. Raises `ItemUnreadable`."""
    time = time_at(record, name)
    return time.isoformat() if time else ""
