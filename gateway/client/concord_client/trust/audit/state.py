"""The state of a replay at an entry: proposals, keys that count, and used nonces so far."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

import rfc8785
from concord_attestation.consent import GenesisRecord, Terms, of_slot
from concord_attestation.key_changes import verify_key_change
from concord_attestation.keys import key_id
from concord_attestation.parties import verify_genesis

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
    """A proposal according to the log. Times and `retention` are microseconds."""

    terms: Terms
    level: str
    kind: str
    undo_of: str
    expire_time: int
    proposer: str
    item: dict[str, Any]
    """The id and kind of the item that every entry about this revision names."""
    retention: int
    """How long its effect may be undone by the signed policy."""
    state: str = OPEN
    consents: dict[str, LoggedConsent] = field(default_factory=dict)
    """By slot."""
    taken_back: bool = False
    """A consent was revoked after the decision, which may have no effect any more."""
    decision_id: str = ""
    decided_at: int = 0
    """The index of the entry that decided it."""
    key_action: dict[str, Any] | None = None
    """The decided change of a key, which counts from graph's write on. Older logs have it in the
    EXECUTE entry instead."""
    undo_until: int = 0
    effects: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Each item's revisions before and after."""
    writes: dict[str, list[int]] = field(default_factory=dict)
    """Each item's revisions in graph's entries."""
    began: dict[str, int] = field(default_factory=dict)
    """Each written item's newest revision in the log before the write."""
    stood: dict[str, str] = field(default_factory=dict)
    """Each written item's constitutive digest before; empty: it was not constitutive."""
    left: dict[str, str] = field(default_factory=dict)
    """Each written item's constitutive digest after; empty: it was not constitutive."""


def of_type(value: object, kind: type[T]) -> T:
    """Return an entry's value if it is of exactly this type: true is no number (A2).

    Raises TypeError otherwise, for which the replay refuses the entry's form.
    """
    if type(value) is not kind:
        raise TypeError(f"this is no {kind.__name__}")
    return value


class ReplayState:
    """The state of a replay. `index`: the entry being judged."""

    def __init__(self, log: Log, pinned: Pinned) -> None:
        self.log = log
        self.pinned = pinned
        self.genesis: GenesisRecord | None = None
        self.proposals: dict[str, LoggedProposal] = {}
        self.decisions: dict[str, LoggedProposal] = {}
        self.items = Items()
        self.index = 0
        self.undecided: list[int] = []
        """Entries of writes that no decision of both slots covers."""
        self._nonces: set[str] = set()
        self._burnt: set[str] = set()
        self._retired: set[str] = set()
        """Hex SHA-256 of the keys that no longer count: none comes back."""

    def known(self, leaf: dict[str, Any], *states: str) -> LoggedProposal:
        """Return the entry's proposal; LogInvalid unless it is in one of these states."""
        proposal = self.proposals[leaf["proposal"]["id"]]
        self.demand("state", proposal.state in states)
        newest = leaf["proposal"]["revision"] == proposal.terms.revision
        self.demand("revision", leaf["action"] == "SMF_REVISE" or newest)
        return proposal

    def keys(self) -> GenesisRecord:
        """Return the genesis with the keys that count at this entry."""
        if self.genesis is None:
            if self.log.genesis is None:
                raise LogInvalid("genesis", self.index)
            self.genesis = verify_genesis(rfc8785.dumps(self.log.genesis), self.log.space)
            pinned = self.pinned.genesis_digest in (None, self.genesis.digest)
            self.demand("genesis_digest", pinned)
        return self.genesis

    def has_its_keys(self, proposal: LoggedProposal) -> bool:
        """Return whether each consenting slot still has the key that signed its consent."""
        keys = self.keys()
        return all(
            given.key in keys.slot(slot).public_keys for slot, given in proposal.consents.items()
        )

    def spend(self, nonce: str) -> bool:
        """Note the use of a nonce; return False if it was used before."""
        fresh = nonce not in self._nonces
        self._nonces.add(nonce)
        return fresh

    def burn(self, slot: str, nonce: str) -> bool:
        """Note that graph burnt a slot's nonce; return False if it was burnt before."""
        name = of_slot(slot, nonce)
        fresh = name not in self._burnt
        self._burnt.add(name)
        return fresh

    def is_burnt(self, slot: str, nonce: str) -> bool:
        """Return whether graph burnt a slot's nonce, according to the log."""
        return of_slot(slot, nonce) in self._burnt

    def demand_signed_key(self, proposal: LoggedProposal, action: dict[str, Any]) -> None:
        """Demand that the consents name this change of a key, by its action's digest."""
        signed = sha256(rfc8785.dumps(action)).hexdigest() == proposal.terms.action_digest
        self.demand("key_action", signed)

    def change_key(self, action: dict[str, Any]) -> None:
        """Change a slot's keys by the action to which both slots consented."""
        keys = self.keys()
        proof = b64decode(action["change_key"]["proof"], validate=True)
        change = verify_key_change(proof, keys, self._retired)
        if change.retired:
            self._retired.add(key_id(change.retired))
        self.genesis = (
            replace(keys, agent=change.holder)
            if change.slot == "AGENT"
            else replace(keys, human=change.holder)
        )

    def demand(self, rule: str, holds: bool, of: str = "", *, at_once: bool = True) -> None:
        """Refuse the entry being judged unless a rule holds.

        Without `at_once` the replay goes on, and refuses the log at its end.

        Raises:
            LogInvalid: names the rule, and with `of` the slot that breaks it.
        """
        if holds:
            return
        if at_once:
            raise LogInvalid(f"{rule} of {of}" if of else rule, self.index)
        self.undecided.append(self.index)
