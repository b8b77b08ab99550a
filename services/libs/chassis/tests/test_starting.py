"""A service whose store is not yet there, and the probe of a server's health."""

import asyncio
import io
import json
from pathlib import Path

import pytest
from concord_chassis.call.identity import TokenVerifier
from concord_chassis.observe.log import json_lines
from concord_chassis.server import starting
from concord_chassis.server.health import Ready
from concord_chassis.server.probe import serves
from concord_chassis.server.server import Server
from concord_testing.serving import METRICS, new_issuer


class StoreGone(Exception):
    """The store is not there yet: waiting may help."""


class Damaged(Exception):
    """The store cannot be used: waiting does not help."""


async def test_a_late_store_is_waited_for_and_each_reason_logged_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Must hold: while the store is away each new reason is logged; then the service begins."""
    monkeypatch.setattr(starting, "FIRST_WAIT", 0.001)
    reasons = ["no host", "no host", "wrong password"]
    log = io.StringIO()

    async def begin() -> str:
        if reasons:
            raise StoreGone(reasons.pop(0))
        return "begun"

    begun = await starting.until_usable(begin, json_lines("x", stream=log), StoreGone)

    assert begun == "begun"
    written = [json.loads(line)["reason"] for line in log.getvalue().splitlines()]
    assert written == ["no host", "wrong password"]


async def test_what_no_waiting_mends_is_raised() -> None:
    """Must hold: only the given exceptions are waited out; any other is raised."""

    async def begin() -> None:
        raise Damaged

    with pytest.raises(Damaged):
        await starting.until_usable(begin, json_lines("x", stream=io.StringIO()), StoreGone)


async def test_the_probe_tells_serving_from_not_ready_and_gone(tmp_path: Path) -> None:
    """W1: the probe is True only while the server is SERVING: not before, and not after a stop."""
    address = f"unix:{tmp_path / 's'}"
    ready = False

    async def is_ready() -> bool:
        return ready

    server = _server(address, is_ready)
    assert not await asyncio.to_thread(serves, address)
    await server.start()
    assert not await asyncio.to_thread(serves, address)
    ready = True
    await server.until_ready()
    assert await asyncio.to_thread(serves, address)
    await server.stop(0)
    assert not await asyncio.to_thread(serves, address)


def _server(address: str, ready: Ready) -> Server:
    issuer = new_issuer()
    return Server(
        name="x",
        registrations=(),
        verifier=TokenVerifier({issuer.name: issuer.public_key}),
        listen=[address],
        ready=ready,
        metrics=METRICS,
        log=json_lines("x", stream=io.StringIO()),
        health_interval=0.01,
    )
