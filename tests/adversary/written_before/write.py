"""Wrote what `test_written_before.py` reads: run once, with the program of the time, never again.

With e65dbee checked out, and the folder above on PYTHONPATH: `python write.py FOLDER`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
from pathlib import Path

from concord_client.trust import signing
from concord_graph.usecases.write import cascade
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from forger import told_by
from governed_steps import decided, hub_with
from governed_world import HUMAN, Keys, Party, World, edge_action, eventually, world
from imported_world import brought, exported, restore_grant


def test_key(number: int) -> Ed25519PrivateKey:
    """Return a key that the reader can make again."""
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def known_keys(first: int) -> Keys:
    """Return the keys of a place."""
    keys = Keys()
    keys.grant, keys.log = test_key(first), test_key(first + 1)
    return keys


def known_party(live: World, human: Ed25519PrivateKey | None = None) -> Party:
    """Return the principals; `human`: the present key, where it was changed."""
    party = live.party()
    party.agent = signing.Signer("agent", test_key(1))
    party.human = signing.Signer("ada", human or test_key(2))
    return party


async def write(folder: Path) -> None:
    """Live through a story, move its space, and live on."""
    with tempfile.TemporaryDirectory() as home:
        here, there = Path(home) / "here", Path(home) / "there"
        here.mkdir()
        there.mkdir()
        keys = known_keys(3)
        async with world(here, keys=keys) as live:
            party = known_party(live)
            await party.enrol()
            told = await told_by(party, keys)
            human = party.human
            log = await party.export_log()
            export = await exported(party, folder / "space.jsonl")
        async with world(there, keys=known_keys(5), clock=live.clock) as live:
            guest = known_party(live, human.key)
            former = [signing.Signer("ada", test_key(2))]
            grant = await restore_grant(guest, export, former)
            await brought(guest, export, grant)
            await eventually(guest.actions, lambda found: "IMPORT" in found)
            revisions = [await guest.propose(await hub_with(guest, 3))]
            gone = await decided(guest, revisions[0])
            revisions.append(await guest.undo(gone))
            await decided(guest, revisions[1])
            await guest.reject(await guest.propose(edge_action(target="tea")), HUMAN)
            cascade.MOST_LISTED = 1
            revisions.append(await guest.propose(await hub_with(guest, 3)))
            await guest.verified()
            later = await guest.export_log()
    (folder / "log.jsonl.gz").write_bytes(gzip.compress(b"".join(log), mtime=0))
    (folder / "moved_log.jsonl.gz").write_bytes(gzip.compress(b"".join(later), mtime=0))
    (folder / "restore_grant.json").write_bytes(grant)
    (folder / "revisions.jsonl").write_bytes(b"".join(each.canonical + b"\n" for each in revisions))
    seed = human.key.private_bytes_raw().hex()
    (folder / "story.json").write_text(json.dumps({"names": told.names, "human": seed}) + "\n")


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
