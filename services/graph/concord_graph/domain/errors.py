"""Graph's refusals, each with the reason that its caller receives.

Consent, grants and genesis records have their own tree in `consent`; links in `links`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from concord_graph.domain.items import DeclaredRelation, Item, Record

Owned = Item | DeclaredRelation


class GraphError(Exception):
    """Root of graph's own refusals.

    A refusal states its `reason`, and what else the caller receives of it, as attributes that
    `concord_chassis.call.failure.translate` reads.
    """

    code = "FAILED_PRECONDITION"
    reason: str
    metadata: Mapping[str, str] = MappingProxyType({})
    why = ""
    """The text of a refusal that is always the same."""

    def __init__(self, why: str = "") -> None:
        super().__init__(why or self.why)


class _AboutItem(GraphError):
    """A refusal whose caller is told the item, unless `item_id` is empty."""

    def __init__(self, item_id: str, why: str = "") -> None:
        super().__init__(why)
        self.item_id = item_id
        self.metadata = {"item_id": item_id} if item_id else {}


class NotUndoable(GraphError):
    """A change cascades to more items than an undo can bring back, but was not signed as such."""

    reason = "ERROR_REASON_UNDO_IMPOSSIBLE"

    def __init__(self, found: int, most: int) -> None:
        super().__init__(
            f"the change cascades to {found:,} items, an undo can bring back {most:,},"
            " and what was signed does not say that it is irreversible."
        )
        self.metadata = {"items": str(found), "max_items": str(most)}


class RolledBack(GraphError):
    """The store does not hold a change that a follower received from it."""

    code = "DATA_LOSS"
    reason = "ERROR_REASON_GRAPH_ROLLED_BACK"
    why = "the store was restored from an older copy: restore the newer one"


class StoreUnusable(Exception):
    """The configured store cannot be used; the text says what to do. Raised at start only."""


class FieldInvalid(GraphError):
    """A field's value makes no sense here; `field` is its path in the request."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_FIELD_INVALID"

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.violations = ((field, why),)


class ReservedName(FieldInvalid):
    """The name or relation is Concord's own."""

    reason = "ERROR_REASON_RESERVED_NAME"


class PrincipalsReserved(ReservedName):
    """The name, relation or id is reserved for items that stand for principals and keys."""


class MaskInvalid(FieldInvalid):
    """The update mask names a field that cannot be changed."""

    reason = "ERROR_REASON_UPDATE_MASK_INVALID"


class ItemNotFound(_AboutItem):
    """No live item of that id in the caller's space."""

    code = "NOT_FOUND"
    reason = "ERROR_REASON_ITEM_NOT_FOUND"
    why = "no such item"


class ItemExists(_AboutItem):
    """An item with this id, name or key exists with other content."""

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_ITEM_EXISTS"

    def __init__(self, item_id: str, what: str = "id") -> None:
        super().__init__(item_id, f"an item with this {what} exists with other content")


class EtagMismatch(_AboutItem):
    """The item changed since it was read."""

    code = "ABORTED"
    reason = "ERROR_REASON_ETAG_MISMATCH"
    why = "the item changed since it was read"


class RequestIdReused(GraphError):
    """The request_id was used for another request."""

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_REQUEST_ID_REUSED"

    def __init__(self, request_id: str) -> None:
        super().__init__("this request_id was used for another request")
        self.metadata = {"request_id": request_id}


class LineageCycle(_AboutItem):
    """The lineage would make an item its own ancestor."""

    reason = "ERROR_REASON_LINEAGE_CYCLE"
    why = "this lineage would lead from the item back to itself"


class NodeHasEdges(GraphError):
    """The node has live edges and cascade was not asked for."""

    reason = "ERROR_REASON_NODE_HAS_EDGES"

    def __init__(self, edge_count: int) -> None:
        super().__init__(f"the node has {edge_count} edges; delete them first or ask for cascade")
        self.metadata = {"edge_count": str(edge_count)}


class ItemState(GraphError):
    """The item's state forbids the command: it is forgotten, say, or a memory's content made it."""

    reason = "ERROR_REASON_ITEM_STATE"

    def __init__(self, why: str, item_id: str = "") -> None:
        super().__init__(why)
        self.item_id = item_id


class TurnAppendOnly(_AboutItem):
    """The change would reword a turn, or make a turn of another memory or the other way round."""

    reason = "ERROR_REASON_TURN_APPEND_ONLY"
    why = "a turn of a dialogue stays as it was said: forget it, or append another"


class WorkingMemoryFull(GraphError):
    """Every place is taken by an entry that is never evicted."""

    reason = "ERROR_REASON_WORKING_MEMORY_FULL"

    def __init__(self, capacity: int) -> None:
        super().__init__(
            f"working memory holds {capacity} entries that stay, of high importance or of somebody "
            "who stands above the caller: remove one first"
        )
        self.metadata = {"capacity": str(capacity)}


class TooManyFacts(GraphError):
    """The memories of a batch state more facts than those of one batch may."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_TOO_MANY_FACTS"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A batch states at most {limit:,} facts: send several.")
        self.metadata = {"limit": str(limit)}


class SelectionChanged(GraphError):
    """What an erasure or an undo would change is not what its caller looked at."""

    code = "ABORTED"
    reason = "ERROR_REASON_SELECTION_CHANGED"
    why = "what would be changed is not what was looked at: look again"


class SelectionTooLarge(GraphError):
    """A selection has more items than one erasure or undo takes."""

    reason = "ERROR_REASON_SELECTION_TOO_LARGE"

    def __init__(self, limit: int) -> None:
        super().__init__(f"This selects more than {limit:,} items: select fewer first.")
        self.metadata = {"limit": str(limit)}


class TooManyAffected(GraphError):
    """The write would change the supersession of more items than one write may."""

    reason = "ERROR_REASON_TOO_MANY_AFFECTED"

    def __init__(self, limit: int) -> None:
        super().__init__(f"this would change the supersession of more than {limit:,} items")
        self.metadata = {"limit": str(limit)}


class StandsAbove(_AboutItem):
    """A write would change, or take out of default reads, what a higher principal said (W9).

    `target`: the item. `action`: what it would do, a `domain.claims.ClaimAction`. `named`: the
    record that the caller named; None if it does not exist.
    """

    reason = "ERROR_REASON_STANDS_ABOVE"
    why = "this is another principal's, who stands above the caller: it is recorded as a claim"

    def __init__(self, target: Owned, action: int, named: Record | None) -> None:
        super().__init__(target.id)
        self.target = target
        self.action = action
        self.named = named


class SpaceDeleted(GraphError):
    """The space was deleted and takes no more writes."""

    reason = "ERROR_REASON_SPACE_DELETED"

    def __init__(self, space: str) -> None:
        super().__init__("this space was deleted")
        self.metadata = {"space": space}


class ItemErased(_AboutItem):
    """The item's content was erased for good; its id is not used again."""

    reason = "ERROR_REASON_ITEM_ERASED"
    why = "what this item said was erased"


class ConfirmerUnknown(GraphError):
    """The caller is not among those that an erasure waits for."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_CONFIRMER_UNKNOWN"
    why = "this erasure does not wait for the caller's confirmation"


class ConstitutiveProtected(_AboutItem):
    """The change creates, changes, hides or removes something constitutive without a grant."""

    reason = "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"

    def __init__(self, item_id: str, why: str) -> None:
        super().__init__(item_id, f"{why}: this needs the consent of both principals")


class SafeguardViolation(_AboutItem):
    """The change touches items that stand for the principals, which no consent allows."""

    reason = "ERROR_REASON_SAFEGUARD_VIOLATION"


class UndoConflict(GraphError):
    """Items have changed since the revision that the undo starts from, or stand in its way."""

    reason = "ERROR_REASON_UNDO_CONFLICT"

    def __init__(self, item_ids: Sequence[str]) -> None:
        super().__init__("items were changed since, or stand in the way")
        self.metadata = {"item_ids": ",".join(item_ids[:20])}


class AgentRequired(GraphError):
    """The decision is an agent's."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_AGENT_REQUIRED"


class GenesisMissing(GraphError):
    """Nothing constitutive can be written before the space's genesis."""

    reason = "ERROR_REASON_GENESIS_MISSING"
    why = "the space has no genesis: enrol both principals first"


class GenesisExists(GraphError):
    """The space has its genesis already."""

    reason = "ERROR_REASON_GENESIS_EXISTS"
    why = "the space has its genesis already"


class GenesisDamaged(GraphError):
    """Items that stand for the principals are missing or changed: no consent can be checked."""

    reason = "ERROR_REASON_GENESIS_DAMAGED"
    why = "what stands for the space's principals is damaged: restore an export"


class EnrolmentSecretInvalid(GraphError):
    """The secret is not this space's."""

    code = "PERMISSION_DENIED"
    reason = "ERROR_REASON_ENROLMENT_SECRET_INVALID"
    why = "the enrolment secret is not this space's, or was used"


class SpaceNotEmpty(GraphError):
    """The space was used before."""

    reason = "ERROR_REASON_SPACE_NOT_EMPTY"
    why = "the space was used already: import into one that never was"


class ExportInvalid(GraphError):
    """The lines are no whole full export; `line` is the number of the first wrong one, from 1."""

    code = "INVALID_ARGUMENT"
    reason = "ERROR_REASON_EXPORT_INVALID"

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.metadata = {"line": str(line)}


class ItemClash(_AboutItem):
    """The store has another live item at this name, key, place or revision.

    Use cases look before they write, and name the other one: to this comes an import that
    contradicts itself, and what nobody thought of. `item_id` may be empty.
    """

    code = "ALREADY_EXISTS"
    reason = "ERROR_REASON_ITEM_EXISTS"
    why = "another live item has this name, key or place"


class Overloaded(GraphError):
    """The store was busy for longer than a caller should wait."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_OVERLOADED"
    message = "The store is busy."
    retry_after = 1.0


class TooManyRefusals(GraphError):
    """This principal's refused attempts at what is constitutive reached the limit of the hour."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_TOO_MANY_REFUSALS"
    message = "Too many refused attempts in this hour."

    def __init__(self, wait: float) -> None:
        """`wait`: seconds until its writes are taken again."""
        super().__init__("too many refused attempts in this hour")
        self.retry_after = wait


class StoreUnavailable(GraphError):
    """The store cannot be read or written: its disk is full, read-only, failing or gone."""

    code = "UNAVAILABLE"
    reason = "ERROR_REASON_UNAVAILABLE"
    message = "The store does not answer."


class StoreFileUnusable(StoreUnavailable):
    """The store's own file cannot be read or written; whoever runs it can mend its disk."""

    message = "The store's file cannot be read or written: see whether there is room left for it."


class StoreFull(StoreFileUnusable):
    """The disk of the store's file has no room for a write; what is there can be read."""

    code = "RESOURCE_EXHAUSTED"
    reason = "ERROR_REASON_DISK_FULL"
    message = "The store has no room for this; what is there can be read."
    retry_after = 60.0  # somebody has to make room first


class StoreCorrupt(GraphError):
    """The store holds what it cannot; serving stops."""

    code = "DATA_LOSS"
    reason = "ERROR_REASON_STORE_CORRUPT"
    message = "The store is damaged."
