"""Connects the gateway and the four services by Unix sockets, and starts and stops them."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from concord_chassis.call.identity import TokenIssuer, TokenVerifier
from concord_chassis.config import ConfigError, load
from concord_chassis.observe import trace_exporter
from concord_chassis.observe.log import json_lines
from concord_chassis.observe.metrics import Metrics
from concord_chassis.observe.trace_exporter import SpansOf
from concord_chassis.server import metrics_server
from concord_chassis.server.process import App, Observation
from concord_chassis.server.server import BindError, Server
from concord_dissonance import bootstrap as dissonance_parts
from concord_dissonance import config as dissonance_config
from concord_gateway import bootstrap as gateway_parts
from concord_gateway import config as gateway_config
from concord_gateway.bootstrap import Gateway
from concord_gateway.errors import PortInUse, TlsRefused
from concord_governance import backup as ledger_backup
from concord_governance import bootstrap as governance_parts
from concord_governance import config as governance_config
from concord_governance.bootstrap import GovernanceApp
from concord_graph import bootstrap as graph_parts
from concord_graph.config import Limits, SqliteConfig, read_enrolment, read_store
from concord_search import bootstrap as search_parts
from concord_search import config as search_config
from concord_search.bootstrap import SearchApp
from concord_stores.neo4j_config import Neo4jConfig

from concord_embedded import credentials, service_keys
from concord_embedded.data_directory import DataDirectory
from concord_embedded.errors import StartError

LOOPBACK = "127.0.0.1"


def settings(data: DataDirectory, at: Callable[[str], str], port: int) -> Mapping[str, str]:
    """The settings that are not the environment's. `at`: the address of a service by its name."""
    services = ("graph", "search", "dissonance", "governance")
    return {
        "GRAPH_STORE_PATH": str(data.graph_store),
        "SEARCH_GRAPH_ADDRESS": at("graph"),
        "SEARCH_DISSONANCE_ADDRESS": at("dissonance"),
        "SEARCH_INDEX_PATH": str(data.index),
        "GOVERNANCE_GRAPH_ADDRESS": at("graph"),
        "GOVERNANCE_LEDGER_PATH": str(data.ledger),
        "GOVERNANCE_KEYS_FILE": str(credentials.keys_file(data)),
        "DISSONANCE_GRAPH_ADDRESS": at("graph"),
        "DISSONANCE_SEARCH_ADDRESS": at("search"),
        "DISSONANCE_GOVERNANCE_ADDRESS": at("governance"),
        "DISSONANCE_SKETCHES_PATH": str(data.sketches),
        "GATEWAY_GRPC_LISTEN": f"{LOOPBACK}:{port}",
        "GATEWAY_HTTP_LISTEN": f"{LOOPBACK}:{port + 1 if port else 0}",
        "GATEWAY_UPSTREAMS": ",".join(f"concord.{name}={at(name)}" for name in services),
        "GATEWAY_ISSUER_KEY_FILE": str(data.keys / "gateway.pem"),
        "GATEWAY_ISSUER_NAME": "gateway",
    }


class Assembly:
    """Graph, search, governance, dissonance and the gateway. Call `stop` even if `start` failed."""

    def __init__(
        self, data: DataDirectory, sockets: Path, log: TextIO, environ: Mapping[str, str], port: int
    ) -> None:
        self._data, self._sockets, self._log, self._port = data, sockets, log, port
        self._settings = {
            "GATEWAY_PAGE": "true",
            **environ,
            **settings(data, lambda name: f"unix:{self._socket(name)}", port),
        }
        self._keys = {
            name: service_keys.ensure(data.keys / f"{name}.pem") for name in service_keys.SIGNERS
        }
        self._metrics = Metrics(log=json_lines("metrics", stream=log))
        self._watched = AsyncExitStack()
        self._spans_of: SpansOf = lambda _: None
        self._services: dict[str, tuple[App, Server]] = {}
        self._gateway: Gateway | None = None
        self._governance: GovernanceApp | None = None
        self._search: SearchApp | None = None

    @property
    def gateway(self) -> Gateway:
        """The started gateway."""
        assert self._gateway is not None  # noqa: S101 - a bug of ours, not a state to handle
        return self._gateway

    @property
    def rolled_back(self) -> frozenset[str]:
        """The spaces whose graph is older than their audit log."""
        return self._governance.rolled_back if self._governance else frozenset()

    @property
    def disk_full(self) -> str:
        """Why search waits for room on the disk, and for how much; empty if it does not wait."""
        return self._search.progress.disk_full if self._search else ""

    @property
    def index_parts(self) -> tuple[int, int]:
        """How many parts of the index are ready, of how many; a part is a space's."""
        return self._search.progress.parts if self._search else (0, 0)

    async def start(self) -> None:
        """Starts the gateway, whose ports fail fastest, then all services at the same time.

        Raises `StartError`.
        """
        with _start_errors():
            await self._show()
            store = read_store(self._settings)
            if isinstance(store, SqliteConfig):
                _demand_whole(self._data)
            self._gateway = await self._start_gateway()
            # If one fails, the others are waited for: an abandoned one would keep its files open.
            outcomes = await asyncio.gather(
                self._start_graph(store),
                self._start_search(),
                self._start_governance(),
                self._start_dissonance(),
                return_exceptions=True,
            )
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome

    async def _show(self) -> None:
        """Serves metrics and sends traces, if the settings say so."""
        observation = Observation.read(self._settings)
        await self._watched.enter_async_context(
            metrics_server.exported(self._metrics.registry, observation.metrics)
        )
        log = json_lines("traces", stream=self._log)
        self._spans_of = await self._watched.enter_async_context(
            trace_exporter.exported(observation.traces, log)
        )

    async def until_ready(self) -> None:
        """Waits until each service and the gateway report that they are ready."""
        for _, server in self._services.values():
            await server.until_ready()
        while not await self.gateway.ready():  # noqa: ASYNC110 - it asks the services anew
            await asyncio.sleep(0.01)

    async def stop(self, grace: float) -> None:
        """Stops the gateway, then each service before those that it calls. Graph is the last: it
        stores the reads that were noted."""
        until = time.monotonic() + grace
        if self._gateway is not None:
            await self._gateway.stop(grace)
        for name in ("dissonance", "search", "governance", "graph"):
            if name in self._services:
                app, server = self._services[name]
                await server.stop(max(0.1, until - time.monotonic()))
                await app.close()
        await self._watched.aclose()

    async def _start_gateway(self) -> Gateway:
        gateway = gateway_parts.build(
            gateway_config.read(self._settings),
            registry=self._metrics.registry,
            spans=self._spans_of("gateway"),
            logger=json_lines("gateway", stream=self._log),
        )
        try:
            await gateway.start()
        except PortInUse as error:
            port = self._port
            raise StartError(
                f"Port {port} or {port + 1} is in use by another program: stop that one "
                f"(`ss -ltnp 'sport = :{port}'` names it), or choose another with --port."
            ) from error
        return gateway

    async def _start_graph(self, store: SqliteConfig | Neo4jConfig) -> None:
        enrolment = read_enrolment(credentials.enrolment_file(self._data))
        limits = load(Limits, self._settings, "GRAPH_")
        app = await graph_parts.build_on(
            store,
            enrolment=enrolment,
            working_capacity=limits.working_memory_capacity,
            exporters=limits.exporters,
            partitions=limits.partitions,
            confirmers=("search", "governance"),
            backups_file=self._data.last_backup,
            log=json_lines("graph", stream=self._log),
        )
        await self._serve("graph", app, service_keys.SIGNERS)

    async def _start_search(self) -> None:
        app = search_parts.build(
            load(search_config.IndexConfig, self._settings, search_config.PREFIX),
            self._issuer("search"),
            qdrant=search_config.read_qdrant(self._settings),
            log=json_lines("search", stream=self._log),
        )
        app.measure(self._metrics)
        self._search = app
        await self._serve("search", app, ("gateway", "dissonance"))

    async def _start_governance(self) -> None:
        app = await governance_parts.build(
            load(governance_config.LedgerConfig, self._settings, governance_config.PREFIX),
            governance_config.read_store(self._settings),
            self._issuer("governance"),
            service_keys.ensure(self._data.keys / "grants.pem"),
            service_keys.ensure(self._data.keys / "audit-log.pem"),
            log=json_lines("governance", stream=self._log),
        )
        app.measure(self._metrics)
        self._governance = app
        await self._serve("governance", app, ("gateway", "dissonance"))

    async def _start_dissonance(self) -> None:
        app = dissonance_parts.build(
            load(dissonance_config.Addresses, self._settings, dissonance_config.PREFIX),
            self._issuer("dissonance"),
            log=json_lines("dissonance", stream=self._log),
        )
        app.measure(self._metrics)
        await self._serve("dissonance", app, ("gateway", "search"))

    def _issuer(self, name: str) -> TokenIssuer:
        return TokenIssuer(self._keys[name], name)

    async def _serve(self, name: str, app: App, callers: Sequence[str]) -> None:
        """Starts the app, then listens. An app that fails to start leaves nothing open."""
        server = Server(
            name=name,
            registrations=app.registrations,
            verifier=TokenVerifier(
                {each: self._keys[each].public_key() for each in callers},
                service=name,
                claims=app.claims,
            ),
            listen=[f"unix:{self._socket(name)}"],
            ready=app.ready,
            metrics=self._metrics,
            spans=self._spans_of(name),
            log=json_lines(name, stream=self._log),
            background=app.background,
        )
        await app.start()
        self._services[name] = (app, server)
        await server.start()

    def _socket(self, name: str) -> Path:
        return self._sockets / f"{name}.sock"


async def deleted_spaces(data: DataDirectory, environ: Mapping[str, str]) -> frozenset[str]:
    """The names of the deleted spaces in the ledger; none of a file that cannot be read.

    Raises `StartError`.
    """
    with _start_errors():
        store = governance_config.read_store(
            {**environ, "GOVERNANCE_LEDGER_PATH": str(data.ledger)}
        )
        return await ledger_backup.deleted_spaces(store)


@contextmanager
def _start_errors() -> Iterator[None]:
    """Raise `StartError` with the text of the part that cannot start, which is for people."""
    try:
        yield
    except (
        BindError,
        ConfigError,
        TlsRefused,
        *graph_parts.START_ERRORS,
        *search_parts.START_ERRORS,
        *governance_parts.START_ERRORS,
        *dissonance_parts.START_ERRORS,
    ) as error:
        raise StartError(str(error)) from error


def _demand_whole(data: DataDirectory) -> None:
    """Refuse a directory with an index but without graph's store: memory would seem empty."""
    indexed = data.index.is_dir() and any(part.is_dir() for part in data.index.iterdir())
    if indexed and not data.graph_store.exists():
        raise StartError(
            f"{data.graph_store} is gone, but {data.index} was made from it: restore a copy from a "
            f"backup, or remove {data.index} to start with an empty memory"
        )
