"""Forgeries of an import in the log, each with the rule that alone refuses it."""

from __future__ import annotations

import copy
import json
from base64 import b64decode
from typing import Any

from concord_client.trust import signing
from forger import Forger, Forgery, Leaf

DIGEST = "cd" * 32


def _import(it: Forger) -> Leaf:
    return next(leaf for leaf in it.leaves if leaf["action"] == "IMPORT")


def _attempt(it: Forger) -> Leaf:
    return next(leaf for leaf in it.leaves if leaf["action"] == "DELETE_ATTEMPT")


def _items(it: Forger) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = _import(it)["properties"]["items"]
    return items


def _imported_again(it: Forger) -> None:
    """Go back to what was brought, under the same signatures."""
    last = _attempt(it)["properties"]
    later = {"graph_seq": last["graph_seq"] + 1, "record_time": last["record_time"]}
    it.add(_import(it), later)


def _imported_late(it: Forger) -> None:
    """Let something be recorded here before it."""
    earlier = copy.deepcopy(_attempt(it)) | {"time": it.leaves[0]["time"]}
    earlier["properties"] |= {
        "graph_seq": 1,
        "record_time": _import(it)["properties"]["record_time"],
    }
    it.leaves.insert(0, earlier)


def _another_digest(it: Forger) -> None:
    next(item for item in _items(it) if not item["principal"])["digest"] = DIGEST


def _left_out(it: Forger) -> None:
    _items(it).remove(next(item for item in _items(it) if not item["principal"]))


def _one_more(it: Forger) -> None:
    made = {"id": "another", "kind": 2, "revision": 1, "digest": DIGEST, "principal": False}
    _items(it).append(made | {"ends": {}})


def _ends_forgotten(it: Forger) -> None:
    _items(it)[0]["ends"] = {}


def _in_parts(it: Forger) -> Leaf:
    """Tell the list in two entries; return the second."""
    first = _import(it)
    items = first["properties"]["items"]
    first["properties"] |= {"parts": 2, "items": items[:1]}
    second = copy.deepcopy(first)
    second["properties"] |= {"part": 2, "items": items[1:]}
    it.leaves.insert(it.leaves.index(first) + 1, second)
    return second


def _cut_short(it: Forger) -> None:
    second = _in_parts(it)
    it.cut(second)
    it.drop(second)


def _interrupted(it: Forger) -> None:
    second = _in_parts(it)
    refused = copy.deepcopy(_attempt(it))
    refused |= {"action": "SAFEGUARD_VIOLATION", "time": second["time"]}
    refused["item"] = {"id": "", "kind": 0}
    it.leaves.insert(it.leaves.index(second), refused)


IMPORT_FORGERIES: dict[str, tuple[Forgery, str]] = {
    "a second import": (_imported_again, "import_first"),
    "an import into a used space": (_imported_late, "import_first"),
    "another digest of what came": (_another_digest, "import_agreed"),
    "something that came left out": (_left_out, "import_agreed"),
    "something that did not come": (_one_more, "import_agreed"),
    "what it rests on left out": (_ends_forgotten, "import_agreed"),
    "a part left out": (_cut_short, "import_whole"),
    "an entry between the parts": (_interrupted, "import_part"),
}


def _enrolled(it: Forger) -> None:
    """Let other principals be enrolled behind the import."""
    item = {"id": "another", "kind": 2}
    told = {"request_id": "mine", "digest": DIGEST, "revision": 1, "before_digest": "", "ends": {}}
    seq = _attempt(it)["properties"]["graph_seq"] + 1
    it.add(
        _attempt(it),
        told | {"graph_seq": seq},
        action="GENESIS",
        blocked=False,
        reason="",
        item=item,
    )


def _signed(it: Forger, signers: list[Any], **changed: Any) -> None:
    """Sign the import's grant anew, otherwise than the principals did."""
    told = _import(it)["properties"]
    said = json.loads(b64decode(told["restore_grant"]["payload"])) | changed
    payload = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    grant = signing.sign_envelope(signing.RESTORE_TYPE, payload, signers)
    told["restore_grant"] = json.loads(grant)


def _by_others(it: Forger) -> None:
    """Bring what others agreed to, in the name of these."""
    _signed(it, [signing.generate_key(), signing.generate_key()])


def _with_own_key(it: Forger) -> None:
    """Let the human's key be one of the forger's."""
    own = signing.Signer("ada", signing.generate_key())
    text = signing.restore_payload(
        space="",
        genesis_digest="",
        export_digest="",
        constitutive_digest="",
        keys={"AGENT": it.party.agent.public_key, "HUMAN": own.public_key},
        governance_key=b"",
        expire_time=it.party.time(1),
    )
    _signed(it, [it.party.agent.key, own.key], keys=json.loads(text)["keys"])


def _by_one(it: Forger) -> None:
    _signed(it, [it.party.agent.key])


def _of_another_export(it: Forger) -> None:
    _import(it)["properties"]["export_digest"] = DIGEST


def _of_another_genesis(it: Forger) -> None:
    _signed(it, [it.party.agent.key, it.human.key], genesis_digest=DIGEST)


def _nowhere(it: Forger) -> None:
    _import(it)["properties"]["graph_seq"] = 0


READ_IMPORTS: dict[str, tuple[Forgery, str]] = {
    "an import that others signed for": (_by_others, "envelope signature"),
    "an import that brings the forger's key": (_with_own_key, "envelope signature"),
    "an import that one principal signed for": (_by_one, "envelope signature"),
    "an import of another export": (_of_another_export, "envelope export"),
    "an import of another genesis": (_of_another_genesis, "envelope genesis"),
    "an import without a place": (_nowhere, "graph_seq"),
    "a genesis behind an import": (_enrolled, "one_genesis"),
}
