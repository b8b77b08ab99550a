"""Times as the contract's JSON writes them."""

from concord_client.importers.chat.records import time_of


def rfc3339(value: object) -> str:
    """A time in ISO 8601 with its zone, "" for no value. Raises `ItemUnreadable`."""
    time = time_of(value)
    return time.isoformat() if time else ""
