"""Metrics for Prometheus: counts and times of calls, and figures that a service reads of itself."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from concord_chassis.observe.log import Logger, json_lines

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
READ_SECONDS = 5.0
"""Seconds for reading one figure. Prometheus allows ten for a whole scrape by default."""

Family = GaugeMetricFamily | CounterMetricFamily
Labels = tuple[str, ...]
Values = Mapping[Labels, float]
"""A figure's values by the values of its labels; the key is `()` for a figure without labels."""
Read = Callable[[], Values | Awaitable[Values]]
"""Returns a figure's present values, or an awaitable of them."""


class Metrics:
    """The metrics of one registry, which several servers of a process may share.

    `handled`, `seconds` and `in_flight` are of calls, by service and method.
    """

    def __init__(self, *, log: Logger | None = None) -> None:
        self.registry = CollectorRegistry()
        self._log = json_lines("metrics") if log is None else log
        self._serving = Gauge(
            "concord_serving",
            "Whether a server's health says SERVING: 1, else 0.",
            ["server"],
            registry=self.registry,
        )
        self._deaths = Gauge(
            "concord_background_deaths",
            "Deaths in a row of a background task that has not run well since.",
            ["server", "task"],
            registry=self.registry,
        )
        self.handled = Counter(
            "concord_rpc_handled",
            "Calls that ended, by method and code.",
            ["service", "method", "code"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "concord_rpc_seconds",
            "Seconds from a call's arrival to its end.",
            ["service", "method"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "concord_rpc_in_flight",
            "Calls that have arrived and not ended.",
            ["service", "method"],
            registry=self.registry,
        )

    def serving(self, server: str, is_serving: bool) -> None:
        """Sets the gauge of a server's health."""
        self._serving.labels(server).set(is_serving)

    def deaths(self, server: str, deaths: Mapping[str, int]) -> None:
        """Sets the gauges of a server's background tasks: each one's deaths in a row."""
        for task, count in deaths.items():
            self._deaths.labels(server, task).set(count)

    def gauge(self, name: str, about: str, read: Read, labels: Sequence[str] = ()) -> None:
        """Adds a figure that goes up and down; `read` returns its values at each scrape.

        `read` runs on the event loop that is running now, for at most `READ_SECONDS`. If it fails,
        the figure is missing from the scrape, and the error is logged.

        Raises `ValueError` if the name is taken, `RuntimeError` without a running event loop.
        """
        family = partial(GaugeMetricFamily, name, about, labels=labels)
        self.registry.register(_Figure(family, read, self._log))

    def counter(self, name: str, about: str, read: Read, labels: Sequence[str] = ()) -> None:
        """Adds a figure that only goes up, as `gauge` does; Prometheus sees it as NAME_total."""
        family = partial(CounterMetricFamily, name, about, labels=labels)
        self.registry.register(_Figure(family, read, self._log))


class _Figure:
    """A figure as prometheus_client's collector. Each scrape calls `collect` in its own thread."""

    def __init__(self, family: Callable[[], Family], read: Read, log: Logger) -> None:
        self._family, self._read, self._log = family, read, log
        self._loop = asyncio.get_running_loop()

    def describe(self) -> Iterable[Family]:
        """Yields the figure without values: the registry checks that its name is not taken."""
        yield self._family()

    def collect(self) -> Iterable[Family]:
        """Yields the figure with the values of now; nothing if they cannot be read."""
        found = self._family()
        reading = asyncio.run_coroutine_threadsafe(self._values(), self._loop)
        try:
            values = reading.result(READ_SECONDS)
        except Exception as error:  # noqa: BLE001 - one figure's error hides no other figure
            reading.cancel()
            self._log.warning("figure absent", figure=found.name, exc_info=error)
            return
        for labels, value in values.items():
            found.add_metric(labels, value)
        yield found

    async def _values(self) -> Values:
        values = self._read()
        return await values if isinstance(values, Awaitable) else values
