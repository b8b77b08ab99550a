"""Size limits of envelopes and log entries: one set of numbers for writers and readers.

They agree with each other: a grant over `MAX_ITEMS` items, whose map has `MAX_ETAGS_BYTES`, fits
with two consents, and so do the log entries about it. A proposal that would not fit is refused
when it is made: after both principals have signed, nothing can turn out too large.
"""

MAX_ENTRY_BYTES = 1 << 20
"""Bytes of one entry of the audit log, and of one line of its export."""

MAX_ITEMS = 1_000
"""Items that a consent, and the grant for it, name with their etags."""

MAX_REVERTED = 5_000
"""Items that an undo brings back: those that consents name, and the cascaded ones."""

MAX_ETAGS_BYTES = 163_840
"""Bytes of the RFC 8785 form of the etags: `MAX_ITEMS` ids of 128 ASCII characters fit."""

MAX_ENVELOPE_BYTES = 65_536
"""Bytes of a consent, a rejection or a revocation as it is received."""

MAX_REVOCATION_BYTES = 4_096
"""Bytes of a revocation that graph and governance accept: a message of graph's feed carries up to
five hundred."""

MAX_GRANT_BYTES = 262_144
"""Bytes of a grant that graph accepts: base64 of the etags, once, and of both consents, each under
4,096 bytes since its fields are short and it names the etags by their digest."""

FEWEST_NONCE_BYTES = 16
"""Bytes of a nonce before it is written as text."""

MAX_KEYS = 8
"""Keys of a slot, retired ones that a restored store still has among them."""

MAX_LABEL_CHARACTERS = 64
"""Characters of a key's label."""
