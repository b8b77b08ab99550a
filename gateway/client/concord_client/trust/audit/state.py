"""The state of a replay at an entry: proposals so far, present keys, spent nonces."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

import rfc8785
from concord_attestation.consent import GenesisRecord, Terms, of_slot
from concord_attestation.parties import verify_genesis, verify_new_key

from concord_client.trust.audit.items import Items
from concord_client.trust.audit.log import Log, LogInvalid, Pinned

REQUIRED: Mapping[str, tuple[str, ...]] = {"AGENT": ("AGENT",), "BILATERAL": ("AGENT", "HUMAN")}

T = TypeVar("T")

CHANGE_KEY = "CHANGE_KEY"
REVIEWED, OPEN, DECIDED, EXECUTED, FAILED, UNDONE, ENDED = (
    *("reviewed", "open", "decided", "executed", "failed", "undone", "ended"),
)


@dataclass(frozen=True, slots=True)
class LoggedConsent:
    """A consent in the log: its expiry (µs), its nonce, and the key that signed it."""

    expire_time: int = 0
    nonce: str = ""
    key: bytes = b""


@dataclass(slots=True)
class LoggedProposal:
    """A proposal as the log has it. Times and `retention` are microseconds."""

    terms: Terms
    level: str
    kind: str
    undo_of: str
    expire_time: int
    proposer: str
    item: dict[str, Any]
    """What every entry about this revision names: an item's id and kind."""
    retention: int
    """For how long the policy that is signed lets its effect be undone."""
    state: str = OPEN
    consents: dict[str, LoggedConsent] = field(default_factory=dict)
    """By slot."""
    taken_back: bool = False
    """A consent was revoked after the decision: nothing may come of it any more."""
    decision_id: str = ""
    decided_at: int = 0
    """The entry that decided it."""
    key_action: dict[str, Any] | None = None
    """The change of a key that was decided: graph has the new key with its write. Older decisions
    leave it to their EXECUTE."""
    undo_until: int = 0
    effects: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Item to its revisions before and after."""
    writes: dict[str, list[int]] = field(default_factory=dict)
    """Item to the revisions that graph's entries name."""
    began: dict[str, int] = field(default_factory=dict)
    """Each written item to its newest revision in the log before."""
    stood: dict[str, str] = field(default_factory=dict)
    """Each written item to its constitutive digest before; empty: it was not constitutive."""
    left: dict[str, str] = field(default_factory=dict)
    """Each written item to its constitutive digest after; empty: it was not constitutive."""


def of_type(value: object, kind: type[T]) -> T:
    """Return what an entry says, if it is of this very type: true is no number (A2).

    Raises TypeError otherwise, which refuses the entry by its form.
    """
    if type(value) is not kind:
        raise TypeError(f"this is no {kind.__name__}")
    return value


class ReplayState:
    """The state of a replay. `index` is the entry that is judged now."""

    def __init__(self, log: Log, pinned: Pinned) -> None:
        self.log = log
        self.pinned = pinned
        self.genesis: GenesisRecord | None = None
        self.proposals: dict[str, LoggedProposal] = {}
        self.decisions: dict[str, LoggedProposal] = {}
        self.items = Items()
        self.index = 0
        self.undecided: list[int] = []
        """Entries of writes that no decision of both parties covers."""
        self._nonces: set[str] = set()
        self._burnt: set[str] = set()

    def known(self, leaf: dict[str, Any], *states: str) -> LoggedProposal:
        """Return the entry's proposal; LogInvalid unless it is in one of these states."""
        proposal = self.proposals[leaf["proposal"]["id"]]
        self.demand("state", proposal.state in states)
        newest = leaf["proposal"]["revision"] == proposal.terms.revision
        self.demand("revision", leaf["action"] == "SMF_REVISE" or newest)
        return proposal

    def keys(self) -> GenesisRecord:
        """Return the keys as they stand at this entry."""
        if self.genesis is None:
            if self.log.genesis is None:
                raise LogInvalid("genesis", self.index)
            self.genesis = verify_genesis(rfc8785.dumps(self.log.genesis), self.log.space)
            pinned = self.pinned.genesis_digest in (None, self.genesis.digest)
            self.demand("genesis_digest", pinned)
        return self.genesis

    def has_its_keys(self, proposal: LoggedProposal) -> bool:
        """Return whether each slot that consented still has the key by which it did."""
        keys = self.keys()
        return all(
            given.key == keys.slot(slot).public_key for slot, given in proposal.consents.items()
        )

    def spend(self, nonce: str) -> bool:
        """Take a nonce; return whether it was not used before."""
        fresh = nonce not in self._nonces
        self._nonces.add(nonce)
        return fresh

    def burn(self, slot: str, nonce: str) -> bool:
        """Take that graph burnt a slot's nonce; return whether it was not burnt before."""
        name = of_slot(slot, nonce)
        fresh = name not in self._burnt
        self._burnt.add(name)
        return fresh

    def is_burnt(self, slot: str, nonce: str) -> bool:
        """Return whether the log says that graph burnt a slot's nonce."""
        return of_slot(slot, nonce) in self._burnt

    def demand_signed_key(self, proposal: LoggedProposal, action: dict[str, Any]) -> None:
        """Demand that an action which changes a key is the one that the consents name."""
        signed = sha256(rfc8785.dumps(action)).hexdigest() == proposal.terms.action_digest
        self.demand("key_action", signed)

    def change_key(self, action: dict[str, Any]) -> None:
        """Take a new key from the action that both consented to."""
        keys = self.keys()
        slot, holder = verify_new_key(b64decode(action["change_key"]["proof"], validate=True), keys)
        self.genesis = (
            replace(keys, agent=holder) if slot == "AGENT" else replace(keys, human=holder)
        )

    def demand(self, rule: str, holds: bool, of: str = "", *, at_once: bool = True) -> None:
        """Refuse the entry that is judged now unless a rule holds of it.

        Not `at_once`: the rest can be judged all the same, and the log is refused at its end.

        Raises:
            LogInvalid: names the rule, and `of` what it does not hold.
        """
        if holds:
            return
        if at_once:
            raise LogInvalid(f"{rule} of {of}" if of else rule, self.index)
        self.undecided.append(self.index)
