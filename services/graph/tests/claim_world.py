"""A person's and an agent's calls in one space, and short ways to name claims."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from concord.graph.v1 import claim_pb2, memory_pb2
from concord.rules.v1 import rules_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.write.standing_guard import StandingGuard
from google.protobuf.descriptor_pool import Default
from google.protobuf.field_mask_pb2 import FieldMask
from graph_world import Calls, World

CLAIMED = type_pb2.WRITE_OUTCOME_CLAIMED
OPEN = type_pb2.CLAIM_STATE_OPEN
WRITES = frozenset({"graph:read", "graph:write", "memory:read", "memory:write", "operations:undo"})
"""What a key with the scopes read and write carries, as far as graph is concerned."""


def ada(live: World, *, principal: str = "ada", governs: bool = True) -> Calls:
    """Return a person's calls."""
    scopes = WRITES | {"governed:write"} if governs else WRITES
    return live.calls(principal=principal, scopes=scopes, kind="HUMAN", origin="HUMAN")


def helper(live: World, *, principal: str = "helper", governs: bool = False) -> Calls:
    """Return an agent's calls."""
    scopes = WRITES | {"governed:write"} if governs else WRITES
    return live.calls(principal=principal, scopes=scopes, kind="AGENT", origin="AGENT")


def tool(live: World) -> Calls:
    """Return a tool's calls."""
    return live.calls(principal="cron", scopes=WRITES, kind="SYSTEM", origin="TOOL")


def said(reply: object) -> list[tuple[str, str, str]]:
    """Return (action, item, by) of the claims that a reply lists; its outcome agrees with them."""
    claims: Iterable[type_pb2.ClaimNote] = reply.claims  # type: ignore[attr-defined] # a write's
    found = [(action_name(each.action), each.item_id, each.by_id) for each in claims]
    assert (reply.outcome == CLAIMED) == bool(found)  # type: ignore[attr-defined]
    return found


def action_name(action: type_pb2.ClaimAction.ValueType) -> str:
    """Return what a claim would do, in a word."""
    return type_pb2.ClaimAction.Name(action).removeprefix("CLAIM_ACTION_")


async def claims(
    calls: Calls, state: type_pb2.ClaimState.ValueType = OPEN, **fields: object
) -> list[claim_pb2.Claim]:
    """Return the claims of a state, newest first."""
    request = claim_pb2.ListClaimsRequest(state=state, **fields)  # type: ignore[arg-type]
    return list((await calls.claim.ListClaims(request)).claims)


async def accept(calls: Calls, *numbers: int, **named: object) -> claim_pb2.AcceptClaimsResponse:
    """Accept claims."""
    which = claim_pb2.ClaimsNamed(ids=map(str, numbers), **named)  # type: ignore[arg-type]
    request = claim_pb2.AcceptClaimsRequest(request_id=calls.request_id(), named=which)
    return await calls.claim.AcceptClaims(request)


async def refuse(calls: Calls, *numbers: int, **named: object) -> claim_pb2.RefuseClaimsResponse:
    """Refuse claims."""
    which = claim_pb2.ClaimsNamed(ids=map(str, numbers), **named)  # type: ignore[arg-type]
    request = claim_pb2.RefuseClaimsRequest(request_id=calls.request_id(), named=which)
    return await calls.claim.RefuseClaims(request)


async def withdraw(calls: Calls, *numbers: int) -> claim_pb2.WithdrawClaimsResponse:
    """Withdraw claims."""
    which = claim_pb2.ClaimsNamed(ids=map(str, numbers))
    request = claim_pb2.WithdrawClaimsRequest(request_id=calls.request_id(), named=which)
    return await calls.claim.WithdrawClaims(request)


async def add(calls: Calls, content: str, **fields: object) -> memory_pb2.AddMemoryResponse:
    """Add a memory; return the whole reply."""
    return await calls.add_memory(type_pb2.Memory(content=content, **fields))  # type: ignore[arg-type]


async def update(
    calls: Calls, memory: type_pb2.Memory, *mask: str
) -> memory_pb2.UpdateMemoryResponse:
    """Update a memory; return the whole reply."""
    request = memory_pb2.UpdateMemoryRequest(
        request_id=calls.request_id(), memory=memory, update_mask=FieldMask(paths=mask)
    )
    return await calls.memory.UpdateMemory(request)


def let_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take protection and the guard of standing out: their harm is done, not refused or claimed."""
    monkeypatch.setattr("concord_graph.domain.protection.breach", lambda *_: None)
    monkeypatch.setattr(StandingGuard, "may", _anybody_may)


async def _anybody_may(*_: object) -> bool:
    return True


def with_reach(live: World, reach: str, *, principal: str = "other", kind: str = "AGENT") -> Calls:
    """Return the calls of a key with the scopes read and `reach`: append, own or write."""
    scopes = {"graph:read", "memory:read", f"graph:{reach}", f"memory:{reach}"}
    return live.calls(principal=principal, scopes=frozenset(scopes), kind=kind, origin=kind)


def let_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take out what a key that appends, or changes its own, may not reach."""

    async def nothing(*_: object) -> bool:
        return False

    monkeypatch.setattr(StandingGuard, "is_out_of_reach", nothing)


def writes() -> set[str]:
    """Return the names of graph's RPCs that a key with the scope write may call to change."""
    found = set()
    for file in ("graph", "memory", "lineage", "dialogue", "episode", "working_memory", "space"):
        found |= _writes_in(file)
    for file in ("relation", "conflict", "session", "claim", "recall", "record", "governed"):
        found |= _writes_in(file)
    return found


def _writes_in(file: str) -> set[str]:
    services = Default().FindFileByName(f"concord/graph/v1/{file}.proto").services_by_name
    return {
        method.name
        for service in services.values()
        for method in service.methods
        if method.GetOptions().Extensions[rules_pb2.method].permission
        in {"graph:write", "memory:write"}
    }
