"""The plans of erasures by selection, kept in the store until they are done.

A plan has ids and revisions, and no name: who sends the same request again goes on with it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256

from concord_graph.domain.items import ItemKind
from concord_graph.domain.selection import Found, Kept, Options, Part, Selected, Selection, Why
from concord_graph.ports import Reads, ServiceRecord, Writes


@dataclass(frozen=True, slots=True)
class Order:
    """What a caller wants erased: what the look with this digest showed.

    `proposal_ids`: proposals whose words were erased for the same reason.
    """

    selection: Selection
    options: Options
    digest: str
    reason: str = ""
    proposal_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A begun erasure. `selection`: its salted digest, by which a look finds what is unfinished."""

    erase_id: str
    digest: str
    salt: str
    selection: str
    by: int
    options: Mapping[str, bool]
    reason: str
    items: Sequence[tuple[int, str, int, int]]
    """(kind, id, revision, part)"""
    kept: Sequence[tuple[int, str, int]]
    """(kind, id, why)"""
    ids: Sequence[str]
    proposal_ids: Sequence[str] = field(default=())

    def founds(self) -> Sequence[Found]:
        """Return the items to erase."""
        return [
            Found(ItemKind(kind), item_id, revision, Part(part))
            for kind, item_id, revision, part in self.items
        ]

    def stays(self) -> Sequence[Kept]:
        """Return what was to stay from the beginning."""
        return [
            Kept(Found(ItemKind(kind), item_id, 0, Part.SAID), Why(why))
            for kind, item_id, why in self.kept
        ]


async def plan_of(tx: Reads, digest: str) -> Plan | None:
    """Return the unfinished plan that a digest names."""
    return next((each for each in await _plans(tx) if each.digest == digest), None)


async def unfinished(tx: Reads, selection: Selection) -> str:
    """Return the digest that an unfinished erasure of the selection named; empty without one."""
    found = (p for p in await _plans(tx) if p.selection == _salted(p.salt, selection))
    return next((each.digest for each in found), "")


async def _plans(tx: Reads) -> Sequence[Plan]:
    bodies = await tx.service_records(ServiceRecord.ERASURE_PLAN, "")
    return [Plan(**json.loads(body)) for body in bodies.values() if body]


async def erased_before(tx: Reads, digest: str) -> str:
    """Return the id of the complete erasure that named a digest; empty without one."""
    for erase_id, body in (await tx.service_records(ServiceRecord.ERASURE_RECEIPT, "")).items():
        receipt = json.loads(body)
        if receipt["look_digest"] == digest and receipt["erased"]:
            return erase_id
    return ""


def _salted(salt: str, selection: Selection) -> str:
    said = json.dumps([salt, int(selection.by), *selection.names])
    return sha256(said.encode()).hexdigest()


def planned(erase_id: str, order: Order, selected: Selected) -> Plan:
    """Return the plan of an order, which the look has confirmed."""
    salt = secrets.token_hex(16)
    return Plan(
        erase_id=erase_id,
        digest=order.digest,
        salt=salt,
        selection=_salted(salt, order.selection),
        by=int(order.selection.by),
        options=asdict(order.options),
        reason=order.reason,
        items=[
            (int(each.kind), each.id, each.revision, int(each.part)) for each in selected.erased
        ],
        kept=[(int(each.found.kind), each.found.id, int(each.why)) for each in selected.kept],
        ids=selected.ids,
        proposal_ids=order.proposal_ids,
    )


async def keep_plan(tx: Writes, plan: Plan) -> None:
    """Store a plan."""
    await tx.put_service_record(ServiceRecord.ERASURE_PLAN, json.dumps(asdict(plan)), plan.erase_id)
