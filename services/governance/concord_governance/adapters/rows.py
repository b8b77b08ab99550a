"""The rows of a ledger that both stores keep alike: what they write of a value, and read from it.

A proposal's end is kept as two texts, as the first ledgers did. The contract has the end typed, so
that no caller takes a text apart; typed columns here would need a conversion of both stores.
Entries of the log keep their property `check` ("AGENT proposal_digest") as well: leaves stay as
they were written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

from concord_attestation.instants import format_time
from concord_attestation.tree import leaf_hash

from concord_governance.domain.documents import from_json, without_words
from concord_governance.domain.entries import Entry
from concord_governance.domain.proposals import (
    DAY,
    Decision,
    Effect,
    Failure,
    GivenConsent,
    Proposal,
    Revision,
    Status,
)
from concord_governance.ports.ledger import LedgerWrites, frontier_of

Fields = dict[str, Any]
MOST_DUE = 1000
"""Expired proposals that are read at once."""
REQUEST_KEPT = 7 * DAY
"""How long a request's receipt is kept, in microseconds."""
_SLOTS = frozenset({"AGENT", "HUMAN"})


def of_proposal(before: Proposal | None, after: Proposal) -> Fields:
    """Return what is kept of a proposal beside its revisions, its consents and `orphaned`."""
    newest, decision = after.newest, after.decision or Decision("", 0, b"")
    return {
        "id": after.id,
        "number": newest.number,
        "revision": newest.revision,
        "version": (before.version if before else 0) + 1,
        "status": int(after.status),
        "create_time": after.create_time,
        "expire_time": newest.expire_time,
        "resolve_time": after.resolve_time,
        "resolved_by": ",".join(after.resolved_by),  # no principal's name has a comma
        "resolution": resolution(after),
        "undone_by": after.undone_by,
        "undo_until": after.undo_until,
        "decision_id": decision.id,
        "decision_time": decision.time,
        "decision_grant": decision.grant,
        "effects": json.dumps([astuple(effect) for effect in decision.effects]),
    }


def touched(before: Proposal | None, after: Proposal) -> set[str]:
    """Return the items that a proposal is listed under from now on."""
    effects = after.decision.effects if after.decision else ()
    changed = {effect.item_id for effect in effects if not effect.cascaded}
    if is_revised(before, after):
        changed |= {item.id for item in after.newest.affected if item.etag}
    return changed


def is_revised(before: Proposal | None, after: Proposal) -> bool:
    """Return whether a proposal has a revision that is not kept yet."""
    return before is None or before.newest.revision != after.newest.revision


def of_revision(newest: Revision) -> Fields:
    """Return what is kept of a revision."""
    document = without_words(json.loads(newest.canonical))
    return {
        "proposal_id": newest.proposal_id,
        "revision": newest.revision,
        "digest": newest.digest,
        "document": json.dumps(document, separators=(",", ":"), ensure_ascii=False),
        "canonical": newest.canonical,
    }


def proposal(
    row: Mapping[str, Any],
    orphaned: Sequence[str],
    revision: Mapping[str, Any],
    consents: Sequence[Mapping[str, Any]],
) -> Proposal:
    """Return the proposal of a row, of its newest revision's, and of that one's consents'."""
    decision, status = None, Status(row["status"])
    if row["decision_id"]:
        effects = tuple(map(Effect.of, json.loads(row["effects"])))
        grant = bytes(row["decision_grant"])
        decision = Decision(row["decision_id"], row["decision_time"], grant, effects)
    canonical = bytes(revision.get("canonical", b""))  # an erased revision has none
    failed = status == Status.FAILED
    given = sorted(map(_consent, consents), key=lambda each: (each.receive_time, each.slot))
    return Proposal(
        newest=from_json(
            json.loads(canonical or revision["document"]), canonical, revision["digest"]
        ),
        version=row["version"],
        status=status,
        create_time=row["create_time"],
        resolve_time=row.get("resolve_time"),
        resolved_by=tuple(row["resolved_by"].split(",")) if row["resolved_by"] else (),
        resolution="" if failed else row["resolution"],
        failure=_failure(row["resolution"]) if failed else None,
        undone_by=row["undone_by"],
        undo_until=row.get("undo_until"),
        consents=tuple(given),
        decision=decision,
        orphaned=tuple(orphaned),
    )


def _consent(row: Mapping[str, Any]) -> GivenConsent:
    return GivenConsent(
        slot=row["slot"],
        principal=row["principal"],
        nonce=row["nonce"],
        receive_time=row["receive_time"],
        expire_time=row["expire_time"],
        envelope=bytes(row["envelope"]),
        revoked=bool(row["revoked"]),
    )


def resolution(ended: Proposal) -> str:
    """Return the reason of a rejection, or a failure's reason, slot and check by blanks."""
    failure = ended.failure
    if failure is None:
        return ended.resolution
    return " ".join(filter(None, (failure.reason, failure.slot, failure.check)))


def _failure(text: str) -> Failure:
    reason, _, rest = text.partition(" ")
    slot, _, check = rest.partition(" ")
    return Failure(reason, check, slot) if slot in _SLOTS else Failure(reason, rest)


class Appended(NamedTuple):
    """The rows that entries add to the log: of leaves, and of subtrees (level, place, hash)."""

    size: int
    time: int
    leaves: list[Fields]
    subtrees: list[tuple[int, int, bytes]]


async def appended(tx: LedgerWrites, space: str, entries: Sequence[Entry]) -> Appended:
    """Return the rows of entries at the end of a space's log."""
    frontier = await frontier_of(tx)
    time = await tx.now()
    leaves, subtrees = [], []
    for entry in entries:
        data = entry.encoded(space, frontier.size, format_time(time))
        leaves.append(
            {
                "place": frontier.size,
                "time": time,
                "happen_time": entry.happen_time(time),
                "action": int(entry.action),
                "actor": int(entry.actor),
                "item_id": entry.item_id,
                "proposal_id": entry.proposal_id,
                "data": data,
            }
        )
        subtrees += frontier.append(leaf_hash(data))
    return Appended(frontier.size, time, leaves, subtrees)
