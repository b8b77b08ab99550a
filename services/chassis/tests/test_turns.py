"""Writers of a space wait for each other in the process, not for a server that is gone (W1)."""

import asyncio

import pytest
from concord_chassis.neo4j_server import ServerUnavailable, Turns
from neo4j.exceptions import ServiceUnavailable


async def write(turns: Turns, began: list[int], number: int, gate: asyncio.Event) -> None:
    """Take the turn, and find the server gone once the gate is open."""
    async with turns.turn("space"):
        began.append(number)
        await gate.wait()
        raise ServiceUnavailable("bolt://secret")


async def test_who_waits_is_told_of_the_outage_at_once() -> None:
    """W1 One writer finds the server gone; those behind it do not look for it one by one."""
    turns, began, gate = Turns(), list[int](), asyncio.Event()
    async with asyncio.timeout(10):
        writing = [asyncio.create_task(write(turns, began, each, gate)) for each in range(4)]
        await asyncio.sleep(0)
        gate.set()
        outcomes = await asyncio.gather(*writing, return_exceptions=True)

    assert [type(each) for each in outcomes] == [ServerUnavailable] * 4
    assert began == [0]
    assert not any("secret" in str(each) for each in outcomes)


async def test_who_comes_after_an_outage_looks_for_the_server_again() -> None:
    """W1 An outage is no verdict on what comes later."""
    turns, gate = Turns(), asyncio.Event()
    gate.set()
    with pytest.raises(ServerUnavailable):
        await write(turns, [], 0, gate)

    async with turns.turn("space"):
        pass
