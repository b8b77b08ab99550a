"""The kinds of changes in graph's feed."""

from enum import IntEnum


class ChangeKind(IntEnum):
    """The contract's numbers."""

    CREATED = 1
    UPDATED = 2
    DELETED = 3
    RESTORED = 4
    STANDING_CHANGED = 5
    TOUCHED = 6
    REFUSED = 7
    ERASED = 8
    ERASE_CONFIRMED = 9
    SELECTION_ERASED = 13
