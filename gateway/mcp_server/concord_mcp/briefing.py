"""The briefing as a text for an agent: how many wait or are open, and the first ones."""

from collections.abc import Sequence

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import conflict_pb2
from concord_attestation.visible import quoted, visible

from concord_mcp import schema
from concord_mcp.calls import Calls

URI = "concord://briefing"
NAME = "briefing"
DESCRIPTION = "How many proposals wait and conflicts are open, and the first of each."
MOST_STATEMENT = 200
"""Characters that are shown of a conflict's side."""


async def text_of(calls: Calls) -> str:
    """The briefing of the caller's space. Raises `Refusal`."""
    return in_words(
        await calls.call(
            "/concord.governance.v1.ProposalService/GetBriefing",
            proposal_pb2.GetBriefingRequest(),
            proposal_pb2.GetBriefingResponse,
        )
    )


def in_words(reply: proposal_pb2.GetBriefingResponse) -> str:
    """A briefing as a text for a model."""
    lines = []
    if reply.graph_rolled_back:
        lines.append("Nothing can be decided: graph is older than the audit log of this space.")
    lines += _proposals("for consent", reply.proposals, reply.pending_count)
    lines += _proposals("for the agent's review", reply.reviews, reply.review_count)
    lines += _conflicts(reply)
    return (
        visible("\n".join(lines)) or "Nothing waits: no proposal is pending, no conflict is open."
    )


def _proposals(what: str, shown: Sequence[proposal_pb2.BriefingLine], count: int) -> list[str]:
    if not count:
        return []
    rows = [f"- #{each.number} {each.proposal_id}: {each.summary}" for each in shown]
    waits = "proposal waits" if count == 1 else "proposals wait"
    return [f"{count} {waits} {what}:", *rows, *_more(count, rows)]


def _conflicts(reply: proposal_pb2.GetBriefingResponse) -> list[str]:
    count = reply.potential_count + reply.confirmed_count
    if not count:
        return []
    names = conflict_pb2.ConflictClass.DESCRIPTOR
    rows = []
    for each in reply.conflicts:
        named = schema.named(names, each.conflict_class)
        first, second = each.first_statement, each.second_statement
        sides = f"{quoted(first, MOST_STATEMENT)} against {quoted(second, MOST_STATEMENT)}"
        rows.append(f"- {each.conflict_id} {named}: {sides}")
    opened = "conflict is" if count == 1 else "conflicts are"
    return [f"{count} {opened} open:", *rows, *_more(count, rows)]


def _more(count: int, rows: Sequence[str]) -> list[str]:
    return [f"- and {count - len(rows)} more"] if count > len(rows) else []
