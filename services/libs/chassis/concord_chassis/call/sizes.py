"""Size limits in bytes of serialized messages; the contracts state these numbers, too."""

MAX_MESSAGE_BYTES = 1 << 20
"""A larger request message is refused with MESSAGE_TOO_LARGE."""

MAX_REPLY_BYTES = 8 << 20
"""A larger reply is not sent: its caller receives MESSAGE_TOO_LARGE."""

PAGE_BYTES = 1 << 20
"""A page ends before the item that would make it larger, but has at least one item."""

TRANSPORT_BYTES = 16 << 20
"""gRPC receives messages up to this size, so that those above `MAX_MESSAGE_BYTES` can be refused
with a reason. Larger ones gRPC itself refuses, with RESOURCE_EXHAUSTED and no reason. The limit
bounds the memory that a message takes before its caller is authenticated."""
