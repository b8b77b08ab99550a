"""Claims, as people read them: who would do what to whose item."""

from collections.abc import Iterable, Sequence
from typing import Any

from concord.type.v1 import type_pb2
from concord_attestation.visible import quoted
from rich.console import RenderableType

from concord_client.cli.render.page import plural, show, text, when, word

MOST_NAMED = 20
MOST_SAID = 200
WOULD = {
    type_pb2.CLAIM_ACTION_SUPERSEDE: "replace",
    type_pb2.CLAIM_ACTION_DEPRECATE: "deprecate",
    type_pb2.CLAIM_ACTION_AMEND: "amend",
    type_pb2.CLAIM_ACTION_FOLLOW: "end",
    type_pb2.CLAIM_ACTION_UPDATE: "change",
    type_pb2.CLAIM_ACTION_FORGET: "forget",
    type_pb2.CLAIM_ACTION_ERASE: "erase",
    type_pb2.CLAIM_ACTION_RESTORE: "restore",
    type_pb2.CLAIM_ACTION_DELETE: "delete",
    type_pb2.CLAIM_ACTION_DECLARE: "declare a relation over",
    type_pb2.CLAIM_ACTION_RESOLVE: "resolve a conflict against",
    type_pb2.CLAIM_ACTION_CONFIRM: "confirm a conflict with",
    type_pb2.CLAIM_ACTION_DECIDE: "decide a conflict of",
}

_WHY_NOT = {
    type_pb2.CLAIM_REASON_ITEM_CHANGED: "the item changed since; its claimant has to ask again",
    type_pb2.CLAIM_REASON_ITEM_GONE: "the item is gone",
}


def is_claimed(reply: Any) -> bool:
    """Whether part of a write, or all of it, did nothing but to claim."""
    return bool(reply.outcome == type_pb2.WRITE_OUTCOME_CLAIMED)


def show_claims(reply: Any) -> None:
    """Print what a write claims, if anything, and whom to ask."""
    for each in reply.claims[:MOST_NAMED]:
        said = f"Claim {each.number}: would {WOULD[each.action]} {each.item_id} of {each.owner}'s"
        own = each.owner == each.claimant
        whom = "accept it with a key that may write" if own else "ask its owner"
        show(text(f"{said}; {whom}: concord claim accept {each.number}", "yellow"))
    if len(reply.claims) > MOST_NAMED:
        show(text(f"And {len(reply.claims) - MOST_NAMED:,} claims more: concord claims", "yellow"))


def marks(claims: Iterable[type_pb2.ClaimNote], item_id: str) -> str:
    """What is claimed at an item: "helper says that B replaces this (claim 12)"."""
    return "; ".join(_mark(each, item_id) for each in claims)


def _mark(claim: type_pb2.ClaimNote, item_id: str) -> str:
    what = "this" if claim.item_id == item_id else claim.item_id
    by = "this" if claim.by_id == item_id else claim.by_id
    by += f" ({quoted(claim.by_statement, MOST_SAID)})" if claim.by_statement else ""
    would = f"{by} would {WOULD[claim.action]}" if by else f"would {WOULD[claim.action]}"
    return f"{claim.claimant}: {would} {what} (claim {claim.number})"


def listed(claims: Sequence[Any]) -> list[RenderableType]:
    """The lines of some claims."""
    if not claims:
        return [text("No claims.")]
    lines: list[RenderableType] = []
    for each in claims:
        head = text(f"{each.number}  ", "bold")
        head.append(f"{each.claimant} would {WOULD[each.action]} {each.item_id} of {each.owner}'s")
        lines += [head, text(f"    now: {_said(each.item_statement)}", "dim")]
        if each.asks:
            lines.append(text(f"    asks: {each.asks}", "dim"))
        if each.by_id:
            lines.append(text(f"    by {each.by_id}: {_said(each.by_statement)}", "dim"))
        if each.state != type_pb2.CLAIM_STATE_OPEN:
            state = word(type_pb2.ClaimState, each.state)
            lines.append(text(f"    {state} by {each.settled_by}, {when(each.settle_time)}", "dim"))
        if each.reason:
            lines.append(text(f"    not done: {_WHY_NOT[each.reason]}", "yellow"))
    return lines


def _said(statement: str) -> str:
    """A statement in one line: none of its own lines may pass for another claim."""
    return " ".join(statement.split()) or "gone"


def grouped(claimants: Sequence[Any]) -> list[RenderableType]:
    """Who has open claims, each with the newest."""
    lines: list[RenderableType] = []
    for each in claimants:
        lines.append(text(f"{each.claimant}: {plural(each.open_count, 'open claim')}", "bold"))
        lines += listed(each.claims)
        if each.open_count > len(each.claims):
            lines.append(text(f"    and more: concord claims --claimant {each.claimant}", "dim"))
    return lines
