"""How far a service has followed each partition of graph's feed, while it works on many spaces."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from itertools import islice
from typing import NamedTuple


class Cursor(NamedTuple):
    """A change of a partition: its number, from 1, and its digest; number 0: before the first."""

    number: int = 0
    digest: str = ""


START = Cursor()


class PartitionCursors:
    """Cursors by partition. Work on spaces ends in any order; a kept cursor has none open before
    it."""

    def __init__(self, kept: Mapping[int, Cursor]) -> None:
        """`kept`: up to which changes all work was done."""
        self._heard = dict(kept)
        self._newest = dict(kept)
        # those that were opened first, at the lowest changes, come first
        self._open: dict[int, OrderedDict[str, Cursor]] = {}

    @property
    def newest(self) -> Mapping[int, Cursor]:
        """The last change of each partition that was ever heard of, for comparison with graph."""
        return self._newest

    def begin(self, start: Mapping[int, Cursor]) -> None:
        """Notes that the feed is followed anew, from these cursors on, with nothing open."""
        for partition, cursor in start.items():
            self._newest.setdefault(partition, cursor)
        self._heard = dict(start)
        self._open = {}

    def forget(self, partition: int) -> None:
        """Notes that graph does not have what was heard of a partition."""
        self._newest.pop(partition, None)

    def hear(self, partition: int, space: str, through: Cursor | None) -> None:
        """Notes a message of the feed: work on `space`, if it names one, is open from now on."""
        if space:
            before = self._heard.get(partition, START)
            self._open.setdefault(partition, OrderedDict()).setdefault(space, before)
        if through is not None:
            self._heard[partition] = through
            if through.number > self._newest.get(partition, START).number:
                self._newest[partition] = through

    def open(self, partition: int, space: str) -> None:
        """Notes a space of which anything may be missing: its partition stays at the beginning."""
        spaces = self._open.setdefault(partition, OrderedDict())
        spaces[space] = START
        spaces.move_to_end(space, last=False)

    def done(self, is_open: Callable[[str], bool]) -> Mapping[int, Cursor]:
        """The last change of each partition up to which all work is done.

        `is_open`: whether a space still has work. It is asked of a partition's spaces in the order
        in which they were opened, and of no more once one is: of many thousands, seldom of many.
        """
        for spaces in self._open.values():
            while spaces and not is_open(next(iter(spaces))):
                spaces.popitem(last=False)
        return {
            partition: min([heard, *islice(self._open.get(partition, {}).values(), 1)])
            for partition, heard in self._heard.items()
        }
