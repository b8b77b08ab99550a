"""What a POST to any method is before it becomes a call: admitted, read, and converted."""

from collections.abc import Callable

from concord_chassis.server.workers import Workers
from starlette.requests import Request

from concord_gateway.admission import onward
from concord_gateway.config import Config
from concord_gateway.http import body
from concord_gateway.http import headers as http_headers
from concord_gateway.http.answers import REQUEST_ID, Answers
from concord_gateway.http.session import HttpGate
from concord_gateway.in_flight import InFlight
from concord_gateway.observation import Observation
from concord_gateway.routes import Route

LARGE = 32 << 10
"""Bodies of at least so many bytes are converted in a thread: a megabyte of JSON takes a tenth of
a second, for which the event loop would not serve other callers."""
Metadata = list[tuple[str, str | bytes]]


class Method:
    """One method over HTTP; its subclasses answer its POSTs."""

    def __init__(
        self,
        route: Route,
        gate: HttpGate,
        in_flight: InFlight,
        observation: Observation,
        *,
        workers: Workers,
        config: Config,
    ) -> None:
        self._route, self._path = route, route.path
        self._gate, self._in_flight = gate, in_flight
        self._answers = Answers(observation)
        self._workers, self._config = workers, config

    def _metadata(self, request: Request, identity: str, token: str) -> Metadata:
        """The metadata of the call, with the gateway's request id: the service logs the same."""
        own = http_headers.metadata(request.headers.items())
        own = [(REQUEST_ID, identity), *(each for each in own if each[0] != REQUEST_ID)]
        return onward(own, token)

    async def _wire(
        self, request: Request, convert: Callable[[bytes], bytes], seconds: float
    ) -> bytes:
        """The request message: the body, which must arrive within `seconds`, converted."""
        limit = self._config.max_message_bytes
        encoding = request.headers.get("content-encoding")
        sent = await body.read(request, limit, min(seconds, self._config.http_body_seconds))
        return await self._converted(convert, http_headers.decompressed(sent, encoding, limit))

    async def _converted(self, convert: Callable[[bytes], bytes], data: bytes) -> bytes:
        if len(data) < LARGE:
            return convert(data)
        return await self._workers.run(convert, data)


async def left(request: Request) -> None:
    """Returns when the client has left. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
