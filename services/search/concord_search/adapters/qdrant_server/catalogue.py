"""The catalogue of an index that processes share: points without vectors in a collection.

A tenant is a point whose id is its number, a note one of `_NOTES` and above. All that they say is
encrypted under the installation's secret: a server learns numbers alone. What is removed stays in
the collection's files until `clean` makes it anew.
"""

import hmac
import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from concord_search.adapters.qdrant.catalogue import Catalogue, Stamp
from concord_search.adapters.qdrant.filters import PointId
from concord_search.adapters.qdrant.keys import KEY_BYTES
from concord_search.adapters.qdrant.payload import Payload
from concord_search.adapters.qdrant_server.shard import ServerShard
from concord_search.domain.errors import IndexUnusable

if TYPE_CHECKING:
    from concord_search.adapters.qdrant_server.collections import ServerShards

CATALOGUE = "catalogue"
"""The name of its collection, after the installation's."""

_NOTES = 1 << 62
_NAMES = ("partitions", "next", "stamps", "traced", "unclean", "versions", "cursors")
"""The notes, each at its place."""

T = TypeVar("T")


class ServerCatalogue(Catalogue):
    """The catalogue as it was read last. Without a collection it is empty: who leads makes one."""

    def __init__(self, shards: "ServerShards", secret: bytes) -> None:
        self._shards = shards
        self._cipher = AESSIV(hmac.digest(secret, b"catalogue", "sha512"))
        self._shard: ServerShard | None = None
        self._tenants: dict[int, tuple[str, bytes]] = {}
        self._notes: dict[str, Any] = {}
        self._last = 0
        self._is_current = False
        self._lock = RLock()
        self.renew()

    def renew(self) -> None:
        with self._lock:
            if not self._is_current or self._shards.leads:
                self._shard = self._shards.found(Path(CATALOGUE))
                self._tenants, self._notes, self._last = {}, {}, 0  # as another one left it
            self._is_current = False  # without an answer the server may have lost it
            for point, values in self._shard.payloads_from(self._last + 1) if self._shard else ():
                self._read(point, self._opened(point, values["sealed"]))
            self._is_current = self._shard is not None

    def _read(self, point: PointId, found: Any) -> None:
        if point >= _NOTES:
            self._notes[_NAMES[point - _NOTES]] = found
        else:
            name, secret = found
            self._tenants[point] = name, bytes.fromhex(secret)
            self._last = point

    def forget(self, number: int) -> None:
        with self._lock:
            self._tenants.pop(number, None)

    def _opened(self, point: PointId, sealed: str) -> Any:
        try:
            return json.loads(self._cipher.decrypt(b64decode(sealed), [str(point).encode()]))
        except InvalidTag:
            raise IndexUnusable(
                f"The collections {self._shards.prefix}-* of the Qdrant server are another "
                "installation's, or its secret is another one: set QDRANT_PREFIX to a name of "
                "this one's own, or QDRANT_INDEX_SECRET_FILE to the secret of all replicas."
            ) from None

    def _sealed(self, point: PointId, said: object) -> tuple[PointId, Mapping[str, Any], Payload]:
        sealed = self._cipher.encrypt(json.dumps(said).encode(), [str(point).encode()])
        return point, {}, {"sealed": b64encode(sealed).decode()}

    def _write(self, points: Mapping[PointId, object]) -> None:
        with self._lock:
            if self._shard is None:
                self._shard = self._shards.create(Path(CATALOGUE), 1)
                self._shards.make_current(Path(CATALOGUE), self._shard)
            self._shard.upsert([self._sealed(*each) for each in points.items()])
            for each in points.items():
                self._read(*each)

    def note(self, name: str, parsed: Callable[[Any], T], absent: T) -> T:
        with self._lock:
            return parsed(self._notes[name]) if name in self._notes else absent

    def keep(self, name: str, content: object) -> None:
        self._write({_NOTES + _NAMES.index(name): json.loads(json.dumps(content))})

    def partitions(self, wanted: int) -> int:
        found = self.note("partitions", int, 0)
        if not found and self._shards.leads:
            self.keep("partitions", wanted)
        return found or wanted

    def tenants(self) -> Mapping[int, tuple[str, bytes]]:
        with self._lock:
            return dict(self._tenants)

    def add(self, name: str) -> tuple[int, bytes]:
        with self._lock:
            number, secret = self.note("next", int, 1), secrets.token_bytes(KEY_BYTES)
            following = _NOTES + _NAMES.index("next"), number + 1
            self._write(dict([following, (number, (name, secret.hex()))]))
        return number, secret

    def remove(self, numbers: Iterable[int]) -> None:
        with self._lock:
            gone = list(numbers)
            if not gone or self._shard is None:
                return
            self.keep("unclean", True)
            self._shard.delete(gone)
            for number in gone:
                self._tenants.pop(number, None)

    def clean(self) -> None:
        with self._lock:
            former = self._shard
            if former is None or not self.note("unclean", bool, False):
                return
            fresh = self._shards.create(Path(CATALOGUE), 1)
            for points in former.whole():
                fresh.upsert(points)
            self._shards.make_current(Path(CATALOGUE), fresh)
            self._shard = fresh
            self._shards.remove(former)
            self.keep("unclean", False)

    def stamps(self) -> Mapping[str, Stamp | None]:
        return self.note("stamps", dict, {})

    def stamp(self, partition: str, stamp: Stamp) -> None:
        self.keep("stamps", {**self.stamps(), partition: stamp})

    def unstamp(self, partition: str) -> None:
        self.keep("stamps", {n: stamp for n, stamp in self.stamps().items() if n != partition})

    def traced(self) -> set[str]:
        return self.note("traced", set, set())

    def trace(self, partition: str) -> None:
        self.keep("traced", sorted({*self.traced(), partition}))

    def untrace(self, partition: str) -> None:
        if partition in self.traced():
            self.keep("traced", sorted(self.traced() - {partition}))

    def close(self) -> None:
        """Nothing: the connection stays open."""
