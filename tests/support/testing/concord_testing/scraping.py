"""Reads the metrics of a process or system under test, as Prometheus does."""

import random
import socket
from contextlib import ExitStack
from pathlib import Path

import httpx

LOWEST_GIVEN = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])


def free_port(neighbours: int = 1) -> int:
    """A port that nobody listens on, the first of so many, until somebody else takes one.

    It is below those that the kernel gives to whoever asks for any: a test that starts its server
    again on the same port would find it taken by some connection.
    """
    while True:
        port = random.randrange(10_000, LOWEST_GIVEN - neighbours)
        with ExitStack() as bound:
            try:
                for each in range(port, port + neighbours):
                    bound.enter_context(socket.socket()).bind(("127.0.0.1", each))
            except OSError:
                continue
            return port


def two_free_ports() -> int:
    """The first of two neighbours that nobody listens on, until somebody else takes one."""
    return free_port(2)


async def scraped(port: int) -> str:
    """The metrics that a port serves."""
    async with httpx.AsyncClient(trust_env=False, timeout=60.0) as http:
        response = await http.get(f"http://127.0.0.1:{port}/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    return response.text
