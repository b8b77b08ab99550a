"""One service of the system: its app, and the server in front of it."""

from pathlib import Path
from typing import TextIO

from concord_chassis.call.identity import TokenVerifier
from concord_chassis.observe.log import json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.tracing import Spans
from concord_chassis.server.process import App
from concord_chassis.server.server import Server


class Service:
    """An app behind a chassis server on a Unix socket."""

    def __init__(
        self,
        name: str,
        app: App,
        *,
        socket: Path,
        verifier: TokenVerifier,
        metrics: Metrics,
        spans: Spans | None,
        log: TextIO,
    ) -> None:
        self._app = app
        self._begun = False
        self._server = Server(
            name=name,
            registrations=app.registrations,
            verifier=verifier,
            listen=[f"unix:{socket}"],
            ready=app.ready,
            metrics=metrics,
            spans=spans,
            log=json_lines(name, stream=log),
            background=app.background,
        )

    async def start(self) -> None:
        """Starts the app, then listens. An app that fails to start leaves nothing open."""
        await self._app.start()
        self._begun = True
        await self._server.start()

    async def until_ready(self) -> None:
        """Waits until the app reports that it is ready."""
        await self._server.until_ready()

    async def stop(self, grace: float) -> None:
        """Ends the calls within `grace` seconds, then closes the app."""
        await self._server.stop(grace)
        if self._begun:
            await self._app.close()
