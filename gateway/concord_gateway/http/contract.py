"""The contracts to read: as an index and as OpenAPI in JSON, and as a page for people.

All three are public and the same in every system. They are made when they are first asked for.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import resources

from concord_chassis.server.workers import Workers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute

from concord_gateway.http import contract_index, contract_page, openapi
from concord_gateway.http.connect_error import JSON
from concord_gateway.http.headers import accepts
from concord_gateway.http.page import TYPES, File, file_of, response
from concord_gateway.routes import Route

CONTRACT = "/contract"


def http_routes(routes: Iterable[Route], workers: Workers) -> list[HttpRoute]:
    """`GET /contract`, `/contract/openapi.json` and `/contract/style.css`."""
    served = list(routes)

    def answering(*choices: Callable[[], File]) -> Callable[..., object]:
        """Answers with the last choice to who asks for HTML, and with the first to all others."""

        async def answer(request: Request) -> Response:
            is_read = accepts(request.headers.get("accept"), "text/html")
            chosen = choices[-1 if is_read else 0]
            varies = {"vary": "accept, accept-encoding"} if len(choices) > 1 else {}
            return response(await workers.run(chosen), request, varies)

        return answer

    document = cache(partial(openapi.document, served))
    index = cache(lambda: _json(contract_index.document(served)))
    page = cache(lambda: file_of(contract_page.html(document()).encode(), TYPES["html"]))
    whole = cache(lambda: _json(document()))
    style = cache(
        lambda: file_of((resources.files(__package__) / "contract.css").read_bytes(), TYPES["css"])
    )
    return [
        HttpRoute(CONTRACT, answering(index, page), methods=["GET"]),
        HttpRoute(f"{CONTRACT}/openapi.json", answering(whole), methods=["GET"]),
        HttpRoute(f"{CONTRACT}/style.css", answering(style), methods=["GET"]),
    ]


def _json(value: object) -> File:
    return file_of(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), JSON)
