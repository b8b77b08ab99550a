"""An audit log: reading it as a stranger does, and writing it.

Verifying is measured against the same hashing, canonicalising and signature checks done bare in
the same run; appending against SQLite's own synced batches of as many rows of as many bytes.
"""

import json
import sqlite3
import time
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import rfc8785
from concord_attestation.checkpoint import Checkpoint, sign_checkpoint
from concord_attestation.instants import format_time
from concord_attestation.tree import Frontier, leaf_hash
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import Json
from concord_governance.domain.safeguards import Settings, policy
from concord_governance.ports.ledger import LedgerWrites
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.bench.run import Run
from tests.bench.table import Bar, Row

VERIFY_BAR = Bar(1.5)
APPEND_BAR = Bar(500, at_most=False)
BATCH = 50
START = 1_800_000_000_000_000
HOUR = 3_600_000_000
POLICY = sha256(rfc8785.dumps(policy(Settings()))).hexdigest()
ORIGIN = "concord.local/bench"


async def bench(run: Run) -> AsyncIterator[Row]:
    """Yields a row for verifying and one for appending."""
    lines = a_log(run.size(10_000, 600))
    floor, figure = [], []
    for _ in range(run.size(7, 3)):
        floor.append(_seconds(partial(bare, lines)))
        figure.append(_seconds(partial(verified, lines)))
    yield Row(
        what=f"audit verify, {len(lines) - 1} entries",
        unit="s",
        floor=(float(np.median(floor)),),
        floor_is="the same parsing, canonicalising, hashing and signature checks, bare",
        figure=(float(np.median(figure)),),
        ratio=float(np.median(figure) / np.median(floor)),
        bar=VERIFY_BAR,
    )
    yield await appending(run)


def verified(lines: Sequence[bytes]) -> None:
    """Check a log and replay its rules."""
    Replay(read_log(lines, Pinned()), Pinned()).run()


def bare(lines: Sequence[bytes]) -> None:
    """Do what no verifier can leave out, and judge nothing."""
    header = json.loads(lines[0])
    slots = json.loads(b64decode(header["genesis"]["payload"]))["slots"]
    keys = {
        name: Ed25519PublicKey.from_public_bytes(b64decode(slot["public_key"] + "=", b"-_"))
        for name, slot in slots.items()
    }
    hashes = []
    for line in lines[1:]:
        data = line[:-1]
        leaf = json.loads(data)
        if rfc8785.dumps(leaf) != data:
            raise ValueError("not canonical")
        hashes.append(sha256(b"\x00" + data).digest())
        if leaf["action"] == "SMF_APPROVE":
            _check(leaf["properties"]["consent"], keys)
    while len(hashes) > 1:
        pairs = zip(hashes[::2], hashes[1::2], strict=False)
        joined = [sha256(b"\x01" + left + right).digest() for left, right in pairs]
        hashes = joined + hashes[len(hashes) & ~1 :]


def _check(envelope: dict[str, Any], keys: dict[str, Ed25519PublicKey]) -> None:
    payload = b64decode(str(envelope["payload"]))
    said = json.loads(payload)
    if rfc8785.dumps(said) != payload:
        raise ValueError("not canonical")
    kind = str(envelope["payloadType"]).encode()
    signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    (signature,) = envelope["signatures"]
    keys[said["slot"]].verify(b64decode(signature["sig"]), signed)


def a_log(size: int) -> list[bytes]:
    """Return an export of so many entries: proposals that both signed and that were executed."""
    writer = _Writer()
    number = 0
    while len(writer.lines) < size:
        writer.proposal(number)
        number += 1
    return writer.export(size)


class _Writer:
    def __init__(self) -> None:
        self.agent = signing.Signer("agent", signing.generate_key())
        self.human = signing.Signer("ada", signing.generate_key())
        self.log_key = signing.generate_key()
        self.lines: list[bytes] = []

    def proposal(self, number: int) -> None:
        """Write the course of one proposal."""
        digest = sha256(b"%d" % number).hexdigest()
        item, decision = f"item-{number}", f"decision-{number}"
        etags = {item: "", f"{item}-source": "e" * 32, f"{item}-target": ""}
        terms: dict[str, Any] = {"action_digest": digest, "etags": etags, "policy_digest": POLICY}
        signed = {"proposal_digest": digest, **terms}
        until = format_time(START + 48 * HOUR)
        told: dict[str, Any] = {
            "policy": policy(Settings()),
            "kind": "ADD",
            "level": "BILATERAL",
            "undo_of": "",
            "expire_time": until,
        }
        self._add(number, Action.SMF_PROPOSE, Actor.AGENT, "agent", digest=digest, **terms, **told)
        for slot, signer in (("AGENT", self.agent), ("HUMAN", self.human)):
            consent = signing.sign_consent(
                slot=slot,
                signer=signer,
                space="bench",
                proposal_id=f"proposal-{number}",
                revision=1,
                expire_time=datetime.fromtimestamp((START + 10**12) // 10**6, UTC),
                **signed,
            )
            envelope = json.loads(consent)
            self._add(number, Action.SMF_APPROVE, Actor[slot], signer.principal, consent=envelope)
        made = {"decision_id": decision}
        decided = {"decide_time": format_time(START), **made}
        self._add(number, Action.SMF_DECIDE, Actor.SYSTEM, "", **decided)
        written: dict[str, Any] = {"request_id": decision, "digest": digest, "before_digest": ""}
        written |= {"graph_seq": number + 1, "revision": 1, "record_time": format_time(START)}
        self._add(number, Action.WRITE_SUCCESS, Actor.SYSTEM, "governance", item=item, **written)
        effects = [{"id": item, "kind": 2, "before": 0, "after": 1, "governed": [1]}]
        executed: dict[str, Any] = {"effects": effects, "undo_until": until, **made}
        executed["cascaded"] = {"count": 0, "digest": ""}
        self._add(number, Action.SMF_EXECUTE, Actor.SYSTEM, "", **executed)

    def _add(
        self, number: int, action: Action, actor: Actor, who: str, item: str = "", **told: Any
    ) -> None:
        entry = Entry(
            action=action,
            actor=actor,
            principal=who,
            item_id=item,
            proposal_id=f"proposal-{number}",
            revision=1,
            properties=told,
        )
        leaf = entry.leaf("bench", len(self.lines), format_time(START))
        self.lines.append(rfc8785.dumps(leaf))

    def export(self, size: int) -> list[bytes]:
        """Return the export of the first entries."""
        frontier = Frontier()
        for data in self.lines[:size]:
            frontier.append(leaf_hash(data))
        checkpoint = Checkpoint(ORIGIN, size, frontier.root())
        genesis = signing.sign_genesis(
            space="bench",
            agent=self.agent,
            human=self.human,
            governance_key=signing.public_bytes(signing.generate_key()),
        )
        header = {
            "version": 1,
            "space": "bench",
            "log_origin": ORIGIN,
            "log_key": b64encode(signing.public_bytes(self.log_key)).decode(),
            "checkpoint": sign_checkpoint(checkpoint, self.log_key),
            "genesis": json.loads(genesis),
        }
        return [each + b"\n" for each in (rfc8785.dumps(header), *self.lines[:size])]


async def appending(run: Run) -> Row:
    """Append in batches, each one synced transaction; a plain table takes the same bytes."""
    entries = [_entry(place) for place in range(BATCH)]
    ledger = open_ledger(run.folder / "ledger.db", lambda: START)
    plain = _plain(run.folder / "plain.db")
    size = len(rfc8785.dumps(entries[0].leaf("bench", 0, format_time(START))))

    async def append(tx: LedgerWrites) -> None:
        await tx.append(entries)

    floor, figure = [], []
    for _ in range(run.size(40, 5)):
        began = time.perf_counter()
        _insert(plain, b"x" * size)
        floor.append(time.perf_counter() - began)
        began = time.perf_counter()
        await ledger.write("bench", append)
        figure.append(time.perf_counter() - began)
    plain.close()
    await ledger.close()
    return Row(
        what=f"audit append, {BATCH} a transaction",
        unit="/s",
        floor=(BATCH / float(np.median(floor)),),
        floor_is="the same bytes into a plain table of SQLite's, each batch synced",
        figure=(BATCH / float(np.median(figure)),),
        bar=APPEND_BAR,
    )


def _entry(place: int) -> Entry:
    digest = sha256(b"%d" % place).hexdigest()
    evidence: dict[str, Json] = {
        "graph_seq": place,
        "method": "UpsertEdge",
        "request_id": "r",
        "digest": digest,
    }
    return Entry(
        Action.WRITE_ATTEMPT, Actor.AGENT, "agent", f"item-{place}", 2, properties=evidence
    )


def _plain(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE row (data BLOB NOT NULL)")
    return db


def _insert(db: sqlite3.Connection, data: bytes) -> None:
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO row VALUES (?)", [(data,)] * BATCH)
    db.execute("COMMIT")


def _seconds(work: Callable[[], None]) -> float:
    """Return the processor's seconds: both sides compute in one thread, on a machine in use."""
    began = time.process_time()
    work()
    return time.process_time() - began
