"""What the verbs of governance return."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed change, waiting or ended.

    `action`: the wrapped write, as the contract's JSON; `canonical`: the bytes that a consent names
    by their `digest`. Both are empty if the proposal was about erased items.
    """

    id: str
    number: int
    status: str
    kind: str
    level: str
    says: str
    digest: str
    action: Mapping[str, object] = field(hash=False)
    canonical: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Log:
    """A verified log: the signed `checkpoint` covers each entry, and all rules were kept."""

    entries: int
    executed: int
    undone: int
    refused: int
    checkpoint: str
    """Keep it: a later log must extend it."""
