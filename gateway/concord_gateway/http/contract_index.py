"""The contracts as one small JSON document: services, methods, and the shapes of messages."""

from collections.abc import Iterable

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from concord_gateway.routes import Route

_SCALARS = {
    getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
    for name in dir(FieldDescriptor)
    if name.startswith("TYPE_")
}


def document(routes: Iterable[Route]) -> dict[str, object]:
    """The reply to `GET /contract`, the same in every system: it is public, so without a key.

    Fields have their JSON names; a type is a scalar or a full name.
    """
    services: dict[str, list[dict[str, object]]] = {}
    messages: dict[str, dict[str, str]] = {}
    enums: dict[str, list[str]] = {}
    for route in routes:
        method = route.method
        services.setdefault(method.containing_service.full_name, []).append(_method(route))
        for kind in (method.input_type, method.output_type):
            _collect(kind, messages, enums)
    return {
        "services": [{"name": name, "methods": methods} for name, methods in services.items()],
        "messages": dict(sorted(messages.items())),
        "enums": dict(sorted(enums.items())),
    }


def _method(route: Route) -> dict[str, object]:
    method = route.method
    return {
        "name": method.name,
        "path": route.path,
        "request": method.input_type.full_name,
        "response": method.output_type.full_name,
        "clientStreaming": bool(method.client_streaming),
        "serverStreaming": bool(method.server_streaming),
        "overHttp": not method.client_streaming,
    }


def _collect(
    kind: Descriptor, messages: dict[str, dict[str, str]], enums: dict[str, list[str]]
) -> None:
    if kind.full_name in messages or kind.file.package == "google.protobuf":
        return
    messages[kind.full_name] = {field.json_name: _type(field) for field in kind.fields}
    for field in map(_value_of_map, kind.fields):
        if field.message_type is not None:
            _collect(field.message_type, messages, enums)
        if field.enum_type is not None:
            enums[field.enum_type.full_name] = _values(field.enum_type)


def _value_of_map(field: FieldDescriptor) -> FieldDescriptor:
    """The field of a map's values; any other field itself."""
    nested = field.message_type
    if nested is not None and nested.GetOptions().map_entry:
        return nested.fields_by_name["value"]
    return field


def _values(kind: EnumDescriptor) -> list[str]:
    return [value.name for value in kind.values]


def _type(field: FieldDescriptor) -> str:
    nested = field.message_type
    if nested is not None and nested.GetOptions().map_entry:
        key, value = nested.fields_by_name["key"], nested.fields_by_name["value"]
        return f"map<{_type(key)}, {_type(value)}>"
    one = nested or field.enum_type
    name = one.full_name if one is not None else _SCALARS[field.type]
    return f"repeated {name}" if field.is_repeated else name
