"""The statement of both slots that deletes a space with a genesis (W7)."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession, Slot, governance_session
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session
from concord_client.credentials import KEY_VARIABLE, CredentialsError
from concord_client.trust import signing

VALID = timedelta(days=1)
"""The time after which a statement expires."""


@dataclass(frozen=True)
class DeletionKeys:
    """The space's session and the key files that sign for its deletion."""

    session: Session
    agent: Path | None
    human: Path | None
    passphrase_fd: int | None

    def signed_by_both(self) -> bytes:
        """The statement, signed here by both slots; empty for a space without a genesis.

        It is also empty if no API key of the space is at hand, since the genesis cannot be read
        then: governance refuses the deletion if a statement was needed.
        """
        if self.session.environ.get(KEY_VARIABLE):
            return b""  # an operator's key, which cannot read the space
        try:
            with governance_session(self.session) as governance:
                genesis = governance.principals().genesis_digest
                return (
                    self._signed(governance, _payload(self.session.space_name, genesis), *Slot)
                    if genesis
                    else b""
                )
        except CredentialsError:
            return b""

    def signed_by(self, slot: Slot, other: Path | None) -> bytes:
        """The statement, signed here by one slot; `other`: a file with the other slot's envelope.

        Raises `CommandError` if the other slot signed something else.
        """
        with governance_session(self.session) as governance:
            genesis = governance.principals().genesis_digest
            if not genesis:
                raise CommandError("This space has no genesis: nobody signs for its deletion.")
            if other is None:
                return self._signed(governance, _payload(self.session.space_name, genesis), slot)
            first = other.read_bytes()
            payload = _read(first, self.session.space_name, genesis)
            return signing.join_signatures(first, self._signed(governance, payload, slot))

    def _signed(self, governance: GovernanceSession, payload: bytes, *slots: Slot) -> bytes:
        files = [
            governance.key_file(slot, self.agent if slot == Slot.AGENT else self.human)
            for slot in slots
        ]
        show(text("These bytes are signed:", "dim"), text(payload.decode()), on_error=True)
        keys = [governance.signer(file, self.passphrase_fd).key for file in files]
        return signing.sign_envelope(signing.DELETION_TYPE, payload, keys)


def _payload(space: str, genesis: str) -> bytes:
    return signing.deletion_payload(
        space=space, genesis_digest=genesis, expire_time=datetime.now(UTC) + VALID
    )


def _read(envelope: bytes, space: str, genesis: str) -> bytes:
    """The payload of the other slot's envelope, which must be about this space."""
    try:
        payload = signing.payload_of(envelope)
        said = json.loads(payload)
        wrong = said["space"] != space or said["genesis_digest"] != genesis
        same = payload == signing.deletion_payload(
            space=space,
            genesis_digest=genesis,
            expire_time=datetime.fromisoformat(said["expire_time"]),
        )
    except (ValueError, LookupError, TypeError):
        raise CommandError("This is no statement of `concord space delete --sign-only`.") from None
    if wrong or not same:
        raise CommandError("The other side signed something else than this space's deletion.")
    return payload
