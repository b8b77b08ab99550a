"""Verified genesis records, grants and consents, and the errors of verification (V5, V6).

ConsentError
├── GenesisInvalid   the genesis record does not verify
├── KeyInvalid       the change of a slot's keys does not verify
├── GrantInvalid     the grant does not verify, whatever the consents say
├── ConsentInvalid   a required slot's consent is missing or does not verify
├── RestoreInvalid   the restore grant does not verify
└── DeletionInvalid  the statement for the deletion of a space does not verify

Each names the first check that failed, and for an envelope or a time the detail and the field of
the contract, but neither the expected nor the received value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

REQUIRED_SLOTS = ("AGENT", "HUMAN")
"""The slots that must consent, a principal and key each. A constant, not configurable (V2)."""

CONSENT_TYPE = "application/vnd.concord.consent.v1+json"
REJECTION_TYPE = "application/vnd.concord.rejection.v1+json"
REVOCATION_TYPE = "application/vnd.concord.revocation.v1+json"
KEY_TYPE = "application/vnd.concord.key.v1+json"
GRANT_TYPE = "application/vnd.concord.grant.v1+json"
GENESIS_TYPE = "application/vnd.concord.genesis.v1+json"
RESTORE_TYPE = "application/vnd.concord.restore.v1+json"
DELETION_TYPE = "application/vnd.concord.space-deletion.v1+json"

GENESIS_CHECKS = ("envelope", "space", "principal", "key", "distinct", "signature")
RETIRED_KEY = "retired_key"
"""The check that a key fails which was replaced, as a restored store's receipts say."""
KEY_CHECKS = (
    *("envelope", "space", "principal", "key", "distinct", "signature", RETIRED_KEY),
    *("unknown_key", "last_key", "key_count"),
)
GRANT_CHECKS = (
    *("envelope", "governance_signature", "space", "action_digest", "etags", "expiry", "nonce"),
)
CONSENT_CHECKS = (
    *("missing", "envelope", "signature", "principal", "space", "proposal", "proposal_digest"),
    *("action_digest", "etags", "policy_digest", "expiry", "nonce", "distinct", RETIRED_KEY),
)
RESTORE_CHECKS = (
    *("envelope", "key", "distinct", "signature", "space", "genesis", "export", "expiry", "nonce"),
    *("keys", "constitutive_digest"),
)
EXPIRY_DETAILS = ("format", "passed")
"""Details of the check "expiry": the time is not in the contract's format, or has passed."""
DELETION_CHECKS = (
    *("missing", "envelope", "space", "genesis", "expiry", RETIRED_KEY, "signature"),
)


def of_slot(slot: str, nonce: str) -> str:
    """Return a consent's nonce as it is burnt: with its slot, so no slot can burn another's."""
    return f"{slot}:{nonce}"


class ConsentError(Exception):
    """Root of the refusals of this module.

    `detail` is one of ENVELOPE_DETAILS for the check "envelope", of EXPIRY_DETAILS for "expiry",
    and "" for others; `field` names a field of the contract, or is "".
    """

    code = "FAILED_PRECONDITION"
    reason: str
    _WHAT = ""

    def __init__(self, check: str, detail: str = "", field: str = "", *, whose: str = "") -> None:
        more = " of ".join(part for part in (detail, field) if part)
        colon = ": " if more else ""
        super().__init__(f"{self._WHAT}{whose} failed the check {check!r}{colon}{more}")
        self.check = check
        self.detail = detail
        self.field = field

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of a refusal: slot, check, detail and field, without empty ones."""
        metadata = {"check": self.check, "detail": self.detail, "field": self.field}
        return {name: value for name, value in metadata.items() if value}


class GenesisInvalid(ConsentError):
    """The genesis record failed `check`, one of GENESIS_CHECKS."""

    reason = "ERROR_REASON_GENESIS_INVALID"
    _WHAT = "the genesis record"


class KeyInvalid(ConsentError):
    """The statement that changes a slot's keys failed `check`, one of KEY_CHECKS."""

    reason = "ERROR_REASON_KEY_INVALID"
    _WHAT = "the change of a key"


class GrantInvalid(ConsentError):
    """The grant failed `check`, one of GRANT_CHECKS.

    The caller raises "etags" and "nonce" itself: it alone can compare etags with the store and
    knows the burnt nonces.
    """

    reason = "ERROR_REASON_GRANT_INVALID"
    _WHAT = "the grant"


class ConsentInvalid(ConsentError):
    """The consent of `slot` failed `check`, one of CONSENT_CHECKS."""

    reason = "ERROR_REASON_CONSENT_INVALID"
    _WHAT = "the consent"

    def __init__(self, slot: str, check: str, detail: str = "", field: str = "") -> None:
        whose = f" of {slot}" if slot else ""  # an unreadable envelope names no slot
        super().__init__(check, detail, field, whose=whose)
        self.slot = slot

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of every refusal, and the slot: "" for an unreadable envelope."""
        return {"slot": self.slot, **super().metadata}


class RestoreInvalid(ConsentError):
    """The restore grant failed `check`, one of RESTORE_CHECKS.

    The caller, who alone knows the export, raises "keys" (the export has other ones) and
    "constitutive_digest" (other items are constitutive in it), and also "nonce" (it was burnt
    before).
    """

    reason = "ERROR_REASON_RESTORE_INVALID"
    _WHAT = "the restore grant"


class DeletionInvalid(ConsentError):
    """The statement for a space's deletion failed `check`, one of DELETION_CHECKS."""

    reason = "ERROR_REASON_DELETION_INVALID"
    _WHAT = "the deletion of the space"


@dataclass(frozen=True, slots=True)
class PrincipalKey:
    """One of a principal's Ed25519 public keys (32 bytes)."""

    public_key: bytes
    label: str = ""
    """Whose device it is on, as its principal said; "" for the keys of a genesis."""
    successors: tuple[str, ...] = ()
    """Hex SHA-256 of the keys that counted in its place in a newer state than that of a restored
    store. If there are any, this key is retired."""

    @property
    def is_retired(self) -> bool:
        """Return whether its signature counts for nothing."""
        return bool(self.successors)


@dataclass(frozen=True, slots=True)
class SlotKeys:
    """A slot's principal and its keys: at least one, of which any may sign alone.

    All keys of a slot are one party. A slot whose keys are all retired is closed.
    """

    principal: str
    keys: tuple[PrincipalKey, ...]

    @classmethod
    def of(cls, principal: str, *public_keys: bytes) -> "SlotKeys":
        """Return a principal with these raw public keys, without labels."""
        return cls(principal, tuple(map(PrincipalKey, public_keys)))

    @property
    def public_keys(self) -> frozenset[bytes]:
        """Return the raw public keys, retired ones too."""
        return frozenset(key.public_key for key in self.keys)

    @property
    def is_closed(self) -> bool:
        """Return whether no key of the slot counts."""
        return all(key.is_retired for key in self.keys)

    @property
    def successors(self) -> tuple[str, ...]:
        """Return what a closed slot's next key may be (hex SHA-256); none for an open slot."""
        if not self.is_closed:
            return ()
        return tuple(sorted({each for key in self.keys for each in key.successors}))

    def reopened(self) -> "SlotKeys":
        """Return a closed slot with keys that count; an open one as it is."""
        if not self.is_closed:
            return self
        return replace(self, keys=tuple(replace(key, successors=()) for key in self.keys))


@dataclass(frozen=True, slots=True)
class GenesisRecord:
    """A space's slots with their keys, and the key of the governance that may grant.

    No key is in both slots.
    """

    space: str
    agent: SlotKeys
    human: SlotKeys
    governance_key: bytes
    digest: str
    """Hex SHA-256 of the record's signed bytes; clients pin it."""

    def slot(self, name: str) -> SlotKeys:
        """Return the keys of "AGENT" or "HUMAN"; KeyError for any other name."""
        return {"AGENT": self.agent, "HUMAN": self.human}[name]

    @property
    def closed_slots(self) -> tuple[str, ...]:
        """Return the slots whose keys are all retired."""
        return tuple(name for name in REQUIRED_SLOTS if self.slot(name).is_closed)

    def changing_key(self) -> "GenesisRecord":
        """Return the keys whose consents count for a change of a key: a closed slot's, too.

        That is safe, since `verify_key_change` takes none but a successor while a slot is closed.
        A retired key of an open slot stays retired.
        """
        return replace(self, agent=self.agent.reopened(), human=self.human.reopened())


@dataclass(frozen=True, slots=True)
class Consent:
    """One slot's verified approval of one revision of one proposal."""

    slot: str
    principal: str
    nonce: str
    """As signed (base64url without padding); burnt in the transaction of the effect."""
    expire_time: int
    """Microseconds since 1970, UTC; the consent is void from then on."""
    public_key: bytes
    """The slot's key that signed it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms that a consent must name: exactly this revision under exactly these rules."""

    space: str
    proposal_id: str
    revision: int
    proposal_digest: str
    """Hex SHA-256 of the revision's canonical bytes: its words are agreed to with its action."""
    action_digest: str
    etags: Mapping[str, str]
    policy_digest: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One slot's verified rejection of a proposal's revision, or revocation of its consent.

    `nonce` is the statement's own for a rejection, the consent's for a revocation.
    """

    slot: str
    principal: str
    proposal_id: str
    revision: int
    reason: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Grant:
    """A verified single-use permission for one change, with the consents that carry it.

    The caller must check, in the transaction of the effect, that `etags` equal the store's
    (item id to etag, "" for an item that must not exist) and that no nonce was burnt before.
    """

    space: str
    decision_id: str
    proposal_id: str
    revision: int
    proposal_digest: str
    """Hex SHA-256 of the revision's canonical bytes: its words are agreed to with its action."""
    action_digest: str
    etags: Mapping[str, str]
    policy_digest: str
    nonce: str
    expire_time: int
    """Microseconds since 1970, UTC; the grant is void from then on."""
    consents: tuple[Consent, ...]
    """In the order of REQUIRED_SLOTS."""

    @property
    def nonces(self) -> tuple[str, ...]:
        """Every nonce that the change burns: the grant's own, then each consent's as its slot's."""
        return (self.nonce, *(of_slot(each.slot, each.nonce) for each in self.consents))


@dataclass(frozen=True, slots=True)
class RestoreGrant:
    """Both slots' verified permission to import one export into one space, once."""

    space: str
    export_digest: str
    nonce: str
    """As signed; burnt in the transaction of the effect."""
    genesis: GenesisRecord
    """The imported genesis with the current keys, and the key of the governance that may grant
    after the import: that of the importing installation."""
    constitutive_digest: str
    """The digest of the export's constitutive items (`agreed.constitutive_digest`)."""

    @property
    def action_digest(self) -> str:
        """The digest of the permitted action, which is the export's."""
        return self.export_digest
