"""The table from each method to the permission that its callers need, read from the contracts.

A method without a permission stops the server from starting. Only the health and reflection
services are public; they are not in this table.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor

from concord_chassis.call.contract import ContractError


@dataclass(frozen=True)
class Method:
    """One method as its contract declares it.

    `path` is the method's name on the wire, `/package.Service/Name`; `service` is the full name of
    its service. `streams_in` and `streams_out`: many requests, many replies.
    """

    path: str
    service: str
    name: str
    permission: str
    request: Descriptor
    streams_in: bool
    streams_out: bool


def table(services: Iterable[ServiceDescriptor]) -> dict[str, Method]:
    """Returns every method of `services` by path.

    Raises `ContractError` for a method without a permission, by its name.
    """
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
