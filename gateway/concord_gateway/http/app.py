"""The HTTP application: the methods by path, `/contract` with the contracts, and `/healthz`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from concord_chassis.observe import request_id as request_ids
from concord_chassis.server.workers import Workers
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route as HttpRoute
from starlette.types import ASGIApp

from concord_gateway.admission import Gate
from concord_gateway.config import Config
from concord_gateway.http import contract
from concord_gateway.http.answers import REQUEST_ID, Answers
from concord_gateway.http.lines import Lines
from concord_gateway.http.origin import OwnOriginOnly
from concord_gateway.http.session import HttpGate
from concord_gateway.http.unary import Unary
from concord_gateway.in_flight import InFlight
from concord_gateway.observation import Observation
from concord_gateway.routes import Route
from concord_gateway.upstream_failure import method_unknown

ASKED_HEADERS = [
    "authorization",
    "connect-protocol-version",
    "connect-timeout-ms",
    "content-encoding",
    "content-type",
    "x-request-id",
]


class Health(Protocol):
    """The health of the services behind the gateway."""

    async def upstreams(self) -> Mapping[str, bool]:
        """Return whether each upstream serves, by its prefix."""
        ...

    @property
    def failing(self) -> Mapping[str, Sequence[str]]:
        """The failing background tasks of those that have one, by prefix."""
        ...


def build(
    routes: Mapping[str, Route],
    gate: Gate,
    in_flight: InFlight,
    observation: Observation,
    workers: Workers,
    *,
    health: Health,
    config: Config,
    beside: Sequence[HttpRoute] = (),
) -> ASGIApp:
    """The application. `health` is shown at `/healthz`; `beside` are further paths."""
    answers = Answers(observation)
    admitting = HttpGate(gate, page=config.page)

    def answering(route: Route) -> Callable[..., object]:
        parts = (route, admitting, in_flight, observation)
        if route.method.server_streaming and not route.method.client_streaming:
            return Lines(*parts, workers=workers, config=config)
        return Unary(*parts, workers=workers, config=config).answer

    methods = [
        HttpRoute(path, answering(route), methods=["POST"]) for path, route in routes.items()
    ]
    app = Starlette(
        routes=[
            *_operator_routes(health),
            *contract.http_routes(routes.values(), workers),
            *methods,
            *beside,
            HttpRoute("/", _at_contracts, methods=["GET"]),  # unless the page is there
        ],
        middleware=[
            Middleware(
                OwnOriginOnly,
                hosts=config.http_hosts,
                origins=config.http_origins,
                answers=answers,
            ),
            *_cross_origin(config.http_origins),
        ],
        exception_handlers={HTTPException: _not_served(answers)},
    )
    app.router.redirect_slashes = False
    return app


def _cross_origin(origins: Sequence[str]) -> list[Middleware]:
    """The CORS middleware that lets pages of the allowed origins read our replies."""
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["POST"],
            allow_headers=ASKED_HEADERS,
            expose_headers=[REQUEST_ID],
        )
    ]


def _operator_routes(health: Health) -> list[HttpRoute]:
    async def healthz(_request: Request) -> Response:
        services = await health.upstreams()
        failing = health.failing
        serving = all(services.values())
        return JSONResponse(
            {
                "status": "SERVING" if serving else "NOT_SERVING",
                "services": dict(services),
                **({"failing": {name: list(failing[name]) for name in failing}} if failing else {}),
            },
            status_code=200 if serving else 503,
        )

    return [HttpRoute("/healthz", healthz, methods=["GET"])]


async def _at_contracts(_request: Request) -> Response:
    return RedirectResponse(contract.CONTRACT, 302)


def _not_served(answers: Answers) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Returns a handler that answers unknown paths and verbs with a Connect error."""

    async def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        allowed = (error.headers or {}) if isinstance(error, HTTPException) else {}
        wrong_verb = "This path takes another HTTP method: see the header `allow`."
        unknown = f"There is no such method here: see `GET {contract.CONTRACT}`."
        message = wrong_verb if status == 405 else unknown
        identity = request_ids.accept(request.headers.get(REQUEST_ID))
        return answers.refused(
            identity, method_unknown(message), status=status, headers=dict(allowed)
        )

    return answer
