"""What the gateway adds: GetNode by name through it, beside the same call made directly."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from concord.graph.v1.graph_pb2 import (
    GetNodeRequest,
    GetNodeResponse,
    UpsertNodeRequest,
    UpsertNodeResponse,
)
from concord.type.v1.type_pb2 import Node
from concord_chassis.call.identity import TokenIssuer
from concord_embedded import service_keys
from concord_gateway import bootstrap, config
from concord_gateway.credentials import digest_of, new_key
from concord_governance import bootstrap as governance_parts
from concord_governance.config import LedgerConfig, SqliteConfig

from tests.bench.run import Run
from tests.bench.servers import agent, graph, nowhere, served
from tests.bench.table import Bar, Row
from tests.bench.timing import Lane

SERVICE = "/concord.graph.v1.GraphService"
NODES = 500


async def bench(run: Run) -> AsyncIterator[Row]:
    """One row."""
    folder = run.folder / "gateway"
    async with graph(folder / "graph.db") as app:
        issuer = TokenIssuer(service_keys.ensure(folder / "issuer.pem"), "gateway")
        async with served(app.registrations, issuer=issuer) as live:
            nodes = [
                UpsertNodeRequest(request_id=f"n{at}", node=Node(name=f"Node {at}"))
                for at in range(NODES)
            ]
            fill = live.lane(f"{SERVICE}/UpsertNode", nodes, UpsertNodeResponse)
            await run.caller.alternate([fill], rounds=1, calls=NODES, warm_up=0)
            asked = [GetNodeRequest(name=node.node.name) for node in nodes]
            direct = live.lane(f"{SERVICE}/GetNode", asked, GetNodeResponse)
            async with (
                _governance(direct, issuer, folder) as (keys, key),
                _before(direct, keys, key, folder) as through,
            ):
                alone, proxied = await run.caller.alternate(
                    [direct, through], rounds=run.rounds, calls=100
                )
    yield Row(
        "gateway (gRPC): GetNode by name",
        "ms",
        proxied.pair,
        floor=alone.pair,
        floor_is="the same call made directly; ratio of p50",
        ratio=proxied.at(50) / alone.at(50),
        bar=Bar(2.2),
    )


@asynccontextmanager
async def _governance(
    lane: Lane, issuer: TokenIssuer, folder: Path
) -> AsyncIterator[tuple[str, str]]:
    """Governance's address, and an API key that it knows."""
    key, caller = new_key(), agent()
    who = {"space": caller.space, "principal": caller.principal, "kind": caller.kind}
    known = folder / "keys.json"
    known.write_text(json.dumps({digest_of(key): {**who, "scopes": sorted(caller.scopes)}}))
    with nowhere("governance") as log:
        app = await governance_parts.build(
            LedgerConfig(graph_address=lane.address, keys_file=known),
            SqliteConfig(ledger_path=folder / "ledger.db"),
            issuer,
            service_keys.ensure(folder / "grants.pem"),
            service_keys.ensure(folder / "log.pem"),
            log=log,
        )
        await app.start()
        try:
            async with served(app.registrations, issuer=issuer) as live:
                yield live.serving.address, key
        finally:
            await app.close()


@asynccontextmanager
async def _before(lane: Lane, governance: str, key: str, folder: Path) -> AsyncIterator[Lane]:
    """The same calls through a gateway on TCP, with an API key."""
    settings = {
        "GATEWAY_GRPC_LISTEN": "127.0.0.1:0",
        "GATEWAY_HTTP_LISTEN": "127.0.0.1:0",
        "GATEWAY_UPSTREAMS": f"concord={lane.address},concord.governance={governance}",
        "GATEWAY_ISSUER_KEY_FILE": str(folder / "issuer.pem"),
    }
    with nowhere("gateway") as log:
        gateway = bootstrap.build(config.read(settings), logger=log)
        await gateway.start()
        try:
            address = f"127.0.0.1:{gateway.grpc_port}"
            yield Lane(
                address,
                (("authorization", f"Bearer {key}"),),
                lane.method,
                lane.requests,
                lane.reply,
            )
        finally:
            await gateway.stop(0)
