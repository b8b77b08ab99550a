"""Ledgers for tests, in the store that GOVERNANCE_STORE chooses, and proposals to put in them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from concord_governance.domain.access import ApiKey, Origin
from concord_governance.domain.documents import as_json
from concord_governance.domain.entries import Action, Actor, Entry
from concord_governance.domain.proposals import (
    Affected,
    Framing,
    FramingCheck,
    Kind,
    Level,
    Proposal,
    Revision,
    Status,
    Trigger,
)
from concord_governance.ports.ledger import Ledger, LedgerReads, LedgerWrites
from concord_stores.neo4j_config import Neo4jConfig
from concord_testing.neo4j_server import OneStore
from pydantic import SecretStr

NOW = 1_800_000_000_000_000


class Clock:
    """A clock that is set."""

    now = NOW

    def __call__(self) -> int:
        return self.now


def proposal(name: str, number: int, items: Sequence[str] = ()) -> Proposal:
    """Return a pending proposal that touches items."""
    revision = Revision(
        space="one",
        proposal_id=name,
        number=number,
        revision=1,
        proposer="agent",
        trigger=Trigger.MANUAL,
        kind=Kind.ADD,
        level=Level.AGENT,
        action={},
        action_digest="0" * 64,
        affected=tuple(Affected(item, 1, "e", needs_consent=False) for item in items),
        framing=Framing("a", "b", "c", "d", "e"),
        framing_check=FramingCheck.TEMPLATE,
        policy_digest="1" * 64,
        create_time=NOW,
        expire_time=NOW + 10,
        digest="2" * 64,
    )
    canonical = json.dumps(as_json(revision)).encode()
    return Proposal(replace(revision, canonical=canonical), Status.PENDING, create_time=NOW)


ENTRY = Entry(Action.SMF_PROPOSE, Actor.AGENT, "agent")
KEY = ApiKey(
    id="00000000000a",
    digest="a" * 64,
    space="one",
    principal="planner",
    kind=Actor.AGENT,
    scopes=("read", "graph:write"),
    origin=Origin.AGENT,
    create_time=NOW,
    created_by="ada",
    expire_time=NOW + 10,
)


async def put(ledger: Ledger, name: str, number: int, space: str = "one") -> None:
    """Write a proposal and an entry."""

    async def work(tx: LedgerWrites) -> None:
        await tx.put(None, proposal(name, number))
        await tx.append([ENTRY])

    await ledger.write(space, work)


async def size(tx: LedgerReads) -> int:
    """Return the log's size."""
    return await tx.log_size()


class Opened(Protocol):
    """Opens the ledger of a name, again if it was opened; closed when the test ends."""

    async def __call__(self, name: str, clock: Clock) -> Ledger:
        """Open it."""
        ...


def is_neo4j() -> bool:
    """Return whether the tests run on Neo4j."""
    return os.environ.get("GOVERNANCE_STORE") == "neo4j"


def settings(server: OneStore, path: Path) -> Neo4jConfig:
    """Return the settings of the store of a path; a new one is empty."""
    at = server.of(path)
    return Neo4jConfig(uri=at.uri, user=at.user, password=SecretStr(at.password))
