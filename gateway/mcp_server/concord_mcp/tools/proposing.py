"""The tool that proposes a change: a memory or an edge by its arguments, or any write as JSON."""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from concord.governance.v1 import proposal_pb2
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from google.protobuf import json_format

from concord_mcp.arguments import refused
from concord_mcp.tool import Argument, Json, Shape, Tool
from concord_mcp.tools.everyday import ADD_MEMORY
from concord_mcp.tools.graph import GRAPH_ADD_EDGE
from concord_mcp.tools.parts import truth

STANDS: Shape = {
    "id": "proposal.id",
    "number": "proposal.number",
    "status": "proposal.status",
    "kind": "proposal.kind",
    "level": "proposal.approval_level",
    "digest": "proposal.digest",
    "says": "proposal.framing.neutral_summary",
    "expires": "proposal.expire_time",
    "failure_reason": "proposal.failure_reason",
    "failed_check": "proposal.failed_check",
    "failed_slot": "proposal.failed_slot",
    "consents": (
        "proposal.consents",
        {"slot": "slot", "principal": "principal", "revoked": "revoked"},
    ),
}

ACTIONS = ", ".join(field.name for field in governed_pb2.GovernedAction.DESCRIPTOR.fields)
EXAMPLE = {
    "add_memory": {"memory": {"content": "I keep my word.", "edge_type": "EDGE_TYPE_CONSTITUTIVE"}}
}
FLAT_EXAMPLE = {
    "source": "helper",
    "relation": "VALUES",
    "target": "candour",
    "constitutive": True,
}
_OF_MEMORY = {each.name for each in ADD_MEMORY.arguments}
_OF_EDGE = {each.name for each in GRAPH_ADD_EDGE.arguments}
_OF_ALL = {"note"}


def _action(request: Any, value: Json) -> None:
    shown = f"For example: {json.dumps(EXAMPLE)}"
    if not isinstance(value, dict) or len(value) != 1 or None in value.values():
        raise refused("action", f"It is an object with one of {ACTIONS}. {shown}")
    try:
        json_format.ParseDict(value, request.action)
    except (json_format.ParseError, TypeError, ValueError) as error:
        raise refused("action", f"{_in_our_words(error)} {shown}") from None


def _in_our_words(error: Exception) -> str:
    """The parser's sentence without the names of Python's and protobuf's types."""
    said = " ".join(str(error).split()).replace("(except extensions)", "")
    return re.sub(r"concord\.\w+\.v1\.", "", said).rstrip(".") + "."


def _constitutive(request: Any, value: Json) -> None:
    if truth(value):
        write = getattr(request.action, request.action.WhichOneof("action"))
        item = write.memory if isinstance(write, type(request.action.add_memory)) else write.edge
        item.edge_type = type_pb2.EDGE_TYPE_CONSTITUTIVE


def _demand(given: Mapping[str, Json]) -> None:
    """A proposal is one memory, one edge, or one write as JSON."""
    stated = {name for name, value in given.items() if value is not None} - _OF_ALL
    if "action" in stated:
        if others := sorted(stated - {"action"}):
            raise refused(others[0], "`action` states the whole change: leave this out.")
    elif "content" in stated:
        if others := sorted(stated & _OF_EDGE - _OF_MEMORY):
            raise refused(others[0], "`content` proposes a memory: leave out what is an edge's.")
    elif not stated & {"source", "relation", "target"}:
        shown = json.dumps(FLAT_EXAMPLE)
        raise refused(
            "content",
            "State `content` for a memory, `source`, `relation` and `target` for an edge, or "
            f"`action`. For example: {shown}",
        )
    elif others := sorted(stated & _OF_MEMORY - _OF_EDGE):
        raise refused(others[0], "The triple proposes an edge: leave out what is a memory's.")


def _salted(request: Any) -> None:
    """Give the write a random request id, since it salts digests that outlive the action."""
    write = getattr(request.action, request.action.WhichOneof("action"))
    write.request_id = secrets.token_urlsafe(24)


def _under(action: str, argument: Argument) -> Argument:
    """An argument of the tool that does what this one proposes."""
    put = argument.put

    def put_below(request: Any, value: Json) -> None:
        if put:
            put(getattr(request.action, action), value)

    return replace(
        argument,
        path=argument.path and f"action.{action}.{argument.path}",
        required=False,
        put=put and put_below,
    )


def _flat() -> dict[str, Argument]:
    """The arguments of `add_memory` and `graph_add_edge` by name; what both have fills either."""
    found = {each.name: _under("add_memory", each) for each in ADD_MEMORY.arguments}
    for each in GRAPH_ADD_EDGE.arguments:
        of_edge = _under("upsert_edge", each)
        both = found.get(each.name)
        found[each.name] = replace(both, or_path=of_edge.path) if both else of_edge
    for name in ("valid_from", "valid_until"):  # set last, when it is known whose they are
        found[name] = found.pop(name)
    return found


SMF_PROPOSE = Tool(
    "smf_propose",
    proposal_pb2,
    "ProposalService.CreateProposal",
    "Use when what defines the agent should change: `constitutive` with a memory's `content`, or "
    "with `source`, `relation` and `target`. It stays as it is until each principal has signed.",
    (
        *_flat().values(),
        Argument(
            "action",
            "action",
            schema={"type": "object"},
            put=_action,
            hint="instead of the others, any write as JSON under its name, such as "
            f"{json.dumps(EXAMPLE)}; names: {ACTIONS}",
        ),
        Argument(
            "constitutive",
            schema={"type": "boolean"},
            put=_constitutive,
            hint="true: it defines the agent",
        ),
        Argument("note", "note", hint="yours, shown in quotes"),
    ),
    STANDS,
    demand=_demand,
    complete=_salted,
    reads=False,
    aliases={**ADD_MEMORY.aliases, **GRAPH_ADD_EDGE.aliases},
)
