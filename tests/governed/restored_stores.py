"""Stores that were restored from a backup, and principals whose keys were changed since."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from concord.governance.v1 import audit_pb2, proposal_pb2
from concord_client.trust import signing
from concord_embedded import backup_stores, receipts
from concord_embedded.backup import Backup
from concord_embedded.receipts import Receipts
from concord_embedded.restore import Restored, applied, confirmers
from governed_steps import key_change
from governed_world import AGENT, HUMAN, STATUS, Party, World
from older_graph import Copies
from writing import to_change_key


async def restored(scene: Copies, later: list[Receipts]) -> Restored:
    """Make the stores ones that were restored from a backup of this instant."""
    backup = Backup(scene.folder, scene.clock.now, "", "former", {}, 0)
    stores = backup_stores.in_folder(scene.folder)
    return await applied(backup, stores, later, scene.clock, confirmers({}))


def known_of(folder: Path) -> Receipts:
    """Return the receipts of the stores in a folder, read back from their file."""
    with backup_stores.copied(folder) as copy:
        receipts.write(folder / "receipts", receipts.known(copy, "", 0))
    return receipts.read(folder / "receipts")


@dataclass(frozen=True)
class Since:
    """A restored copy of a system in which keys were changed after the copy.

    `scene`: the restored copy; `backup`: the folder of one that was not restored. `retired`: each
    slot's signer in the copy; `newest`: the one that counted at the end, after `between` for a slot
    whose key was changed twice. `checkpoint`: of the log at the end, as a client keeps it.
    """

    scene: Copies
    backup: Path
    retired: dict[str, signing.Signer]
    between: dict[str, signing.Signer]
    newest: dict[str, signing.Signer]
    checkpoint: str
    restored: Restored

    def party(self, live: World) -> Party:
        """Return the restored space's party, who signs with the keys of then."""
        party = live.party()
        party.agent, party.human = self.retired[AGENT], self.retired[HUMAN]
        return party


async def changed_since(folder: Path, changes: list[str]) -> Since:
    """Enrol, copy, change the slots' keys in this order, and restore the copy with the receipts.

    `folder`: new; for the running system, the copy, and the restored one.
    """
    scene = Copies(folder / "former")
    scene.folder.mkdir(parents=True)
    async with scene.world() as live:
        party = scene.party(live)
        await party.enrol()
        retired = {AGENT: party.agent, HUMAN: party.human}
    backup = folder / "backup"
    shutil.copytree(scene.folder, backup)
    between: dict[str, signing.Signer] = {}
    async with scene.world() as live:
        party = scene.party(live)
        for slot in changes:
            between[slot] = party.signer(slot)
            await change(party, slot)
        newest = {slot: party.signer(slot) for slot in changes}
        note = (await party.audit.GetCheckpoint(audit_pb2.GetCheckpointRequest())).checkpoint
    copy, known = restorable(scene, backup, "restored"), [known_of(scene.folder)]
    after = await restored(copy, known)
    return Since(copy, backup, retired, between, newest, note, after)


async def changing(
    folder: Path,
    before: Callable[[Party], Awaitable[None]],
    after: Callable[[Party], Awaitable[None]],
    human: signing.Signer,
) -> tuple[Copies, Restored]:
    """Enrol and do `before`, copy, do `after`, and restore the copy with the receipts."""
    scene = Copies(folder / "former")
    scene.folder.mkdir(parents=True)
    async with scene.world() as live:
        party = scene.party(live)
        party.human = human
        await party.enrol()
        await before(party)
    backup = folder / "backup"
    shutil.copytree(scene.folder, backup)
    async with scene.world() as live:
        party = scene.party(live)
        party.human = human
        await after(party)
    copy = restorable(scene, backup, "restored")
    copy.parties = scene.parties
    return copy, await restored(copy, [known_of(scene.folder)])


def restorable(scene: Copies, backup: Path, name: str) -> Copies:
    """Return a new copy of a backup, beside it."""
    shutil.copytree(backup, backup.with_name(name))
    return Copies(backup.with_name(name), scene.keys, scene.clock)


async def change(party: Party, slot: str) -> None:
    """Change a slot's key for a new one, with both consents."""
    proposal, new = await key_change(party, slot)
    done = await party.decide(proposal)
    assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
    party.agent, party.human = (new, party.human) if slot == AGENT else (party.agent, new)


async def change_to(party: Party, slot: str, signer: signing.Signer) -> proposal_pb2.Proposal:
    """Propose a key that exists for a slot, proven by its own signature."""
    return await party.propose(to_change_key(signer, slot, party.space))
