"""What the verbs of claims return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

ClaimState: TypeAlias = Literal["OPEN", "ACCEPTED", "REFUSED", "WITHDRAWN"]


@dataclass(frozen=True, slots=True)
class ClaimNote:
    """A claim in brief: `claimant` would do `action` to `item_id`, whose owner may accept that.

    `number`: as `accept_claims` takes it. `by_id`: what would take the item's place, or "".
    `owner`: "" where an item shows its claims.
    """

    number: int
    action: str
    item_id: str
    by_id: str
    claimant: str
    owner: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a writer would do to an item of somebody above it: nothing, until it is accepted.

    `number`: by which people name it. `action`: the contract's `ClaimAction` by name. `by_id`: what
    would take the item's place; "" if nothing would. `item_says`, `by_says`: their words; "" when
    they are gone. `asks`: the request that accepting runs, as JSON; "" if there is none. `owner`:
    whose the item is. `settled_by`, `settled`: of one that is settled.
    `reason`: why it is refused although it was accepted: ITEM_CHANGED, ITEM_GONE; else "".
    """

    number: int
    action: str
    item_id: str
    item_says: str
    by_id: str
    by_says: str
    asks: str
    claimant: str
    owner: str
    state: str
    settled_by: str
    created: datetime | None
    settled: datetime | None
    reason: str = ""
