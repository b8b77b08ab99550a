"""What this client has seen of a space's governance, and holds every later answer against (V5, A2).

The file (`CONCORD_STATE`, else `concord/witness.json` in the user's state home) keeps for each
address and space: the genesis digest, the log's key and origin, the last checkpoint, the consents
given from here, and which bytes of a proposal were shown to whom. What is seen first is believed;
what contradicts it later is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from concord.governance.v1 import audit_pb2, principal_pb2
from concord.governance.v1.audit_pb2_grpc import AuditServiceStub
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND
from concord_attestation.checkpoint import Checkpoint, read_checkpoint
from concord_attestation.note import NoteInvalid
from concord_attestation.tree import EMPTY_ROOT, ProofInvalid, verify_consistency

from concord_client import private_files
from concord_client.credentials import STATE_VARIABLE
from concord_client.keyfiles import decoded, encoded

MOST_REVIEWED = 1_000
"""Proposals remembered as shown for each principal: one shown longer ago is shown again."""


class WitnessError(Exception):
    """What was answered contradicts what was seen before; the text says what, and what to do."""


@dataclass(frozen=True)
class Seen:
    """What was seen of one space at one address; "" = nothing yet."""

    genesis_digest: str = ""
    log_key: str = ""
    log_origin: str = ""
    checkpoint: str = ""
    consents: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Proposal id to slot to the consent's envelope."""
    reviewed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Principal to proposal id to the digest of the bytes last shown to it, oldest first."""

    @property
    def public_key(self) -> bytes:
        """The log's raw key."""
        return decoded(self.log_key)

    def read(self, note: str) -> Checkpoint:
        """Return what a checkpoint says. Raises `WitnessError` unless this log signed it."""
        try:
            return read_checkpoint(note, self.log_origin, self.public_key)
        except NoteInvalid as error:
            raise WitnessError(
                f"The checkpoint is not signed by the log's key: it failed the check {error}."
            ) from None


def state_file(environ: Mapping[str, str]) -> Path:
    """Return where it is kept."""
    if given := environ.get(STATE_VARIABLE):
        return Path(given).expanduser()
    home = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(home).expanduser() / "concord" / "witness.json"


class Witness:
    """The memory of one space at one address."""

    def __init__(self, path: Path, url: str, space: str) -> None:
        self._path = path
        self._name = f"{url} {space}"

    @property
    def seen(self) -> Seen:
        """What was seen so far. Raises `WitnessError` for a damaged file."""
        return self._of(self._read())

    def meet(self, told: principal_pb2.GetPrincipalsResponse) -> Seen:
        """Compare the genesis and the log's key with what was seen; remember what is new.

        Raises `WitnessError`.
        """
        has_genesis = told.status == LOOKUP_STATUS_FOUND
        return self._change(lambda seen: self._met(seen, told, has_genesis=has_genesis))

    def follow(self, audit: AuditServiceStub) -> Seen:
        """Fetch the newest checkpoint, demand that it extends the last one seen, and keep it.

        Raises `WitnessError` when it does not, when it is older, or when it is another log's.
        """
        return self.accept(audit.GetCheckpoint(audit_pb2.GetCheckpointRequest()).checkpoint, audit)

    def accept(self, note: str, audit: AuditServiceStub) -> Seen:
        """As `follow`, for a checkpoint at hand."""
        seen = self.seen
        now = seen.read(note)
        before = seen.read(seen.checkpoint) if seen.checkpoint else None
        if before is not None and not self._extends(before, now, audit):
            raise WitnessError(
                f"THE AUDIT LOG WAS REWRITTEN: what {self._name} shows now (size {now.size}) does "
                f"not extend the checkpoint seen before (size {before.size}), which is kept in "
                f"{self._path}. Nothing that this log says is to be believed."
            )
        return self._change(lambda newest: self._advanced(newest, seen, note))

    def keep_consent(self, proposal_id: str, slot: str, envelope: bytes) -> None:
        """Keep a consent that is about to be given: taking it back names its nonce."""

        def kept(seen: Seen) -> Seen:
            given = {**seen.consents.get(proposal_id, {}), slot: envelope.decode()}
            return replace(seen, consents={**seen.consents, proposal_id: given})

        self._change(kept)

    def consent(self, proposal_id: str, slot: str) -> bytes | None:
        """Return the consent given from here; None without one."""
        found = self.seen.consents.get(proposal_id, {}).get(slot)
        return None if found is None else found.encode()

    def keep_reviewed(self, principal: str, proposal_id: str, digest: str) -> None:
        """Keep which bytes of a proposal a principal was shown: it signs no others unasked."""

        def kept(seen: Seen) -> Seen:
            before = dict(seen.reviewed.get(principal, {}))
            before.pop(proposal_id, None)
            newest = dict([*before.items(), (proposal_id, digest)][-MOST_REVIEWED:])
            return replace(seen, reviewed={**seen.reviewed, principal: newest})

        self._change(kept)

    def reviewed(self, principal: str, proposal_id: str) -> str | None:
        """Return the digest of the bytes last shown to a principal; None when none were."""
        return self.seen.reviewed.get(principal, {}).get(proposal_id)

    def _met(
        self, seen: Seen, told: principal_pb2.GetPrincipalsResponse, *, has_genesis: bool
    ) -> Seen:
        now = (told.genesis_digest if has_genesis else "", encoded(told.log_key), told.log_origin)
        for name, before, after in (
            ("genesis", seen.genesis_digest, now[0]),
            ("audit log's key", seen.log_key, now[1]),
            ("audit log's origin", seen.log_origin, now[2]),
        ):
            if before and before != after:
                raise WitnessError(
                    f"ANOTHER {name.upper()}: {self._name} shows {after or 'none'}, not "
                    f"{before}, which {self._path} remembers. Another system answers there, or "
                    f"this one was replaced. If you replaced it yourself, remove its entry there."
                )
        return replace(seen, genesis_digest=now[0], log_key=now[1], log_origin=now[2])

    @staticmethod
    def _extends(before: Checkpoint, now: Checkpoint, audit: AuditServiceStub) -> bool:
        if now.size < before.size:
            return False
        proof: list[bytes] = []
        if 0 < before.size < now.size:
            request = audit_pb2.GetConsistencyProofRequest(old_size=before.size, new_size=now.size)
            proof = list(audit.GetConsistencyProof(request).hashes)
        try:
            verify_consistency(before.size, before.root, now.size, now.root, proof)
        except ProofInvalid:
            return False
        return now.size > 0 or now.root == EMPTY_ROOT

    def _advanced(self, newest: Seen, judged_by: Seen, note: str) -> Seen:
        """Keep a checkpoint; where another process kept a later one meanwhile, keep that."""
        if newest.checkpoint != judged_by.checkpoint:
            kept = newest.read(newest.checkpoint)
            if kept.size >= newest.read(note).size:
                return newest
        return replace(newest, checkpoint=note)

    def _change(self, change: Callable[[Seen], Seen]) -> Seen:
        try:
            with private_files.locked(self._path):
                everything = self._read()
                seen = self._of(everything)
                after = change(seen)
                if after != seen:
                    everything[self._name] = asdict(after)
                    text = json.dumps(everything, indent=2)
                    private_files.replace(self._path, text.encode() + b"\n")
                return after
        except OSError as error:
            raise WitnessError(f"Cannot write {self._path}: {error.strerror}.") from error

    def _of(self, everything: Mapping[str, Any]) -> Seen:
        try:
            return Seen(**everything.get(self._name, {}))
        except TypeError:
            raise self._damaged() from None

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise WitnessError(f"Cannot read {self._path}: {error.strerror}.") from error
        except ValueError:
            raise self._damaged() from None
        if not isinstance(found, dict):
            raise self._damaged()
        return found

    def _damaged(self) -> WitnessError:
        return WitnessError(
            f"{self._path} is damaged: it is what later answers are held against, so look at it "
            "before you move it away."
        )
