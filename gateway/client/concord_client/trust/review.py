"""The content of a proposal, read from its stored bytes alone, and the consent to it (V6).

The server's fields beside those bytes are compared with them before any is shown or signed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from concord.governance.v1 import proposal_pb2
from concord.type.v1 import type_pb2

from concord_client.trust import digests, signing

VERSION = 2
"""The version of a revision's bytes. Commit 85b147cc still reads version 1."""
_WORDS = tuple(proposal_pb2.Framing.DESCRIPTOR.fields_by_name)


class ReviewError(Exception):
    """The server's proposal differs from its stored bytes; names the failed check."""

    def __init__(self, check: str) -> None:
        super().__init__(
            f"The server's proposal failed the check {check!r}: it is not what its bytes say. "
            "Nothing was signed."
        )
        self.check = check


class OtherSpace(ReviewError):
    """The proposal is of another space than the one in use."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__("space")
        self.args = (
            f"The proposal is of the space {found!r}, and this is {wanted!r}: nothing was signed. "
            f"If {found!r} is meant, say so with --space.",
        )


@dataclass(frozen=True)
class Reviewed:
    """A revision whose bytes, digests and fields agree. `document` is read from `canonical`."""

    canonical: bytes
    digest: str
    document: Mapping[str, Any]

    @property
    def etags(self) -> dict[str, str]:
        """The etags that a consent names, by item id."""
        return {item["id"]: item["etag"] for item in self.document["affected"]}

    @property
    def expire_time(self) -> datetime:
        """The time at which the proposal expires."""
        return datetime.fromisoformat(self.document["expire_time"])

    def terms(self) -> dict[str, Any]:
        """Return the fields of a consent to this revision, as arguments of `signing`."""
        said = self.document
        return {
            "space": said["space"],
            "proposal_id": said["proposal_id"],
            "revision": said["revision"],
            "proposal_digest": self.digest,
            "action_digest": said["action_digest"],
            "etags": self.etags,
            "policy_digest": said["policy_digest"],
            "expire_time": self.expire_time,
        }

    def payload(self, slot: str, principal: str, nonce: bytes) -> bytes:
        """Return the exact bytes that this slot's consent signs."""
        return signing.consent_payload(slot=slot, principal=principal, nonce=nonce, **self.terms())


def review(proposal: proposal_pb2.Proposal, space: str | None = None) -> Reviewed:
    """Check that a proposal's fields agree with its stored bytes, and return their content.

    With `space`, the signer's own, the proposal must be of that space, too.

    Raises:
        ReviewError: "erased", "digest", "canonical", "version", "action_digest", "space", or the
            name of a field that differs from the bytes.
    """
    found = reviewed(proposal.canonical, proposal.digest)
    _demand_alike(found.document, proposal)
    if space is not None:
        demand_space(found, space)
    return found


def demand_space(found: Reviewed, space: str) -> None:
    """Demand that a proposal is of this space. Raises `OtherSpace`."""
    if found.document["space"] != space:
        raise OtherSpace(str(found.document["space"]), space)


def reviewed(canonical: bytes, digest: str) -> Reviewed:
    """Check a proposal's stored bytes against its digest, and return their content.

    Raises:
        ReviewError: "erased", "digest", "canonical", "version" or "action_digest".
    """
    if not canonical:
        raise ReviewError("erased")
    if sha256(canonical).hexdigest() != digest:
        raise ReviewError("digest")
    document = _parsed(canonical)
    _demand_own_action(document)
    return Reviewed(canonical, digest, document)


def _parsed(canonical: bytes) -> dict[str, Any]:
    try:
        document = json.loads(canonical)
        again = digests.canonical(document)
    except (ValueError, RecursionError):
        raise ReviewError("canonical") from None
    if again != canonical or not isinstance(document, dict):
        raise ReviewError("canonical")
    return document


def _demand_own_action(document: Mapping[str, Any]) -> None:
    """Demand that a document is of today's version, and that its action has its digest."""
    try:
        if document["version"] != VERSION:
            raise ReviewError("version")
        if _digest(document["action"]) != document["action_digest"]:
            raise ReviewError("action_digest")
    except KeyError as error:
        raise ReviewError(str(error.args[0])) from None


def _digest(action: digests.Json) -> str:
    return sha256(digests.canonical(action)).hexdigest()


def _demand_alike(document: Mapping[str, Any], proposal: proposal_pb2.Proposal) -> None:
    try:
        if _digest(document["action"]) != digests.action_digest(proposal.action):
            raise ReviewError("action")
        for name, said in _fields(proposal).items():
            if document[name] != said:
                raise ReviewError(name)
        if document.get("irreversible", False) is not proposal.irreversible:
            raise ReviewError("irreversible")
        for name in ("note", "session_id"):
            if document.get(name, "") != getattr(proposal, name):
                raise ReviewError(name)
        if not isinstance(document["space"], str):
            raise ReviewError("space")
    except KeyError as error:
        raise ReviewError(str(error.args[0])) from None


def _fields(proposal: proposal_pb2.Proposal) -> dict[str, Any]:
    """Return the server's fields beside the bytes, in the form of the bytes."""
    kind = proposal_pb2.ProposalKind.Name(proposal.kind)
    trigger = proposal_pb2.ProposalTrigger.Name(proposal.trigger)
    checked = proposal_pb2.FramingCheck.Name(proposal.framing_check)
    level = proposal_pb2.ApprovalLevel.Name(proposal.approval_level)
    return {
        "proposal_id": proposal.id,
        "number": proposal.number,
        "revision": proposal.revision,
        "proposer": proposal.proposer,
        "kind": kind.removeprefix("PROPOSAL_KIND_"),
        "approval_level": level.removeprefix("APPROVAL_LEVEL_"),
        "action_digest": proposal.action_digest,
        "policy_digest": proposal.policy_digest,
        "trigger": trigger.removeprefix("PROPOSAL_TRIGGER_"),
        "framing_check": checked.removeprefix("FRAMING_CHECK_"),
        "framing": {name: getattr(proposal.framing, name) for name in _WORDS},
        "undo_of": proposal.undo_of,
        "cascaded_count": proposal.cascaded_count,
        "affected": [
            {
                "id": item.id,
                "kind": int(item.kind),
                "etag": item.etag,
                "needs_consent": item.needs_consent,
                **({"statement": item.statement} if item.statement else {}),
                **({"pinned": True} if item.pinned else {}),
                **({"statement_after": item.statement_after} if item.statement_after else {}),
            }
            for item in proposal.affected
        ],
    }


def demand_undoing(found: Reviewed, leaf: bytes | None) -> None:
    """Check that an undo reverts exactly the original's effects, as the log's entry has them.

    `leaf`: the SMF_EXECUTE entry of the undone proposal, proved to be in the log; None without
    one. Cascaded items are compared with the entry's digest of them.

    Raises:
        ReviewError: "undo_of": it undoes another proposal, or other items or revisions.
    """
    try:
        entry = json.loads(leaf or b"{}")
        items = found.document["action"]["revert_items"]["items"]
        wanted = {_reverted(item) for item in items if not item.get("cascaded")}
        cascaded = [_reverted(item) for item in items if item.get("cascaded")]
        effects = entry["properties"]["effects"]
        done = {(each["id"], each["before"], each["after"]) for each in effects}
        alike = entry["proposal"]["id"] == found.document["undo_of"] and wanted == done
        alike = alike and entry["properties"]["cascaded"] == _counted(cascaded)
        alike = alike and entry["action"] == "SMF_EXECUTE"
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ReviewError("undo_of") from None
    if not alike:
        raise ReviewError("undo_of")


def _reverted(item: Mapping[str, Any]) -> tuple[str, int, int]:
    return item["id"], int(item.get("revision", 0)), int(item["expected_revision"])


def _counted(items: list[tuple[str, int, int]]) -> dict[str, Any]:
    """Return the count and digest of cascaded items, as the log has them: over a line for each."""
    lines = "".join(f"{name} {before} {after}\n" for name, before, after in sorted(items))
    return {"count": len(items), "digest": sha256(lines.encode()).hexdigest() if items else ""}


def kind_name(kind: int) -> str:
    """Return the lower-case name of an item kind's number."""
    name = type_pb2.ItemKind.Name(kind)  # type: ignore[arg-type] # numbers are the contract's
    return name.removeprefix("ITEM_KIND_").lower()
