"""Refuses requests from web pages: every page in a browser can reach a gateway on loopback.

A page of another site can make the browser send requests to 127.0.0.1; these carry a foreign
`Origin`. If the site's owner lets its name resolve to 127.0.0.1 (DNS rebinding), the requests
look same-origin, but carry a foreign `Host`. Both are refused before anything else is checked.
"""

from collections.abc import Collection

import grpc
from concord_chassis.call.failure import Failure
from concord_chassis.observe import request_id as request_ids
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from concord_gateway.http.answers import Answers

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class OwnOriginOnly:
    """ASGI middleware: passes on requests with this gateway's `Host` and no foreign `Origin`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        answers: Answers,
    ) -> None:
        """`hosts`: names beside loopback, without ports. `origins`: e.g. `https://example.org`."""
        self._app = app
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._origins = frozenset(origins)
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers PERMISSION_DENIED."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            response = self._answers.refused(request_ids.new(), refusal)
            await response(scope, receive, send)

    def _refusal(self, headers: Headers) -> Failure | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or _name(hosts[0]) not in self._hosts:
            return _refused("host", "The request's Host is not a name of this gateway.")
        if origins and not (len(origins) == 1 and self._may_come_from(origins[0], hosts[0])):
            return _refused("origin", "The request comes from a page of another site.")
        return None

    def _may_come_from(self, origin: str, host: str) -> bool:
        return origin in self._origins or origin in (f"http://{host}", f"https://{host}")


def _name(host: str) -> str:
    """A Host without its port, in lower case and without the root's dot."""
    name, _, port = host.rpartition(":")
    bare = name if name and port.isdecimal() else host
    return bare.lower().removesuffix(".")


def _refused(header: str, message: str) -> Failure:
    return Failure(
        grpc.StatusCode.PERMISSION_DENIED,
        "ERROR_REASON_ORIGIN_REFUSED",
        message,
        metadata={"header": header},
    )
