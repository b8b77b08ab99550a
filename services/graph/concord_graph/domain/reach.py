"""How far the key of a write's author reaches (W7; decision 0116)."""

import enum

from concord_graph.domain.errors import GraphError


class Reach(enum.Enum):
    """What of the items that are there an author may change, as its key says (W7)."""

    ALL = enum.auto()
    OWN = enum.auto()
    """Those of which its principal wrote every revision."""
    NONE = enum.auto()


class BeyondReach(GraphError):
    """A key would change what it may not, and no claim can be made of it."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_PERMISSION_MISSING"
    why = "the key may not change this, nor claim to: ask somebody whose key may write"

    def __init__(self, item_id: str) -> None:
        super().__init__()
        self.item_id = item_id
        self.metadata = {"permission": "memory:write", "item_id": item_id}


class NotedAbove(GraphError):
    """A write would remove or change a note of working memory that a higher principal put (W9)."""

    reason = "ERROR_REASON_STANDS_ABOVE"
    why = "who noted this stands above the caller: it stays"

    def __init__(self, item_id: str) -> None:
        super().__init__()
        self.item_id = item_id
        self.metadata = {"item_id": item_id}
