"""Every service and method of the contracts, found in the generated code."""

import importlib
from functools import cache
from pathlib import Path

import concord.errors.v1 as somewhere_generated
from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor

GENERATED = Path(next(iter(somewhere_generated.__path__))).parents[2]


def services() -> list[ServiceDescriptor]:
    """Return every service under `concord/`, by full name."""
    found: dict[str, ServiceDescriptor] = {}
    for file in sorted((GENERATED / "concord").rglob("*_pb2.py")):
        module = importlib.import_module(
            ".".join(file.relative_to(GENERATED).with_suffix("").parts)
        )
        found |= {each.full_name: each for each in module.DESCRIPTOR.services_by_name.values()}
    return [found[name] for name in sorted(found)]


def methods() -> dict[str, MethodDescriptor]:
    """Return every method by its full name, such as `concord.graph.v1.GraphService.GetNode`."""
    return {each.full_name: each for service in services() for each in service.methods}


METHODS = methods()


def one_of_each() -> list[str]:
    """Return one method of each service and call shape: the chassis decides alike for the others.

    It composes the same stages into each handler, from the method's options alone.
    """
    found: dict[tuple[str, bool, bool], str] = {}
    for name, each in METHODS.items():
        shape = (each.client_streaming, each.server_streaming)
        found.setdefault((each.containing_service.full_name, *shape), name)
    return list(found.values())


def permission(method: MethodDescriptor) -> str:
    """Return the scope that a method demands; empty when it names none."""
    return str(method.GetOptions().Extensions[rules_pb2.method].permission)


def lesser(method: MethodDescriptor) -> frozenset[str]:
    """Return the lesser forms of a method's scope that let a caller in, too."""
    family = permission(method).partition(":")[0]
    match method.GetOptions().Extensions[rules_pb2.method].lesser:
        case rules_pb2.LESSER_UNSPECIFIED:
            return frozenset()
        case rules_pb2.LESSER_OWN:
            return frozenset({f"{family}:own"})
    return frozenset({f"{family}:own", f"{family}:append"})


@cache
def scopes() -> frozenset[str]:
    """Return every scope that any method demands."""
    return frozenset(map(permission, METHODS.values()))


@cache
def lesser_scopes() -> frozenset[str]:
    """Return every lesser form that lets a caller call any method."""
    return frozenset().union(*map(lesser, METHODS.values()))


def carries_request_id(request: Descriptor) -> bool:
    """Return whether a request has a `request_id`, its own or its stream header's."""
    messages = [request, *(field.message_type for field in request.fields if field.message_type)]
    own = "request_id" in request.fields_by_name
    header = any(m.name.endswith("Header") and "request_id" in m.fields_by_name for m in messages)
    return own or header
