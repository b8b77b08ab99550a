"""The routing table from methods to services, which gRPC and HTTP share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from concord_gateway.errors import NoUpstreamError

T = TypeVar("T")
Audience = tuple[str, ...]
"""The names of the services that take a token."""

_FORWARDED: Mapping[str, Audience] = {"dissonance": ("governance", "graph", "search")}
"""By service, those that it calls in its caller's name, with the caller's token."""


@dataclass(frozen=True)
class Upstream:
    """One service process, or several replicas behind one channel."""

    prefix: str
    channel: grpc.aio.Channel


@dataclass(frozen=True)
class Route:
    """One method and the service that its calls go to."""

    method: MethodDescriptor
    upstream: Upstream

    @property
    def path(self) -> str:
        """`/<package>.<Service>/<Method>`, the same over gRPC and HTTP."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"

    @property
    def audience(self) -> Audience:
        """The services that may take the token of a call: the method's own first; empty: any."""
        package = self.method.containing_service.file.package.split(".")
        if package[0] != "concord":
            return ()
        return (package[1], *_FORWARDED.get(package[1], ()))

    @property
    def streams(self) -> bool:
        """Whether either side sends more than one message."""
        return bool(self.method.client_streaming or self.method.server_streaming)

    @property
    def exports(self) -> bool:
        """Whether it exports a whole space or audit log: such methods begin with "Export"."""
        return bool(self.method.name.startswith("Export"))


def longest_prefix(name: str, prefixes: Mapping[str, T]) -> T:
    """The value of the longest dotted prefix of `name`. Raises `NoUpstreamError`."""
    prefix = name
    while prefix not in prefixes:
        prefix, _, _ = prefix.rpartition(".")
        if not prefix:
            raise NoUpstreamError(
                f"No upstream is configured for {name}: name one in GATEWAY_UPSTREAMS."
            )
    return prefixes[prefix]


def table(
    services: Iterable[ServiceDescriptor], upstreams: Mapping[str, Upstream]
) -> dict[str, Route]:
    """Routes by path. Raises `NoUpstreamError` if a service has no upstream."""
    routes = (
        Route(method, longest_prefix(service.full_name, upstreams))
        for service in services
        for method in service.methods
    )
    return {route.path: route for route in routes}
