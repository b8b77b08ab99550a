from pathlib import Path

import pytest
from gateway_echo import ECHO, Front, front
from gateway_refusals import info, outcome

SAY = f"/{ECHO.full_name}/Say"
REFUSED = (403, "permission_denied", "ERROR_REASON_ORIGIN_REFUSED")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7601",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "x@y",
    ],
)
@pytest.mark.parametrize("path", ["/", "/healthz", SAY])
async def test_a_name_that_is_not_ours_reaches_nothing(door: Front, host: str, path: str) -> None:
    """W6: a page whose name was rebound to loopback gets nothing, with or without a key."""
    method = "POST" if path == SAY else "GET"
    response = await door.http.request(
        method, path, content=b"{}" if path == SAY else None, headers=door.json(host=host)
    )

    assert outcome(response) == REFUSED
    assert info(response)["metadata"] == {"header": "host"}
    assert door.servicer.taken == 0


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:7601", "[::1]:7", "localhost."]
)
async def test_loopback_is_ours(door: Front, host: str) -> None:
    """W6: every way to say this machine."""
    assert (await door.say({"act": "echo"}, host=host)).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1:1", ""],
)
async def test_a_page_of_another_site_is_refused(door: Front, origin: str) -> None:
    """W6: a browser that posts for somebody else's page is refused before the key is looked at."""
    response = await door.say({"act": "echo"}, origin=origin)

    assert outcome(response) == REFUSED
    assert info(response)["metadata"] == {"header": "origin"}
    assert "access-control-allow-origin" not in response.headers


async def test_a_page_of_our_own_is_not(door: Front) -> None:
    """W6: same origin."""
    own = f"http://127.0.0.1:{door.gateway.http_port}"

    assert (await door.say({"act": "echo"}, origin=own)).status_code == 200


async def test_configured_names_and_origins_may_come(tmp_path: Path) -> None:
    """W6: GATEWAY_HTTP_HOSTS and GATEWAY_HTTP_ORIGINS, with what a browser asks first."""
    site = "https://app.example"
    async with front(tmp_path, http_hosts=["Memory.example"], http_origins=[site]) as door:
        named = await door.say({"act": "echo"}, host="memory.example")
        assert named.status_code == 200
        allowed = await door.say({"act": "echo"}, origin=site)
        assert (200, site) == (
            allowed.status_code,
            allowed.headers["access-control-allow-origin"],
        )
        preflight = await door.http.options(
            SAY,
            headers={
                "origin": site,
                "access-control-request-method": "POST",
                "access-control-request-headers": "authorization,connect-protocol-version",
            },
        )
        assert preflight.status_code == 200
        assert outcome(await door.say({}, origin="https://other.example")) == REFUSED
