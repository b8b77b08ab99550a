"""Converts a revision to its JSON document, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import rfc8785
from concord_attestation.bounds import MAX_ETAGS_BYTES, MAX_ITEMS
from concord_attestation.instants import format_time, parse_time

from concord_governance.domain.errors import ProposalTooLarge, RevisionUnreadable
from concord_governance.domain.proposals import (
    Affected,
    Framing,
    FramingCheck,
    Json,
    Kind,
    Level,
    Revision,
    Trigger,
)

VERSION = 2
"""The version of a revision's document."""


def demand_size(affected: Sequence[Affected]) -> None:
    """Refuse a proposal too large for a grant or an entry of the log, before it is signed.

    Raises:
        ProposalTooLarge: names the size and the limit.
    """
    if len(affected) > MAX_ITEMS:
        raise ProposalTooLarge("items", len(affected), MAX_ITEMS)
    size = len(rfc8785.dumps({item.id: item.etag for item in affected}))
    if size > MAX_ETAGS_BYTES:
        raise ProposalTooLarge("bytes", size, MAX_ETAGS_BYTES)


def as_json(revision: Revision) -> dict[str, Json]:
    """Return a revision's document, which its canonical bytes encode."""
    document: dict[str, Json] = {
        "version": VERSION,
        "space": revision.space,
        "proposal_id": revision.proposal_id,
        "number": revision.number,
        "revision": revision.revision,
        "proposer": revision.proposer,
        "trigger": revision.trigger.name,
        "kind": revision.kind.name,
        "approval_level": revision.level.name,
        "action": dict(revision.action),
        "action_digest": revision.action_digest,
        "affected": [_item(item) for item in revision.affected],
        "framing": asdict(revision.framing),
        "framing_check": revision.framing_check.name,
        "policy_digest": revision.policy_digest,
        "create_time": format_time(revision.create_time),
        "expire_time": format_time(revision.expire_time),
        "undo_of": revision.undo_of,
        "cascaded_count": revision.cascaded_count,
    }
    if revision.irreversible:
        document["irreversible"] = True
    if revision.note:
        document["note"] = revision.note
    if revision.session_id:
        document["session_id"] = revision.session_id
    if revision.origin:
        document["origin"] = revision.origin
    return document


def from_json(document: Mapping[str, Any], canonical: bytes, digest: str) -> Revision:
    """Return the revision of a document; erased parts are empty.

    Raises RevisionUnreadable for a document of another version than today's.
    """
    if document["version"] != VERSION:
        raise RevisionUnreadable
    return Revision(
        space=document["space"],
        proposal_id=document["proposal_id"],
        number=document["number"],
        revision=document["revision"],
        proposer=document["proposer"],
        trigger=Trigger[document["trigger"]],
        kind=Kind[document["kind"]],
        level=Level[document["approval_level"]],
        action=document.get("action", {}),
        action_digest=document["action_digest"],
        affected=tuple(Affected(**item) for item in document["affected"]),
        framing=Framing(**document["framing"]) if "framing" in document else ERASED_FRAMING,
        framing_check=FramingCheck[document["framing_check"]],
        policy_digest=document["policy_digest"],
        create_time=parse_time(document["create_time"]),
        expire_time=parse_time(document["expire_time"]),
        undo_of=document["undo_of"],
        cascaded_count=document["cascaded_count"],
        irreversible=document.get("irreversible", False),
        note=document.get("note", ""),
        session_id=document.get("session_id", ""),
        origin=document.get("origin", ""),
        canonical=canonical,
        digest=digest,
    )


_WORDS = ("action", "framing", "note")
_STATED = ("statement", "pinned", "statement_after")
"""Fields of an item that its document has only if they say something."""


def without_words(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without its words; principals, times, ids, etags and digests stay."""
    kept = {key: value for key, value in document.items() if key not in _WORDS}
    kept["affected"] = [
        {key: value for key, value in item.items() if not key.startswith("statement")}
        for item in document["affected"]
    ]
    return kept


def _item(item: Affected) -> dict[str, Json]:
    absent = {name for name in _STATED if not getattr(item, name)}
    return {name: value for name, value in asdict(item).items() if name not in absent}


ERASED_FRAMING = Framing("", "", "", "", "")
