"""The empty RPC: a floor itself, and what the chassis's stages add to gRPC alone."""

from collections.abc import AsyncIterator

from tests.bench import empty_rpc
from tests.bench.run import Run
from tests.bench.servers import served
from tests.bench.table import Row


async def bench(run: Run) -> AsyncIterator[Row]:
    """Two rows: bare gRPC, and the whole stack of stages."""
    async with (
        served([empty_rpc.registration()]) as chassis,
        empty_rpc.bare(f"unix:{run.folder / 'bare.sock'}") as bare,
    ):
        lanes = [bare, chassis.empty_lane()]
        alone, staged = await run.caller.alternate(lanes, rounds=run.rounds, calls=100)
    yield Row("empty RPC, bare grpc.aio", "ms", alone.pair)
    yield Row(
        "empty RPC through every stage",
        "ms",
        staged.pair,
        floor=alone.pair,
        floor_is="bare grpc.aio, no stage before the method",
        ratio=staged.at(50) / alone.at(50),
    )
