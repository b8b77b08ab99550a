"""Pings find a side that vanished without closing its connections, and end no quiet connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

import grpc
import pytest
from chassis_probe import (
    READER,
    SECONDS,
    Dynamic,
    ProbeServicer,
    Request,
    Stub,
    registration,
    until,
)
from concord_chassis.channel.channel import connect
from concord_chassis.channel.keepalive import CHANNEL_KEEPALIVE, SERVER_KEEPALIVE, Keepalive
from concord_testing.relay import Relay, relay
from concord_testing.serving import Serving, serving

QUICK = Keepalive(idle=0.1, timeout=0.2, least_between=0.01)
# Tried in turn: on a busy machine the answer to a ping may take longer than the first timeouts.
PATIENT = [replace(QUICK, timeout=seconds) for seconds in (0.2, 2.0, 15.0)]
QUIET = 1.5  # seconds with many pings, but without a message


@asynccontextmanager
async def _quiet_servers(
    keepalive: Keepalive,
) -> AsyncIterator[tuple[Serving, Relay, ProbeServicer]]:
    """Runs a server behind a relay; the server sends one message of a stream and then no more."""
    calls = count()

    async def once(_request: Dynamic) -> str:
        if next(calls):
            await asyncio.Event().wait()
        return "first"

    servicer = ProbeServicer(once)
    async with (
        serving([registration(servicer)], keepalive=keepalive, grace=0) as live,
        relay(live.address) as between,
    ):
        yield live, between, servicer


async def _lost_after_quiet(keepalive: Keepalive) -> grpc.StatusCode | None:
    """Returns the code of a quiet stream whose server vanished; None if it ended before that."""
    async with (
        _quiet_servers(keepalive) as (live, between, _),
        connect(
            between.address, token=live.token(READER), cap=None, keepalive=keepalive
        ) as channel,
    ):
        stream = Stub(channel).follow(Request(act="a"))
        await stream.read()
        second = asyncio.ensure_future(stream.read())
        if (await asyncio.wait([second], timeout=QUIET))[0]:
            assert isinstance(second.exception(), grpc.aio.AioRpcError)
            return None

        between.vanish()
        async with asyncio.timeout(SECONDS):
            await asyncio.wait([second])
        assert isinstance(second.exception(), grpc.aio.AioRpcError)
        code: grpc.StatusCode = await stream.code()
        return code


async def test_a_channel_finds_that_its_server_vanished_from_a_quiet_stream() -> None:
    """W1: a quiet stream survives many pings; after its server vanished it ends (UNAVAILABLE)."""
    for keepalive in PATIENT:
        code = await _lost_after_quiet(keepalive)
        if code is not None:
            break

    assert code is grpc.StatusCode.UNAVAILABLE


async def _cut_after_quiet(keepalive: Keepalive) -> bool:
    """Waits until a vanished caller's call is cancelled; returns whether it was not before."""
    async with (
        _quiet_servers(keepalive) as (live, between, servicer),
        connect(between.address, token=live.token(READER), cap=None) as channel,
    ):
        stream = Stub(channel).follow(Request(act="a"))
        assert (await stream.read()).text == "first"
        await asyncio.sleep(QUIET)
        lived = servicer.interrupted == []

        between.vanish()

        await until(lambda: servicer.interrupted == ["a"])
        stream.cancel()
        return lived


async def test_a_server_finds_that_its_caller_vanished() -> None:
    """W1: the server cancels the call of a caller that vanished, but no quiet call before."""
    for keepalive in PATIENT:
        if await _cut_after_quiet(keepalive):
            return
    pytest.fail("a quiet stream was cut")


async def test_a_server_ends_connections_that_ping_too_often() -> None:
    """W1: a server closes a connection that is pinged more often than `least_between` allows."""
    strict = Keepalive(idle=60, timeout=20, least_between=10)
    async with (
        _quiet_servers(strict) as (live, between, _),
        connect(between.address, token=live.token(READER), cap=None, keepalive=QUICK) as channel,
    ):
        stream = Stub(channel).follow(Request(act="a"))
        await stream.read()

        with pytest.raises(grpc.aio.AioRpcError) as ended:
            async with asyncio.timeout(SECONDS):
                await stream.read()

    assert ended.value.code() is grpc.StatusCode.UNAVAILABLE


def test_our_channels_ping_no_more_often_than_our_servers_take() -> None:
    """W1: by default channels ping less often than servers allow."""
    assert CHANNEL_KEEPALIVE.idle > SERVER_KEEPALIVE.least_between
