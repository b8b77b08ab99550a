"""Graph and search behind real servers in this process, as `concord up` runs them."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from concord_chassis.failure import Translate
from concord_chassis.identity import Caller
from concord_chassis.log import json_lines
from concord_chassis.server import Registration
from concord_chassis.testing import Serving, knows_nothing, serving
from concord_graph.bootstrap import GraphApp, build
from google.protobuf.message import Message

from tests.bench.timing import Lane

TOKEN_LIFE = 3600.0
SCOPES = frozenset(
    "bench:nothing graph:read graph:write memory:read memory:write search:read".split()
)


def agent(space: str = "bench") -> Caller:
    """Who asks in benchmarks."""
    return Caller(space, "bench", SCOPES, "AGENT")


@dataclass(frozen=True)
class Served:
    """Services behind one server."""

    serving: Serving

    def lane(
        self,
        method: str,
        requests: Sequence[Message],
        reply: type[Message],
        *,
        space: str = "bench",
    ) -> Lane:
        """Calls of one method, each with the next of `requests`."""
        token = self.serving.issuer.mint(agent(space), TOKEN_LIFE)
        return Lane(
            self.serving.address,
            (("authorization", f"Bearer {token}"),),
            method,
            tuple(each.SerializeToString() for each in requests),
            reply,
        )


@asynccontextmanager
async def served(
    registrations: Sequence[Registration], translate: Translate = knows_nothing
) -> AsyncIterator[Served]:
    """A server of `registrations` that logs every call, to nowhere."""
    with Path(os.devnull).open("w") as nowhere:
        log = json_lines("bench", stream=nowhere)
        async with serving(registrations, translate=translate, log=log) as live:
            yield Served(live)


@asynccontextmanager
async def graph(store: Path) -> AsyncIterator[GraphApp]:
    """Graph on a store file, its background work running."""
    store.parent.mkdir(parents=True, exist_ok=True)
    app = build(store)
    await app.start()
    try:
        yield app
    finally:
        await app.close()
