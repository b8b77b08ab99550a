"""Checks the audit log that a client has fetched."""

import json

from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Replay
from concord_client.verbs import governance_things


def verified(exported: bytes, checkpoint: str | None) -> governance_things.Log:
    """Check an export of the log: hashes, signatures, order, and every rule of governance.

    It must extend the `checkpoint`, if one is given. Raises `LogInvalid`.
    """
    lines = exported.splitlines(keepends=True)
    pinned = Pinned(checkpoint=checkpoint)
    found = Replay(read_log(lines, pinned), pinned).run()
    signed = str(json.loads(lines[0])["checkpoint"])
    return governance_things.Log(found.entries, found.executed, found.undone, found.refused, signed)
