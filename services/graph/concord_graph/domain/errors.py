"""Graph's refusals. Each is translated once, at the edge, to a code and a machine reason.

GraphError
├── FieldInvalid             a value that the contract's rules cannot judge alone
├── ReservedName             a name or relation that is Concord's own
│   └── PrincipalsReserved   one that stands for principals: the attempt goes on record
├── MaskInvalid              an update mask that names what cannot be changed
├── ItemNotFound             no such item in this space
├── ItemExists               an item with this id or key has other content
├── EtagMismatch             the item changed since it was read
├── RequestIdReused          the request_id stands for another request
├── LineageCycle             an item would be its own ancestor
├── NodeHasEdges             deletion without cascade
├── ItemState                the item's state forbids the command: it is forgotten, say
├── ItemErased               the item's content was erased
├── SpaceDeleted             the space takes no more writes
├── ConfirmerUnknown         nobody waits for this confirmation
├── AgentRequired            only an agent may decide this
├── TurnAppendOnly           turns of a dialogue are never reworded
├── WorkingMemoryFull        none of its entries may be evicted
├── TooManyFacts             a batch states more facts than one may
├── TooManyAffected          the supersession of more items would change than one write may change
├── NotUndoable              a change cascades to more items than an undo could bring back
├── ConstitutiveProtected    needs both principals' consent
├── SafeguardViolation       not even consent allows the change
├── UndoConflict             items were changed since, or stand in the way
├── GenesisMissing / GenesisExists
├── GenesisDamaged           items that stand for the principals are missing or changed
├── EnrolmentSecretInvalid
├── RolledBack               the store lacks a change that a follower has seen
├── SpaceNotEmpty            the space was used before
├── ExportInvalid            the lines are no whole full export
├── ItemClash                two live items would stand at one name, key or place
├── Overloaded               the store is busy for too long
├── TooManyRefusals          this principal was refused too often in this hour
├── StoreUnavailable         the store cannot be read or written at the moment
│   └── StoreFileUnusable    it is a file: its disk is read-only, failing or gone
│       └── StoreFull        its disk has no room for a write; what is there can be read
└── StoreCorrupt             the store holds data that graph never writes

Consent, grants and genesis records have their own tree in `consent`; links in `links`.
"""

from __future__ import annotations

from collections.abc import Sequence


class GraphError(Exception):
    """Root of graph's own refusals."""


class NotUndoable(GraphError):
    """A change cascades to more items than an undo can bring back, but was not signed as such."""

    def __init__(self, found: int, most: int) -> None:
        super().__init__(
            f"the change cascades to {found:,} items, an undo can bring back {most:,},"
            " and what was signed does not say that it is irreversible"
        )
        self.found, self.most = found, most


class RolledBack(GraphError):
    """The store does not hold a change that a follower received from it."""

    def __init__(self) -> None:
        super().__init__("the store was restored from an older copy: restore the newer one")


class StoreUnusable(Exception):
    """The configured store cannot be used; the text says what to do. Raised at start only."""


class FieldInvalid(GraphError):
    """A field's value makes no sense here; `field` is its path in the request."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


class ReservedName(FieldInvalid):
    """The name or relation is Concord's own."""


class PrincipalsReserved(ReservedName):
    """The name, relation or id is reserved for items that stand for principals and keys."""


class MaskInvalid(FieldInvalid):
    """The update mask names a field that cannot be changed."""


class ItemNotFound(GraphError):
    """No live item of that id in the caller's space."""

    def __init__(self, item_id: str) -> None:
        super().__init__("no such item")
        self.item_id = item_id


class ItemExists(GraphError):
    """An item with this id, name or key exists with other content."""

    def __init__(self, item_id: str, what: str = "id") -> None:
        super().__init__(f"an item with this {what} exists with other content")
        self.item_id = item_id


class EtagMismatch(GraphError):
    """The item changed since it was read."""

    def __init__(self, item_id: str) -> None:
        super().__init__("the item changed since it was read")
        self.item_id = item_id


class RequestIdReused(GraphError):
    """The request_id was used for another request."""

    def __init__(self, request_id: str) -> None:
        super().__init__("this request_id was used for another request")
        self.request_id = request_id


class LineageCycle(GraphError):
    """The lineage would make an item its own ancestor."""

    def __init__(self, item_id: str) -> None:
        super().__init__("this lineage would lead from the item back to itself")
        self.item_id = item_id


class NodeHasEdges(GraphError):
    """The node has live edges and cascade was not asked for."""

    def __init__(self, edge_count: int) -> None:
        super().__init__(f"the node has {edge_count} edges; delete them first or ask for cascade")
        self.edge_count = edge_count


class ItemState(GraphError):
    """The item's state forbids the command: it is forgotten, say, or a memory's content made it."""

    def __init__(self, why: str, item_id: str = "") -> None:
        super().__init__(why)
        self.item_id = item_id


class TurnAppendOnly(GraphError):
    """The change would reword a turn, or make a turn of another memory or the other way round."""

    def __init__(self, item_id: str) -> None:
        super().__init__("a turn of a dialogue stays as it was said: forget it, or append another")
        self.item_id = item_id


class WorkingMemoryFull(GraphError):
    """Every place is taken by an entry that is never evicted."""

    def __init__(self, capacity: int) -> None:
        super().__init__(
            f"working memory holds {capacity} entries of high importance: remove one first"
        )
        self.capacity = capacity


class TooManyFacts(GraphError):
    """The memories of a batch state more facts than those of one batch may."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a batch states at most {limit:,} facts: send several")
        self.limit = limit


class TooManyAffected(GraphError):
    """The write would change the supersession of more items than one write may."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"this would change the supersession of more than {limit:,} items")
        self.limit = limit


class SpaceDeleted(GraphError):
    """The space was deleted and takes no more writes."""

    def __init__(self, space: str) -> None:
        super().__init__("this space was deleted")
        self.space = space


class ItemErased(GraphError):
    """The item's content was erased for good; its id is not used again."""

    def __init__(self, item_id: str) -> None:
        super().__init__("what this item said was erased")
        self.item_id = item_id


class ConfirmerUnknown(GraphError):
    """The caller is not among those that an erasure waits for."""

    def __init__(self) -> None:
        super().__init__("this erasure does not wait for the caller's confirmation")


class ConstitutiveProtected(GraphError):
    """The change creates, changes, hides or removes something constitutive without a grant."""

    def __init__(self, item_id: str, why: str) -> None:
        super().__init__(f"{why}: this needs the consent of both principals")
        self.item_id = item_id


class SafeguardViolation(GraphError):
    """The change touches items that stand for the principals, which no consent allows."""

    def __init__(self, item_id: str, why: str) -> None:
        super().__init__(why)
        self.item_id = item_id


class UndoConflict(GraphError):
    """Items have changed since the revision that the undo starts from, or stand in its way."""

    def __init__(self, item_ids: Sequence[str]) -> None:
        super().__init__("items were changed since, or stand in the way")
        self.item_ids = tuple(item_ids)


class AgentRequired(GraphError):
    """The decision is an agent's."""


class GenesisMissing(GraphError):
    """Nothing constitutive can be written before the space's genesis."""

    def __init__(self) -> None:
        super().__init__("the space has no genesis: enrol both principals first")


class GenesisExists(GraphError):
    """The space has its genesis already."""

    def __init__(self) -> None:
        super().__init__("the space has its genesis already")


class GenesisDamaged(GraphError):
    """Items that stand for the principals are missing or changed: no consent can be checked."""

    def __init__(self) -> None:
        super().__init__("what stands for the space's principals is damaged: restore an export")


class EnrolmentSecretInvalid(GraphError):
    """The secret is not this space's."""

    def __init__(self) -> None:
        super().__init__("the enrolment secret is not this space's, or was used")


class SpaceNotEmpty(GraphError):
    """The space was used before."""

    def __init__(self) -> None:
        super().__init__("the space was used already: import into one that never was")


class ExportInvalid(GraphError):
    """The lines are no whole full export; `line` is the number of the first wrong one, from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


class ItemClash(GraphError):
    """The store has another live item at this name, key, place or revision.

    Use cases look before they write, and name the other one: to this comes an import that
    contradicts itself, and what nobody thought of. `item_id` may be empty.
    """

    def __init__(self, item_id: str) -> None:
        super().__init__("another live item has this name, key or place")
        self.item_id = item_id


class Overloaded(GraphError):
    """The store was busy for longer than a caller should wait."""


class TooManyRefusals(GraphError):
    """This principal's refused attempts at what is constitutive reached the limit of the hour."""

    def __init__(self, wait: float) -> None:
        """`wait`: seconds until its writes are taken again."""
        super().__init__("too many refused attempts in this hour")
        self.wait = wait


class StoreUnavailable(GraphError):
    """The store cannot be read or written: its disk is full, read-only, failing or gone."""


class StoreFileUnusable(StoreUnavailable):
    """The store's own file cannot be read or written; whoever runs it can mend its disk."""


class StoreFull(StoreFileUnusable):
    """The disk of the store's file has no room for a write; what is there can be read."""


class StoreCorrupt(GraphError):
    """The store holds what it cannot; serving stops."""
