"""Makes the genesis: both keys sign on one machine, or each on its own (V5)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession, Slot, merged
from concord_client.trust import keyfiles, signing
from concord_client.trust.keyfiles import KeyFile, decoded, encoded

if TYPE_CHECKING:
    from concord.governance.v1.principal_pb2 import GetPrincipalsResponse

OTHER = {Slot.AGENT: Slot.HUMAN, Slot.HUMAN: Slot.AGENT}


@dataclass(frozen=True)
class Keys:
    """The governance session and the files of both keys."""

    governance: GovernanceSession
    agent: Path | None
    human: Path | None
    passphrase_fd: int | None

    def file(self, slot: Slot) -> KeyFile:
        """The key file of a slot: the named one, else the only one in the key directory."""
        given = self.agent if slot == Slot.AGENT else self.human
        if given is not None:
            found = [keyfiles.read(given)]
        else:
            found = list(keyfiles.known(merged(self.governance.session)))
        fitting = [file for file in found if file.slot == slot.contract]
        if len(fitting) != 1:
            where = given or keyfiles.key_directory(merged(self.governance.session))
            raise CommandError(
                f"{where} holds {len(fitting)} keys of {slot.contract}: make one with `concord "
                f"principal create --slot {slot} --name NAME`, or name one with --{slot}."
            )
        keyfiles.demand_outside(fitting[0].path, merged(self.governance.session))
        return fitting[0]

    def signer(self, file: KeyFile) -> signing.Signer:
        """The signer with a file's key."""
        return self.governance.signer(file, self.passphrase_fd)


def whole(keys: Keys) -> bytes:
    """The genesis signed by both keys, which are on this machine."""
    files = [keys.file(slot) for slot in Slot]
    agent, human = (keys.signer(file) for file in files)
    return signing.sign_genesis(
        space=keys.governance.session.space_name,
        agent=agent,
        human=human,
        governance_key=_governance_key(keys.governance),
    )


def half(keys: Keys, slot: Slot, peer: str) -> bytes:
    """The genesis signed by one key. `peer`: the other slot's principal and key, `NAME=KEY`."""
    file = keys.file(slot)
    name, _, key = peer.partition("=")
    try:
        other = (name, decoded(key))
    except ValueError:
        raise CommandError(
            "--peer is NAME=KEY of the other slot, as `concord principal create` printed it."
        ) from None
    holders = {slot: (file.principal, file.public_key), OTHER[slot]: other}
    payload = signing.genesis_payload(
        space=keys.governance.session.space_name,
        agent=holders[Slot.AGENT],
        human=holders[Slot.HUMAN],
        governance_key=_governance_key(keys.governance),
    )
    return signing.sign_envelope(signing.GENESIS_TYPE, payload, [keys.signer(file).key])


def joined(keys: Keys, first: bytes) -> bytes:
    """The genesis that the other slot has signed, signed by this machine's key, too.

    Its space, governance's key, and this slot's name and key are checked before.
    """
    try:
        payload = signing.payload_of(first)
        said = json.loads(payload)
        missing = _missing_slot(said, json.loads(first)["signatures"])
        holder = said["slots"][missing.contract]
        file = keys.file(missing)
        ours = (file.principal, encoded(file.public_key))
        alike = {
            "space": said["space"] == keys.governance.session.space_name,
            "governance_key": said["governance_key"] == encoded(_governance_key(keys.governance)),
            missing.contract: (holder["principal"], holder["public_key"]) == ours,
        }
    except (ValueError, LookupError, TypeError):
        raise CommandError("This is no record of `concord principal enrol --sign-only`.") from None
    wrong = [name for name, same in alike.items() if not same]
    if wrong:
        raise CommandError(f"The other side signed something else about: {', '.join(wrong)}.")
    signature = signing.sign_envelope(signing.GENESIS_TYPE, payload, [keys.signer(file).key])
    return signing.join_signatures(first, signature)


def enrol(governance: GovernanceSession, record: bytes, secret: str) -> "GetPrincipalsResponse":
    """Enrol with the genesis, demand that graph then shows it, and pin it."""
    from concord.graph.v1.governed_pb2 import EnrolPrincipalsRequest

    governance.principals()  # the pins must agree before the secret is sent
    governance.client.governed.EnrolPrincipals(
        EnrolPrincipalsRequest(enrolment_secret=secret, genesis=record)
    )
    return governance.principals(trusted=signing.genesis_digest(record))


def _governance_key(governance: GovernanceSession) -> bytes:
    return governance.principals().governance_key


def _missing_slot(said: dict[str, Any], signatures: list[dict[str, str]]) -> Slot:
    from hashlib import sha256

    signed = {each["keyid"] for each in signatures}
    for slot in Slot:
        key = decoded(said["slots"][slot.contract]["public_key"])
        if sha256(key).hexdigest() not in signed:
            return slot
    raise CommandError("Both have signed this record already.")
