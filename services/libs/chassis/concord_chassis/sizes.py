"""How large a message may be, in bytes of its protobuf form. The contract states these numbers."""

MAX_MESSAGE_BYTES = 1 << 20
"""A request above this is refused with its reason."""

MAX_REPLY_BYTES = 8 << 20
"""A reply above this is not sent; its caller gets a reason instead."""

PAGE_BYTES = 1 << 20
"""A page ends before the item that would bring it above this, however few it then has."""

TRANSPORT_BYTES = 16 << 20
"""What gRPC itself lets in, to be refused with a reason. Above, it refuses in its own words: with
RESOURCE_EXHAUSTED, but nothing else that a machine can read. It holds what one message may take
of memory before anybody has looked at who sends it."""
