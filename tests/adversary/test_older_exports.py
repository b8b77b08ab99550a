"""An older export is held against what was kept up to then, and nothing later (A2)."""

from __future__ import annotations

import json

import pytest
from concord_client.cli.governance import verification
from concord_client.trust.audit.log import LogInvalid, Pinned
from concord_client.trust.keyfiles import encoded
from concord_client.trust.pins import Kept, Seen
from concord_client.trust.witness import WitnessError
from forger import Forger


def exported(forger: Forger, size: int) -> list[bytes]:
    """The export that was taken when the log had so many entries."""
    later = forger.leaves[size:]
    del forger.leaves[size:]
    lines = forger.lines()
    forger.leaves += later
    return lines


def client(forger: Forger, *sizes: int) -> verification.Known:
    """What a client knows that saw the log at these sizes."""
    exports = [exported(forger, size) for size in sizes]
    header = json.loads(exports[0][0])
    seen = Seen(
        log_key=encoded(Pinned(log_key=_key(header)).log_key or b""),
        log_origin=header["log_origin"],
        checkpoints=tuple(
            Kept(note=json.loads(lines[0])["checkpoint"], time="2026-11-21T12:00:00+00:00")
            for lines in exports
        ),
    )
    return verification.Known(seen, Pinned(log_key=_key(header)))


def _key(header: dict[str, str]) -> bytes:
    from concord_attestation.note import from_base64

    return from_base64(header["log_key"])


async def test_an_older_export_says_what_ties_it_to_the_log(forger: Forger) -> None:
    """A2 What a client kept up to then proves its beginning; of the rest it says so."""
    size = len(forger.leaves)
    held = client(forger, size - 4, size)
    shorter = exported(forger, size - 2)

    findings = verification.verified(shorter, held.older(size - 2))
    told = verification.covered(findings.entries, held, held.older(size - 2))

    assert findings.entries == size - 2
    assert f"the first {size - 2} of the {size} entries" in told
    assert f"{size - 4} of them proved" in told
    assert "the last 2 as this file alone says" in told
    assert "was not compared" in verification.covered(1, held, held.older(1))
    assert f"all {size} entries" in verification.covered(size, held, held)


async def test_another_past_is_no_older_export(forger: Forger) -> None:
    """A2 Signed with the log's own key and shorter: what was kept up to then still refuses it."""
    size = len(forger.leaves)
    held = client(forger, size - 4, size)
    forger.leaves[size - 5] |= {"reason": "rewritten"}
    other = exported(forger, size - 2)

    with pytest.raises(LogInvalid) as caught:
        verification.verified(other, held.older(size - 2))

    assert caught.value.check == "not_an_extension"


async def test_a_damaged_checkpoint_is_no_reason_to_pass(forger: Forger) -> None:
    """A2 What this client kept is read with the pinned key, not skipped."""
    held = client(forger, len(forger.leaves))
    broken = held.seen.checkpoints[0]["note"].replace("one", "two")
    seen = Seen(
        log_key=held.seen.log_key,
        log_origin=held.seen.log_origin,
        checkpoints=(Kept(note=broken, time=""),),
    )

    with pytest.raises(WitnessError, match="not signed by the log's key"):
        verification.Known(seen, held.pinned).older(1)
