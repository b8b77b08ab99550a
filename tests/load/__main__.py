"""Plays load on a new system and prints what users met: `make load ARGS="--spaces 1000 …"`."""

import argparse
import asyncio
import random
import secrets
import tempfile
import time
from pathlib import Path

import uvloop

from tests.load.mix import KINDS, Client
from tests.load.system import Space, Up, counts_at_random, made, up, watched
from tests.load.traffic import Measured, play, poisson

FLOODS_AT_ONCE = 48
"""Calls that the flooding tenant has under way at any time: a key may have 64."""


async def run(asked: argparse.Namespace, system: Up) -> list[Measured]:
    """Fills a system and plays the load; returns what was measured, with a flood beside it last."""
    draw = random.Random(asked.seed)
    began = time.perf_counter()
    spaces = await made(system, counts_at_random(asked.spaces, asked.memories, draw), draw)
    system.look()
    took = time.perf_counter() - began
    print(f"filled in {took:.0f} s: {system.threads} threads, {system.descriptors} descriptors")
    found = [await _measured(asked, system, spaces, draw)]
    if asked.flood:
        flooder, others = spaces[0], spaces[1:]
        async with _flooding(system, flooder, asked.seed):
            found.append(await _measured(asked, system, others, draw))
    return found


async def _measured(
    asked: argparse.Namespace, system: Up, spaces: list[Space], draw: random.Random
) -> Measured:
    clients = [Client(system.url, spaces, draw.randrange(1 << 30)) for _ in range(asked.clients)]
    arrivals = [
        arrival
        for client in clients
        for arrival in poisson(asked.rate / asked.clients, asked.seconds, draw, client.pick)
    ]
    before = system.seconds()
    try:
        async with watched(system):
            found = await play(arrivals)
            found.processor = system.seconds() - before
            return found
    finally:
        await asyncio.gather(*(client.close() for client in clients))


class _flooding:  # noqa: N801 - reads as a verb where it is used
    """One tenant that adds as fast as the system answers, while the block runs."""

    def __init__(self, system: Up, space: Space, seed: int) -> None:
        self._client = Client(system.url, [space], seed)
        self._draw = random.Random(seed)

    async def __aenter__(self) -> None:
        self._tasks = [asyncio.create_task(self._flood()) for _ in range(FLOODS_AT_ONCE)]

    async def _flood(self) -> None:
        while True:
            _, call = self._client.pick(self._draw)
            await asyncio.gather(call(), return_exceptions=True)

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()


def report(name: str, found: Measured) -> list[str]:
    """The lines that say what one play gave."""
    each = found.processor / max(found.answered, 1) * 1000
    lines = [
        f"{name}: {found.offered} calls in {found.lasted:.1f} s, answered {found.answered} "
        f"({found.answered / found.lasted:.0f} a second, each {each:.1f} ms of a processor), "
        f"refused {dict(found.refused)}, failed {dict(found.failed)}, stalls {found.stalls}, "
        f"longest gap {found.longest_gap:.2f} s"
    ]
    for kind in KINDS:
        if kind in found.latencies:
            at = [found.at(kind, percentile) for percentile in (50, 95, 99, 100)]
            shown = ", ".join(
                f"{word} {ms:.0f}"
                for word, ms in zip(("p50", "p95", "p99", "max"), at, strict=True)
            )
            lines.append(f"  {kind:<10} {len(found.latencies[kind]):>7} calls, ms: {shown}")
    return lines


def main() -> None:
    """Reads the arguments and plays."""
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--spaces", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=10_000, help="in all; each space has one")
    parser.add_argument("--clients", type=int, default=64, help="each with a connection of its own")
    parser.add_argument("--rate", type=float, default=100.0, help="calls a second, of all clients")
    parser.add_argument("--seconds", type=float, default=60.0, help="1200 = a soak")
    parser.add_argument("--flood", action="store_true", help="once more, beside a flooding tenant")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 30))
    asked = parser.parse_args()
    print(
        f"make load ARGS={' '.join(f'--{name} {value}' for name, value in vars(asked).items())!r}"
    )
    with tempfile.TemporaryDirectory() as folder, up(Path(folder) / "data") as system:
        found = uvloop.run(run(asked, system))
        for name, each in zip(("alone", "beside a flood"), found, strict=False):
            print("\n".join(report(name, each)))
        system.look()
        print(
            f"the system: at most {system.most_megabytes:.0f} MB, {system.threads} threads, "
            f"{system.descriptors} descriptors"
        )


if __name__ == "__main__":
    main()
