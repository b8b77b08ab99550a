"""Gateways before a real governance, and the people who sign in there over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx
from access_world import AccessClient
from concord.governance.v1 import access_pb2
from concord_gateway import bootstrap
from concord_gateway.bootstrap import Gateway
from concord_gateway.config import Config
from governed_world import World

ACCESS = access_pb2.DESCRIPTOR.services_by_name["AccessService"]
INVALID = (401, "ERROR_REASON_CREDENTIAL_INVALID")
EXPIRED = (401, "ERROR_REASON_CREDENTIAL_EXPIRED")
OPENED = (200, "")
UNKNOWN = "A" * 43


@dataclass(frozen=True)
class Session:
    """What a browser has of a session: a cookie, and the page's secret."""

    port: int
    cookie: str
    secret: str
    set_cookie: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Both halves, as the browser and the page send them."""
        return {
            "cookie": f"theme=dark; concord-session-{self.port}={self.cookie}",
            "x-concord-session": self.secret,
        }


@dataclass
class Door:
    """A gateway, and who comes to it over HTTP."""

    gateway: Gateway
    http: httpx.AsyncClient

    async def call(self, method: str, headers: dict[str, str], **fields: Any) -> httpx.Response:
        """Calls a method of AccessService."""
        return await self.http.post(f"/{ACCESS.full_name}/{method}", json=fields, headers=headers)

    async def who(self, session: Session) -> tuple[int, str]:
        """Whether a session opens anything: the status, and the reason if not."""
        return outcome(await self.call("GetOwnAccess", session.headers))

    async def code(self, key: str) -> str:
        """A new code of a key."""
        return str((await self.call("CreateSignIn", bearer(key))).json()["code"])

    async def post(self, value: object, headers: dict[str, str] | None = None) -> httpx.Response:
        """Signs in."""
        return await self.http.post("/session", json=value, headers=headers or {})

    async def sign_in(self, key: str, headers: dict[str, str] | None = None) -> Session:
        """A new session of a key, by a code."""
        return self.session(await self.post({"code": await self.code(key)}, headers))

    def session(self, response: httpx.Response) -> Session:
        """What a browser keeps of the answer."""
        assert response.status_code == 200, response.text
        name, _, rest = response.headers["set-cookie"].partition("=")
        port = self.gateway.http_port
        assert name == f"concord-session-{port}"
        return Session(port, rest.partition(";")[0], response.json()["secret"], rest)


@dataclass
class Doors:
    """Two gateways before one governance."""

    live: World
    ops: AccessClient
    one: Door
    two: Door

    async def key(self, space: str = "team", **fields: object) -> access_pb2.CreateKeyResponse:
        """A new key of a space."""
        return await self.ops.key(space, **fields)


def bearer(key: str) -> dict[str, str]:
    """Headers with an API key."""
    return {"authorization": f"Bearer {key}"}


def outcome(response: httpx.Response) -> tuple[int, str]:
    """The status of an answer, and its machine-readable reason."""
    if response.status_code < 400:
        return response.status_code, ""
    details = response.json().get("details", [])
    return response.status_code, next(each["debug"]["reason"] for each in details)


@asynccontextmanager
async def door_before(live: World, folder: Path, **settings: object) -> AsyncIterator[Door]:
    """A gateway that signs people in; `settings` override its configuration."""
    config = Config.model_validate(
        {
            "grpc_listen": "127.0.0.1:0",
            "http_listen": "127.0.0.1:0",
            "upstreams": {"concord.governance": live.governance.address},
            "issuer_key_file": folder / "issuer.pem",
            "page": True,
            **settings,
        }
    )
    gateway = bootstrap.build(config, services=[ACCESS])
    await gateway.start()
    url = f"http://127.0.0.1:{gateway.http_port}"
    try:
        none = CookieJar(DefaultCookiePolicy(allowed_domains=[]))  # tests state their cookies
        async with httpx.AsyncClient(
            base_url=url, trust_env=False, timeout=30, cookies=none
        ) as http:
            yield Door(gateway, http)
    finally:
        await gateway.stop(0.2)


def at(session: Session) -> dict[str, str]:
    """The Host by which the session's browser knows a gateway: both stand behind one name."""
    return {"host": f"127.0.0.1:{session.port}"}
