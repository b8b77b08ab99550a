"""What e65dbee wrote is read as what it says, in the names that it had then (V6, A2, G15).

`written_before/write.py` wrote the files, with the program of that time.
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rfc8785
from concord_attestation.spelling import RENAMED, entry_respelled, respelled
from concord_client.transfer import read_export
from concord_client.trust import signing
from concord_client.trust.audit.log import LogInvalid, Pinned, read_log
from concord_client.trust.audit.replay import Findings, Replay
from concord_governance.domain.documents import from_json
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from forged_decisions import DECISION_FORGERIES
from forged_envelopes import PAPER_FORGERIES, READ_FORGERIES
from forged_writes import WRITE_FORGERIES
from forger import Forger, Leaf, demand_refused
from governed_steps import demand_honest
from governed_world import STATUS, Keys, edge_action, eventually, world
from imported_world import brought

FOLDER = Path(__file__).with_name("written_before")
STORY = json.loads((FOLDER / "story.json").read_text("utf-8"))


def a_key(number: int) -> Ed25519PrivateKey:
    """Return a key as `write.py` made it."""
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def keys_of(first: int) -> Keys:
    """Return the keys of a place as `write.py` made them."""
    keys = Keys()
    keys.grant, keys.log = a_key(first), a_key(first + 1)
    return keys


AGENT = signing.Signer("agent", a_key(1))
HUMAN = signing.Signer("ada", a_key(2))
LATER_HUMAN = signing.Signer(
    "ada", Ed25519PrivateKey.from_private_bytes(bytes.fromhex(STORY["human"]))
)


def lines(name: str) -> list[bytes]:
    """Return the lines of a log."""
    return gzip.decompress((FOLDER / name).read_bytes()).splitlines(keepends=True)


def verified(name: str) -> Findings:
    """Verify a log offline."""
    return Replay(read_log(lines(name), Pinned()), Pinned()).run()


def as_before(leaf: Leaf) -> Leaf:
    """Spell an entry as version 1 did."""
    properties = dict(leaf["properties"])
    for _, old, new in RENAMED.get((leaf["action"], 1), ()):
        if new in properties:
            properties[old] = properties.pop(new)
    return leaf | {"version": 1, "properties": properties}


def forger_of(name: str, first_key: int, names: dict[str, str]) -> Forger:
    """Return a forger of an old log, in whose hands its entries are spelt as today."""
    header, *leaves = (json.loads(line) for line in lines(name))
    party: Any = SimpleNamespace(agent=AGENT, human=LATER_HUMAN, signer=_signer, time=_time)
    pinned = Pinned(genesis_digest=signing.genesis_digest(rfc8785.dumps(header["genesis"])))
    entries = [entry_respelled(leaf) for leaf in leaves]
    keys = keys_of(first_key)
    return Forger(header, entries, keys, party, names, HUMAN, pinned, spelled=as_before)


def _signer(slot: str) -> signing.Signer:
    return AGENT if slot == signing.AGENT else LATER_HUMAN


def _time(hours: float) -> datetime:
    return datetime(2027, 1, 15, 8, tzinfo=UTC) + timedelta(hours=hours)


def test_old_logs_verify() -> None:
    """A2 The offline verifier accepts the log of a whole story and that of the space that moved,
    entry for entry: rejections, revocations, cascades and imports are spelt as they were."""
    story, moved = verified("log.jsonl.gz"), verified("moved_log.jsonl.gz")
    spelt = {
        (leaf["action"], name)
        for log in ("log.jsonl.gz", "moved_log.jsonl.gz")
        for leaf in map(json.loads, lines(log)[1:])
        for name in leaf["properties"]
    }

    assert (story.entries, story.executed, story.undone) == (72, 9, 2)
    assert (moved.executed, moved.undone) == (4, 1)
    renamed = {(action, old) for (action, _), rows in RENAMED.items() for _, old, _ in rows}
    entries = {row for row in renamed if row[0].startswith("SMF_")} - {
        ("SMF_REVISE", "taken_along")
    }
    assert entries <= spelt


def test_a_forged_old_log_is_refused() -> None:
    """A2 What refuses a forgery today refuses it in the names of before."""
    forger = forger_of("log.jsonl.gz", 3, STORY["names"])
    demand_refused(forger, PAPER_FORGERIES | DECISION_FORGERIES | WRITE_FORGERIES)
    demand_refused(forger, READ_FORGERIES)


def test_an_old_entry_has_old_names_only() -> None:
    """A2 Neither version takes the names of the other: there is one spelling of every entry."""
    for mixed in (
        lambda leaf: leaf | {"version": 1},
        lambda leaf: as_before(leaf) | {"version": 2},
    ):
        forger = forger_of("log.jsonl.gz", 3, STORY["names"])
        forger.spelled = lambda leaf, mixed=mixed: (
            mixed(leaf) if _renamed(leaf) else as_before(leaf)
        )  # type: ignore[misc] # the loop's value
        with pytest.raises(LogInvalid) as caught:
            forger.verify()
        assert caught.value.check == "form"


def _renamed(leaf: Leaf) -> bool:
    return leaf["action"] in ("SMF_REJECT", "SMF_REVOKE")


async def test_an_old_export_moves_under_its_old_grant(tmp_path: Path) -> None:
    """G15 V5 Both principals' restore grant of version 2 and the export that it is for are taken;
    what is decided there afterwards verifies, behind what both had agreed to.
    A grant of version 1 is refused."""
    export = read_export(FOLDER / "space.jsonl")
    grant = (FOLDER / "restore_grant.json").read_bytes()
    async with world(tmp_path, keys=keys_of(5)) as live:
        guest = live.party()
        guest.agent, guest.human = AGENT, LATER_HUMAN
        await brought(guest, export, grant)
        await eventually(guest.actions, lambda told: "IMPORT" in told)
        done = await guest.decide(await guest.propose(edge_action(target="patience")))

        assert done.status == STATUS.PROPOSAL_STATUS_EXECUTED
        await demand_honest(guest)


def test_old_revisions_are_read() -> None:
    """V6 V8 What a revision of version 1 pins, cascades to and calls irreversible is not lost."""
    old = [json.loads(line) for line in (FOLDER / "revisions.jsonl").read_bytes().splitlines()]
    deletion, undo, last = (from_json(each, b"", "") for each in old)

    assert (deletion.cascaded_count, deletion.irreversible) == (3, False)
    assert (last.cascaded_count, last.irreversible) == (3, True)
    items: Any = undo.action["revert_items"]
    assert sum(item.get("cascaded", False) for item in items["items"]) == 3
    assert respelled("revision", old[1])["affected"] == [
        {("pinned" if name == "rests_on" else name): value for name, value in item.items()}
        for item in old[1]["affected"]
    ]
