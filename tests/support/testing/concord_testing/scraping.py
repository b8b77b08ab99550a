"""Reads the metrics of a process or system under test, as Prometheus does."""

import socket

import httpx


def free_port() -> int:
    """A port that nobody listens on, until somebody else takes it."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def two_free_ports() -> int:
    """The first of two neighbours that nobody listens on, until somebody else takes one."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port


async def scraped(port: int) -> str:
    """The metrics that a port serves."""
    async with httpx.AsyncClient(trust_env=False, timeout=60.0) as http:
        response = await http.get(f"http://127.0.0.1:{port}/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    return response.text
