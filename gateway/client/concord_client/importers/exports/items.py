"""Reads the items of another memory's export, each for itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from concord.type.v1.type_pb2 import Memory

from concord_client.importers.document import values
from concord_client.importers.outcome import (
    Defect,
    Draft,
    ItemUnreadable,
    LeftOut,
    Outcome,
    as_text,
    at_place,
)

ReadItem = Callable[[Mapping[str, Any], list[LeftOut]], Iterable[Memory]]
"""Makes memories of one item; what of it is in none goes to the list."""
ItemsOf = Callable[[Any, list[LeftOut]], Iterable[tuple[Any, ReadItem]]]
"""The items of a JSON value with their readers; what stands beside them goes to the list."""


def read_export(path: Path, items_of: ItemsOf) -> Iterator[Outcome]:
    """Yield what becomes of each item of a JSON document or of JSON Lines, in order."""
    for found in values(path):
        if isinstance(found, Defect):
            yield found
            continue
        line, value = found
        left: list[LeftOut] = []
        try:
            items = list(items_of(value, left))
        except ItemUnreadable as unreadable:
            yield Defect(str(path), line, unreadable.reason, text=as_text(value))
            continue
        yield from at_place(left, str(path), line)
        for number, (item, read) in enumerate(items, 1):
            part = "" if line else f"item {number}"
            left = []
            try:
                if not isinstance(item, Mapping):
                    raise ItemUnreadable("an object is expected")
                memories = list(read(item, left))
            except ItemUnreadable as unreadable:
                yield Defect(str(path), line, unreadable.reason, part, as_text(item))
                continue
            yield from at_place(left, str(path), line, part)
            for memory in memories:
                yield Draft(memory, str(path), line, part)
