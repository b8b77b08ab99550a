"""The columns of the spaces in use, in memory: as many as fit, the least recently used go first."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Lock
from typing import Generic

from concord_search.adapters.qdrant.partition import Part
from concord_search.adapters.qdrant.shard import S
from concord_search.adapters.qdrant.space import SpaceIndex

_STRIPES = 64


class ColumnsCache(Generic[S]):
    """The loaded spaces, for use by several threads.

    What is held is never dropped, nor what was used last, however large it is.
    """

    def __init__(self, load: Callable[[Part[S]], SpaceIndex[S]], most_bytes: int) -> None:
        self._load = load
        self._most = most_bytes
        self._loaded: OrderedDict[int, SpaceIndex[S]] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._size = 0
        self._held: Counter[int] = Counter()
        self._lock = Lock()
        # While a space is loaded or dropped, others can be: those of other stripes.
        self._stripes = [Lock() for _ in range(_STRIPES)]

    @contextmanager
    def held(self, part: Part[S]) -> Iterator[None]:
        """Keeps a space in memory, once it is there, while it is written or asked."""
        with self._lock:
            self._held[part.number] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[part.number] -= 1
                if not self._held[part.number]:
                    del self._held[part.number]
                if (space := self._loaded.get(part.number)) is not None:
                    self._note(part.number, space.nbytes)

    def __getitem__(self, part: Part[S]) -> SpaceIndex[S]:
        """The space, loaded if it has to be. Blocking."""
        with self._lock:
            if (found := self._used(part.number)) is not None:
                return found
        with self._stripes[part.number % _STRIPES]:
            with self._lock:
                if (found := self._used(part.number)) is not None:
                    return found
            found = self._load(part)
            self._put(part, found)
        self._trim()
        return found

    def _used(self, number: int) -> SpaceIndex[S] | None:
        found = self._loaded.get(number)
        if found is not None:
            self._loaded.move_to_end(number)
        return found

    def put(self, part: Part[S], space: SpaceIndex[S]) -> None:
        """Takes in a space that was made. Blocking."""
        self._put(part, space)
        self._trim()

    def _put(self, part: Part[S], space: SpaceIndex[S]) -> None:
        with self._lock:
            self._loaded[part.number] = space
            self._note(part.number, space.nbytes)

    def _note(self, number: int, size: int) -> None:
        self._size += size - self._sizes.get(number, 0)
        self._sizes[number] = size

    def _trim(self) -> None:
        while (number := self._too_many()) is not None:
            with self._stripes[number % _STRIPES]:
                with self._lock:
                    if self._held[number] or number not in self._loaded:
                        continue
                    space = self._loaded.pop(number)
                    self._size -= self._sizes.pop(number)
                space.store()  # under the stripe's lock: who loads it next waits for its file

    def _too_many(self) -> int | None:
        """The space to drop next; None while the others fit, or are in use."""
        with self._lock:
            if self._size <= self._most:
                return None
            others = islice(self._loaded, len(self._loaded) - 1)
            return next((number for number in others if number not in self._held), None)

    def drop(self, part: Part[S]) -> None:
        """Leaves a space as it is, without its file: it was removed, or is to be read anew."""
        with self._lock:
            self._loaded.pop(part.number, None)
            self._size -= self._sizes.pop(part.number, 0)

    def clear(self) -> None:
        """Leaves all spaces as they are: another process wrote them, or will."""
        with self._lock:
            self._loaded.clear()
            self._sizes.clear()

    def loaded(self) -> list[SpaceIndex[S]]:
        """The spaces in memory."""
        with self._lock:
            return list(self._loaded.values())
