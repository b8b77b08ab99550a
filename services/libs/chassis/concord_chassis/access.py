"""Who may call what: the table from method to permission, read from the contracts.

Denies by default: a method that names no permission stops the server from starting. Health and
reflection are the only exceptions, by name; they are served beside this table.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor

from concord_chassis.contract import ContractError
from concord_chassis.reflection import SERVICE_NAMES

PUBLIC_SERVICES = frozenset({"grpc.health.v1.Health", *SERVICE_NAMES})


@dataclass(frozen=True)
class Method:
    """One rpc as the contract declares it. `path` is as on the wire: `/package.Service/Name`."""

    path: str
    service: str
    name: str
    permission: str
    request: Descriptor
    streams_in: bool
    streams_out: bool


def table(services: Iterable[ServiceDescriptor]) -> dict[str, Method]:
    """Every method of `services` by path. Raises `ContractError` naming one without permission."""
    methods = (_method(each) for service in services for each in service.methods)
    return {method.path: method for method in methods}


def _method(descriptor: MethodDescriptor) -> Method:
    rules = descriptor.GetOptions().Extensions[rules_pb2.method]
    service = descriptor.containing_service.full_name
    if not rules.permission:
        raise ContractError(
            f"{service}.{descriptor.name} names no permission: "
            'give it `option (concord.rules.v1.method) = {permission: "..."}`'
        )
    return Method(
        path=f"/{service}/{descriptor.name}",
        service=service,
        name=descriptor.name,
        permission=rules.permission,
        request=descriptor.input_type,
        streams_in=descriptor.client_streaming,
        streams_out=descriptor.server_streaming,
    )
