"""The metrics' HTTP address: off by default, loopback unless allowed, no figure hides another."""

import asyncio
import io
import socket

import httpx
import pytest
from chassis_probe import READER, ProbeServicer, Request, Stub, registration
from concord_chassis.config import ConfigError
from concord_chassis.observe.log import json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.server.metrics_server import exported, read
from concord_chassis.server.server import BindError
from concord_testing.scraping import scraped
from concord_testing.serving import serving

ANY_PORT = {"METRICS_ADDRESS": "127.0.0.1:0"}


async def test_nothing_listens_unless_an_address_is_set() -> None:
    """W6: without METRICS_ADDRESS nothing listens."""
    async with exported(Metrics().registry, read({})) as port:
        assert port == 0


async def test_calls_and_figures_are_read_over_http_and_then_no_more() -> None:
    """S10, W1: a port of its own shows calls, health and figures, until the block ends."""
    metrics = Metrics()
    waiting: dict[tuple[str, ...], float] = {("old",): 2.0, ("new",): 1.0}

    async def counted() -> dict[tuple[str, ...], float]:
        await asyncio.sleep(0)
        return {(): 7}

    metrics.gauge("concord_probe_waiting", "What waits.", lambda: waiting, ["age"])
    metrics.counter("concord_probe_done", "What is done.", counted)
    async with exported(metrics.registry, read(ANY_PORT)) as port:
        async with serving([registration(ProbeServicer(_answer))], metrics=metrics) as live:
            await Stub(live.channel(READER)).ask(Request(act="a"))
            during = await scraped(port)
        waiting[("old",)] = 3.0
        after = await scraped(port)

    assert 'concord_rpc_handled_total{code="OK",method="Ask"' in during
    assert 'concord_rpc_seconds_bucket{le="0.005",method="Ask"' in during
    assert 'concord_serving{server="test"} 1.0' in during
    assert 'concord_serving{server="test"} 0.0' in after
    assert 'concord_probe_waiting{age="old"} 2.0' in during
    assert 'concord_probe_waiting{age="old"} 3.0' in after
    assert "concord_probe_done_total 7.0" in during
    with pytest.raises(httpx.ConnectError):
        await scraped(port)


async def test_a_figure_that_cannot_be_read_is_absent_and_hides_no_other() -> None:
    """Style 9: a figure whose store fails is logged; the scrape has all other figures."""
    stream = io.StringIO()
    metrics = Metrics(log=json_lines("probe", stream=stream))

    async def silent() -> dict[tuple[str, ...], float]:
        raise RuntimeError("the store does not answer")

    metrics.gauge("concord_probe_silent", "Cannot be read.", silent)
    metrics.gauge("concord_probe_sound", "Can.", lambda: {(): 1})
    async with exported(metrics.registry, read(ANY_PORT)) as port:
        text = await scraped(port)

    assert "concord_probe_sound 1.0" in text
    assert "concord_probe_silent" not in text
    assert '"figure": "concord_probe_silent"' in stream.getvalue()
    assert "the store does not answer" in stream.getvalue()


@pytest.mark.parametrize("address", ["0.0.0.0:9464", "[::]:9464", "metrics.example:1"])
def test_an_address_beyond_loopback_must_be_meant(address: str) -> None:
    """W6: an address that is not loopback needs a setting, which the error names."""
    with pytest.raises(ConfigError, match="METRICS_PLAIN_TEXT_NETWORK=true"):
        read({"METRICS_ADDRESS": address})

    meant = {"METRICS_ADDRESS": address, "METRICS_PLAIN_TEXT_NETWORK": "true"}
    assert read(meant).address == address


@pytest.mark.parametrize("address", ["9464", "127.0.0.1", "127.0.0.1:port", "a b:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    """Style 8: a malformed address is refused at the start; the error names the setting."""
    with pytest.raises(ConfigError, match="METRICS_ADDRESS is not valid"):
        read({"METRICS_ADDRESS": address})


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "[::1]"])
def test_loopback_has_several_names(host: str) -> None:
    """W6: every name and address of loopback needs no other setting."""
    assert read({"METRICS_ADDRESS": f"{host}:9464"}).address == f"{host}:9464"


@pytest.mark.parametrize("port", ["taken", "99999"])
async def test_an_address_that_cannot_be_had_is_a_sentence(port: str) -> None:
    """W4: if the server cannot listen on the address, the error names the setting."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1] if port == "taken" else int(port)
        config = read({"METRICS_ADDRESS": f"127.0.0.1:{number}"})
        with pytest.raises(BindError, match="METRICS_ADDRESS"):
            async with exported(Metrics().registry, config):
                pass


async def _answer(_request: object) -> str:
    return "fine"
