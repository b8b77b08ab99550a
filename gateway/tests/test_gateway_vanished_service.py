"""A service that vanishes without closing anything behind the gateway."""

import asyncio
from pathlib import Path

import grpc
import pytest
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.channel.keepalive import Keepalive
from concord_gateway import addresses
from concord_testing.relay import relay
from gateway_echo import SECONDS, Front, Request, front


async def _code_of_a_call(door: Front) -> grpc.StatusCode:
    call = door.stub.say(Request(act="echo"))
    code: grpc.StatusCode = await call.code()
    return code


async def test_a_call_to_a_service_that_vanished_ends_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W2: keepalive. A stream that would hang forever ends with a reason."""
    quick = Keepalive(idle=0.1, timeout=0.2)
    original = addresses.channel
    monkeypatch.setattr(addresses, "channel", lambda target: original(target, quick))
    async with front(tmp_path) as straight, relay(straight.upstream.address) as between:
        folder = tmp_path / "second"
        folder.mkdir()
        async with front(folder, upstreams={"gateway_echo": between.address}) as door:
            # The relay leads to the first gateway's service, which does not know this one's
            # issuer, so its refusal is what tells that the way is open. A busy machine may answer
            # a ping later than `quick` waits; then the gateway connects once more.
            async with asyncio.timeout(SECONDS):
                while (code := await _code_of_a_call(door)) is not grpc.StatusCode.UNAUTHENTICATED:
                    assert code is grpc.StatusCode.UNAVAILABLE

            between.vanish()
            call = door.stub.follow(Request(act="hang"))
            with pytest.raises(grpc.aio.AioRpcError) as lost:
                async with asyncio.timeout(SECONDS):
                    await call.read()

    assert lost.value.code() is grpc.StatusCode.UNAVAILABLE
    assert from_rpc_error(lost.value).reason == "ERROR_REASON_UNAVAILABLE"
