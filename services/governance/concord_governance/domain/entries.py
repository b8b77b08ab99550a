"""Entries of the audit log (A1), and the leaf that each becomes."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

import rfc8785
from concord_attestation.bounds import MAX_ENTRY_BYTES
from concord_attestation.instants import parse_time

from concord_governance.domain.errors import ProposalTooLarge
from concord_governance.domain.proposals import Json


class Action(enum.IntEnum):
    """The step, done or tried, that an entry records; numbers as in the contract."""

    GENESIS = 1
    DELETE_ATTEMPT = 2
    DELETE_SUCCESS = 3
    WRITE_ATTEMPT = 4
    WRITE_SUCCESS = 5
    SMF_PROPOSE = 6
    SMF_REVISE = 7
    SMF_APPROVE = 8
    SMF_REVOKE = 9
    SMF_REJECT = 10
    SMF_WITHDRAW = 11
    SMF_EXPIRE = 12
    SMF_DECIDE = 13
    SMF_EXECUTE = 14
    SMF_FAIL = 15
    SMF_UNDO = 16
    FRAMING_VIOLATION = 17
    SAFEGUARD_VIOLATION = 18
    CONSENT_REFUSED = 19
    IMPORT = 20
    KEY_CREATE = 21
    KEY_REVOKE = 22
    SPACE_CREATE = 23
    SPACE_DELETE = 24
    RESTORE = 25
    SMF_SETTLE = 26
    SELECTION_ERASED = 27


class Actor(enum.IntEnum):
    """Who acted; numbers as in the contract."""

    AGENT = 1
    HUMAN = 2
    SYSTEM = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, before it has its place and time in the log.

    `properties`: the evidence for the action, such as digests, etags and envelopes.
    """

    action: Action
    actor: Actor
    principal: str = ""
    item_id: str = ""
    item_kind: int = 0
    proposal_id: str = ""
    revision: int = 0
    blocked: bool = False
    reason: str = ""
    properties: Mapping[str, Json] = field(default_factory=dict)

    def happen_time(self, time: int) -> int:
        """Return when the event happened (µs): graph's record time if graph recorded it,
        else `time`, when the entry is written."""
        recorded = self.properties.get("record_time")
        return parse_time(recorded) if isinstance(recorded, str) else time

    def leaf(self, space: str, index: int, time: str) -> dict[str, Json]:
        """Return the leaf's JSON. `time`: RFC 3339 UTC with microseconds."""
        return {
            "version": 2,
            "space": space,
            "index": index,
            "time": time,
            "action": self.action.name,
            "actor": self.actor.name,
            "principal": self.principal,
            "item": {"id": self.item_id, "kind": self.item_kind},
            "proposal": {"id": self.proposal_id, "revision": self.revision},
            "blocked": self.blocked,
            "reason": self.reason,
            "properties": dict(self.properties),
        }

    def encoded(self, space: str, index: int, time: str) -> bytes:
        """Return the leaf's bytes, in RFC 8785 form; only this method makes bytes of the log.

        Raises:
            ProposalTooLarge: they exceed `MAX_ENTRY_BYTES`, which verifiers refuse to read.
        """
        data = rfc8785.dumps(self.leaf(space, index, time))
        if len(data) > MAX_ENTRY_BYTES:
            raise ProposalTooLarge("bytes", len(data), MAX_ENTRY_BYTES)
        return data
