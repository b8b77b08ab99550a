"""A space's own secret, and the numbers that stand for words under it.

Payloads hold no readable word: a tag, a concept or a domain becomes a keyed hash. Without the key
the same word of two spaces cannot be matched, nor a guessed word be checked. An id that a caller
chose may be a word too; it is encrypted, so that it can be read back to hydrate it.
"""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache

from cryptography.hazmat.primitives.ciphers.aead import AESSIV

KEY_BYTES = 32
_SEALED = "~"
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
"""A UUID in the form that `str` returns."""
_POSITIVE = (1 << 62) - 1


class SpaceKey:
    """The secret of one space's index."""

    def __init__(self, secret: bytes) -> None:
        self._hash_key = hmac.digest(secret, b"facets", "sha256")
        self._id_key = hmac.digest(secret, b"ids", "sha512")
        self._cached = lru_cache(maxsize=1 << 14)(self._number)

    @property
    def _cipher(self) -> AESSIV:
        """Made anew for each id, in some microseconds: it takes 4 kilobytes, of which there would
        be as many as spaces in use."""
        return AESSIV(self._id_key)

    @property
    def cached(self) -> int:
        """How many numbers are in memory."""
        return self._cached.cache_info().currsize

    def number(self, field: str, value: str) -> int:
        """A positive 62-bit number that stands for a value of a field."""
        return self._cached(field, value)

    def digest(self, text: str) -> int:
        """A positive 62-bit number that stands for a whole text."""
        return self._number("content", text)

    def _number(self, field: str, value: str) -> int:
        message = f"{field}\0{value}".encode()
        return int.from_bytes(hmac.digest(self._hash_key, message, "sha256")[:8]) & _POSITIVE

    def clear_cache(self) -> None:
        """Clears the cache of numbers, which holds words."""
        self._cached.cache_clear()

    def item(self, item_id: str) -> str:
        """The index's name of an item: a UUID stays, another id is encrypted deterministically."""
        if _UUID.fullmatch(item_id):
            return item_id
        sealed = self._cipher.encrypt(item_id.encode(), None)
        return _SEALED + urlsafe_b64encode(sealed).decode()

    @staticmethod
    def hides(item: str) -> bool:
        """Whether an index's name of an item can be read with the secret alone."""
        return item.startswith(_SEALED)

    def id_of(self, item: str) -> str:
        """The id behind an index's name."""
        if not self.hides(item):
            return item
        return self._cipher.decrypt(urlsafe_b64decode(item[1:]), None).decode()
