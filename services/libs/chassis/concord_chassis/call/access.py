"""The table from each method to the permission that its callers need, read from the contracts.

A method without a permission stops the server from starting. Only the health and reflection
services are public; they are not in this table.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor

from concord_chassis.call.contract import ContractError
from concord_chassis.call.identity import Reach, lesser

_LET_IN = {
    rules_pb2.LESSER_ADDS: (Reach.OWN, Reach.NONE),
    rules_pb2.LESSER_CHANGES: (Reach.OWN, Reach.NONE),
    rules_pb2.LESSER_OWN: (Reach.OWN,),
}
"""Which lesser forms of its permission let a call in, by what the contract says."""


@dataclass(frozen=True)
class Method:
    """One method as its contract declares it.

    `path` is the method's name on the wire, `/package.Service/Name`; `service` is the full name of
    its service. `streams_in` and `streams_out`: many requests, many replies. `reaches`: the lesser
    forms of the permission that let a call in, the furthest first.
    """

    path: str
    service: str
    name: str
    permission: str
    request: Descriptor
    streams_in: bool
    streams_out: bool
    reaches: tuple[Reach, ...] = ()

    def reach(self, scopes: Collection[str]) -> Reach | None:
        """Returns how far a call with these scopes reaches; None: it is not let in."""
        if self.permission in scopes:
            return Reach.ALL
        return next(
            (each for each in self.reaches if lesser(self.permission, each) in scopes), None
        )


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
    if rules.lesser and not rules.permission.endswith(":write"):
        raise ContractError(f"{service}.{descriptor.name} has lesser forms of {rules.permission}")
    return Method(
        path=f"/{service}/{descriptor.name}",
        service=service,
        name=descriptor.name,
        permission=rules.permission,
        request=descriptor.input_type,
        streams_in=descriptor.client_streaming,
        streams_out=descriptor.server_streaming,
        reaches=_LET_IN.get(rules.lesser, ()),
    )
