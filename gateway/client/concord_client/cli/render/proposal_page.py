"""Renders proposals. Signed content is shown from the stored bytes alone."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from rich.console import RenderableType
from rich.text import Text

from concord_client.cli.render.failure_words import in_words
from concord_client.cli.render.page import (
    fields,
    lines,
    plural,
    shortened,
    table,
    text,
    when,
    word,
)
from concord_client.trust.review import Reviewed, kind_name

_CHECKERS = {
    "LEXICON": "the lexicon",
    "MODEL": "the lexicon and a language model",
    "MODEL_SILENT": "the lexicon alone: the language model gave no usable answer",
}


_MOST_ITEMS = 5
"""The items of a proposal that a list names."""
_MOST_SAID = 80
"""The characters of an item that a list shows."""


def stands(proposal: proposal_pb2.Proposal) -> list[RenderableType]:
    """A proposal's status in a few lines, with the slots whose consents it waits for."""
    line = text(f"Proposal {proposal.number}", "bold")
    line.append(f": {status_of(proposal)} ({kind_of(proposal.kind)})", "none")
    parts: list[RenderableType] = [line, text(proposal.framing.neutral_summary)]
    if waits := waiting_for(proposal):
        hint = f"Waits for: {waits}. Look at it: concord review {proposal.number}"
        parts.append(text(hint, "dim"))
    if because := why(proposal):
        parts.append(text(f"Because: {because}", "red"))
    return parts


def listed(proposals: list[proposal_pb2.Proposal]) -> RenderableType:
    """A table, newest first."""
    made = table("#No", "Proposal")
    for each in proposals:
        agree = f"must agree: {level_of(each.approval_level)}"
        if signatures := signed(each) or (waiting_for(each) and "nobody"):
            agree += f"; signed: {signatures}"
        parts = [
            text(each.id, "bold"),
            text(f"{status_of(each)} {kind_of(each.kind)}, until {when(each.expire_time)}"),
            text(agree),
            text(each.summary or each.framing.neutral_summary),
            *_items(each),
        ]
        made.add_row(str(each.number), lines(*parts))
    return made


def _items(proposal: proposal_pb2.Proposal) -> list[Text]:
    """The items that it touches, a line each: the id, or what a new one says."""
    found = []
    for each in proposal.affected[:_MOST_ITEMS]:
        kind = word(type_pb2.ItemKind, each.kind)
        head = f"{kind}:{each.id}" if each.etag else f"new {kind}"
        says = f"  {shortened(each.statement, _MOST_SAID)}" if each.statement else ""
        found.append(text(head, "dim").append_text(text(says, "dim")))
    more = len(proposal.affected) - len(found)
    return [*found, text(f"and {plural(more, 'item')} more", "dim")] if more else found


def reviewed(
    found: Reviewed, proposal: proposal_pb2.Proposal, words: Mapping[str, str]
) -> list[RenderableType]:
    """A revision's content except its note (`noted`), its bytes, and the checks that they passed.

    `words`: the present content of items by id, which the server gives and no digest covers. The
    content of a new item is in the bytes.
    """
    said = found.document
    framing = said["framing"]
    pairs = [
        ("proposal", f"{said['number']}, revision {said['revision']}"),
        ("status", status_of(proposal)),
        ("kind", said["kind"].lower().replace("_", " ")),
        ("must agree", "agent and human" if said["approval_level"] == "BILATERAL" else "agent"),
        ("because", why(proposal)),
        ("signed by", signed(proposal)),
        ("proposer", said["proposer"]),
        ("until", said["expire_time"]),
        ("undoes", said["undo_of"]),
        ("session", said.get("session_id", "")),
        ("origin", said.get("origin", "").lower()),
        ("detected", framing["detected"]),
        ("affected", framing["affected"]),
        ("cascades to", _cascaded(said["cascaded_count"])),
        ("undo", "not possible, whatever the words say" if said.get("irreversible") else ""),
        ("if approved", framing["if_approved"]),
        ("if rejected", framing["if_rejected"]),
    ]
    items = table(
        "Item", "Is", "Version", "Needs consent", "Says, by the server; new: as is signed"
    )
    for item in said["affected"]:
        items.add_row(
            text(item["id"]),
            kind_name(item["kind"]),
            text(item["etag"] or "new"),
            "yes" if item["needs_consent"] else "no",
            text(words.get(item["id"], "")),
        )
    after = [
        (item["id"] or "new", stated)
        for item in said["affected"]
        if (stated := item.get("statement_after" if item["etag"] else "statement"))
    ]
    action = json.dumps(said["action"], indent=2, ensure_ascii=False, sort_keys=True)
    checks = [
        ("digest", f"{found.digest} = SHA-256 of these bytes"),
        ("action", f"{said['action_digest']} = SHA-256 of the action in them"),
        ("policy", said["policy_digest"]),
        ("compared by", "this machine, with the server's fields"),
    ]
    return [
        *(fields(pairs), "", items, ""),
        *((text("After it, as is signed:", "bold"), fields(after), "") if after else ()),
        *(text(action), ""),
        *(text("The stored bytes:", "bold"), text(found.canonical.decode()), "", fields(checks)),
    ]


def noted(said: Mapping[str, Any]) -> list[RenderableType]:
    """A revision's note in quotes, as its proposer's, to be shown last; nothing without one."""
    if not said.get("note"):
        return []
    head = (
        f"Note of the proposer {said['proposer']} (checked by {_CHECKERS[said['framing_check']]}):"
    )
    # its own quotation marks or line breaks must not seem to end it; the bytes above have them
    lines = said["note"].replace("\u201c", '"').replace("\u201d", '"').splitlines()
    quoted = "\n\u201c".join(lines)
    return ["", text(head, "bold"), text(f"\u201c{quoted}\u201d")]


def _cascaded(count: int) -> str:
    """The number of cascaded items, counted when the revision was made; empty for 0."""
    return f"{count} more, not listed, that need no consent, when it was proposed" if count else ""


def status_of(proposal: proposal_pb2.Proposal) -> str:
    """Its status as a word."""
    return word(proposal_pb2.ProposalStatus, proposal.status)


def why(proposal: proposal_pb2.Proposal) -> str:
    """The reason of its end: for a failure explained in words, else as it was given."""
    if not proposal.failure_reason:
        return proposal.resolution
    slot = type_pb2.Slot.Name(proposal.failed_slot).removeprefix("SLOT_")
    of_whom = f"{slot} " if proposal.failed_slot else ""
    check = f"{of_whom}{proposal.failed_check}"
    return in_words(proposal.failure_reason) + (f" (check: {check})" if check else "")


def kind_of(kind: "proposal_pb2.ProposalKind.ValueType") -> str:
    """Its kind as a word."""
    return word(proposal_pb2.ProposalKind, kind)


def level_of(level: "proposal_pb2.ApprovalLevel.ValueType") -> str:
    """Who must agree, in words."""
    both = level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
    return "agent and human" if both else "agent"


def signed(proposal: proposal_pb2.Proposal) -> str:
    """The slots whose consent is not revoked."""
    return ", ".join(_slot(each.slot) for each in proposal.consents if not each.revoked)


def waiting_for(proposal: proposal_pb2.Proposal) -> str:
    """The slots whose consents are missing; empty unless it is pending."""
    if proposal.status != proposal_pb2.PROPOSAL_STATUS_PENDING:
        return ""
    both = proposal.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL
    given = {each.slot for each in proposal.consents if not each.revoked}
    needed = (type_pb2.SLOT_AGENT, type_pb2.SLOT_HUMAN) if both else (type_pb2.SLOT_AGENT,)
    return " and ".join(_slot(slot) for slot in needed if slot not in given)


def _slot(slot: "type_pb2.Slot.ValueType") -> str:
    return word(type_pb2.Slot, slot)


def briefed(
    reply: proposal_pb2.GetBriefingResponse, pending: Iterable[proposal_pb2.Proposal] = ()
) -> list[RenderableType]:
    """How many proposals and reviews are pending and conflicts open, and the first of each.

    `pending`: the pending proposals whose items are named.
    """
    shown: list[RenderableType] = [
        text(f"{plural(reply.pending_count, 'proposal')} waiting", "bold")
    ]
    if reply.proposals:
        shown.append(_waiting(reply.proposals, {each.number: each for each in pending}))
        shown += _more(reply.pending_count, len(reply.proposals), "proposals --status pending")
    if reply.reviews:
        head = f"{plural(reply.review_count, 'conflict')} for the agent to review"
        shown += ["", text(head, "bold"), _reviews(reply.reviews)]
        shown += _more(reply.review_count, len(reply.reviews), "proposals --status pending_review")
    if reply.conflicts:
        head = (
            f"Open conflicts: {reply.potential_count} potential, {reply.confirmed_count} confirmed"
        )
        shown += ["", text(head, "bold"), _conflicts(reply.conflicts)]
        count = reply.potential_count + reply.confirmed_count
        shown += _more(count, len(reply.conflicts), "conflicts")
    if reply.graph_rolled_back:
        shown.append(
            text("The graph is older than this space's audit log: nothing is decided.", "red")
        )
    return shown


def _more(count: int, shown: int, command: str) -> list[Text]:
    """How many more there are, and the command that lists them."""
    return [text(f"and {count - shown:,} more: concord {command}", "dim")] if count > shown else []


def _waiting(
    waiting: Iterable[proposal_pb2.BriefingLine], known: Mapping[int, proposal_pb2.Proposal]
) -> RenderableType:
    made = table("#No", "Proposal")
    for each in waiting:
        missing = " and ".join(map(_slot, each.missing_slots))
        until = f"{kind_of(each.kind)}, until {when(each.expire_time)}, waits for: {missing}"
        parts = [text(each.proposal_id, "bold"), text(until), text(each.summary)]
        items = _items(known[each.number]) if each.number in known else []
        made.add_row(str(each.number), lines(*parts, *items))
    return made


def _reviews(reviews: Iterable[proposal_pb2.BriefingLine]) -> RenderableType:
    made = table("#No", "=Conflict", "Summary")
    for each in reviews:
        until = f"{kind_of(each.kind)}, until {when(each.expire_time)}"
        about = lines(text(each.conflict_id, "bold"), text(until))
        made.add_row(str(each.number), about, text(each.summary))
    return made


def _conflicts(conflicts: Iterable[proposal_pb2.ConflictLine]) -> RenderableType:
    made = table("=Conflict", "Sides")
    for each in conflicts:
        state = word(conflict_pb2.ConflictState, each.state)
        named = word(conflict_pb2.ConflictClass, each.conflict_class)
        made.add_row(
            lines(text(each.conflict_id, "bold"), text(f"{state} {named}")),
            lines(text(each.first_statement), text(each.second_statement)),
        )
    return made


def conflict_line(conflict: conflict_pb2.Conflict) -> str:
    """A conflict's class, state and both sides on a line."""
    kind = word(conflict_pb2.ConflictClass, conflict.conflict_class)
    state = word(conflict_pb2.ConflictState, conflict.state)
    return f"{kind}, {state}: {conflict.first.statement} / {conflict.second.statement}"


def logged(reply: audit_pb2.ListAuditEntriesResponse) -> RenderableType:
    """A table of entries, newest first."""
    made = table("#Entry", "When", "Who", "What", "=About", "Refused")
    for each in reply.entries:
        actor = word(type_pb2.PrincipalKind, each.actor)
        made.add_row(
            str(each.index),
            # graph's own changes and refusals have an earlier time than their entries in the log
            when(each.record_time if each.HasField("record_time") else each.time),
            text(f"{actor} {each.principal}".strip()),
            word(audit_pb2.AuditAction, each.action),
            text(each.item_id or each.proposal_id or _commanded(each)),
            text(in_words(each.reason) or "yes") if each.blocked else "",
        )
    return made


def _commanded(entry: audit_pb2.AuditEntry) -> str:
    """The key or else the space that the entry of a command on them names; of others nothing."""
    if audit_pb2.AuditAction.Name(entry.action).split("_")[2] not in ("KEY", "SPACE"):
        return ""
    said = json.loads(entry.leaf)["properties"]
    return str(said.get("key") or said.get("space", ""))


def proof_hashes(hashes: list[bytes]) -> list[RenderableType]:
    """Hashes from the leaf upwards, one a line."""
    return [text(f"  {b64encode(each).decode()}", "dim") for each in hashes]
