"""What a replay knows at an entry: proposals so far, keys as they stand, spent nonces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import rfc8785
from concord_attestation.consent import GenesisRecord, Terms
from concord_attestation.verify import verify_genesis

from concord_client.audit.log import Log, LogInvalid, Pinned

REQUIRED = {"AGENT": ("AGENT",), "BILATERAL": ("AGENT", "HUMAN")}

OPEN, DECIDED, EXECUTED, FAILED, UNDONE, ENDED = (
    *("open", "decided", "executed", "failed", "undone", "ended"),
)


@dataclass(slots=True)
class Told:
    """A proposal as the log tells it."""

    terms: Terms
    level: str
    kind: str
    undo_of: str
    expire_time: int
    state: str = OPEN
    consents: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Slot to the consent's expiry and nonce."""
    decision_id: str = ""
    undo_until: int = 0
    effects: dict[str, tuple[int, int]] = field(default_factory=dict)


class Course:
    """Where a replay stands. `index` is the entry that is judged now."""

    def __init__(self, log: Log, pinned: Pinned) -> None:
        self.log = log
        self.pinned = pinned
        self.genesis: GenesisRecord | None = None
        self.proposals: dict[str, Told] = {}
        self.decisions: dict[str, Told] = {}
        self.nonces: set[str] = set()
        self.index = 0

    def known(self, leaf: dict[str, Any], *states: str) -> Told:
        """Return the entry's proposal; LogInvalid unless it is in one of these states."""
        told = self.proposals.get(leaf["proposal"]["id"])
        if told is None or told.state not in states:
            raise self.breach("state")
        if leaf["action"] != "SMF_REVISE" and leaf["proposal"]["revision"] != told.terms.revision:
            raise self.breach("revision")
        return told

    def keys(self) -> GenesisRecord:
        """Return the keys as they stand at this entry."""
        if self.genesis is None:
            if self.log.genesis is None:
                raise self.breach("genesis")
            self.genesis = verify_genesis(rfc8785.dumps(self.log.genesis), self.log.space)
            if self.pinned.genesis_digest not in (None, self.genesis.digest):
                raise self.breach("genesis_digest")
        return self.genesis

    def spend(self, nonce: str) -> None:
        """Demand that a nonce was not used before."""
        if nonce in self.nonces:
            raise self.breach("nonce")
        self.nonces.add(nonce)

    def breach(self, rule: str) -> LogInvalid:
        """Return the refusal of the entry that is judged now."""
        return LogInvalid(rule, self.index)
