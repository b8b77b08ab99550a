"""The contracts as an OpenAPI 3.1 document, from their descriptors, rules and comments."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources

from concord.errors.v1 import errors_pb2
from concord.rules.v1 import rules_pb2
from google.protobuf.descriptor import EnumDescriptor, MethodDescriptor
from google.rpc import error_details_pb2

from concord_gateway.http.connect_error import HTTP_STATUS, JSON, code_name
from concord_gateway.http.lines import NDJSON
from concord_gateway.http.schemas import REF, Json, Schemas, described
from concord_gateway.routes import Route

ERROR, DETAIL = "connect.Error", "connect.ErrorDetail"
REASONS: EnumDescriptor = errors_pb2.DESCRIPTOR.enum_types_by_name["ErrorReason"]
_KEY = "apiKey"
_ABOUT = """\
Every method is a POST with a JSON object, in protobuf's JSON mapping: bytes are base64, enums are
names, a field with its default value is left out, and 64-bit numbers, which may be sent as numbers
or as text, come back as text. Fields may also be sent as the contract spells them (`update_mask`);
other names are refused.

Beside what the schemas say, no text holds NUL; lengths are counted after NFC normalisation; a
`Struct` has at most 65,536 bytes as JSON and 16 levels, unless its field says otherwise.

A method whose replies stream is asked with `accept: application/x-ndjson`, and answers with lines:
`{"result": {…}}` each, or `{"error": {…}}` as the last.

`connect-timeout-ms` bounds a call, and `x-request-id` names it in the logs. The same methods are
served over gRPC and Connect."""


def document(routes: Iterable[Route]) -> Json:
    """The document of all methods that HTTP serves: those whose request is one message."""
    methods = [route for route in routes if not route.method.client_streaming]
    comments = _comments()
    schemas = Schemas(
        comments,
        sent=(route.method.input_type for route in methods),
        replied=(route.method.output_type for route in methods),
    )
    schemas.named[ERROR], schemas.named[DETAIL] = _error(), _error_detail(schemas)
    services = {route.method.containing_service.full_name: None for route in methods}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Concord", "version": "v1", "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{_KEY: []}],
        "tags": [{"name": _last(name), **described(comments.get(name, ""))} for name in services],
        "paths": {
            route.path: {"post": _operation(route.method, schemas, comments)} for route in methods
        },
        "components": {
            "schemas": dict(sorted(schemas.named.items())),
            "responses": {"Error": _refusal(comments)},
            "securitySchemes": {
                _KEY: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key of `concord key create`. Each method names its scope.",
                }
            },
        },
    }


def _comments() -> Mapping[str, str]:
    """The comments of the contracts by full name; protos/generate.py writes them."""
    text = (resources.files("concord") / "comments.json").read_text("utf-8")
    found: Mapping[str, str] = json.loads(text)
    return found


def _operation(method: MethodDescriptor, schemas: Schemas, comments: Mapping[str, str]) -> Json:
    text = comments.get(method.full_name, "")
    scope = method.GetOptions().Extensions[rules_pb2.method].permission
    service = _last(method.containing_service.full_name)
    sent = schemas.name(method.input_type, is_sent=True)
    reply: Json = {"$ref": REF + schemas.name(method.output_type)}
    media, told = JSON, "The reply."
    if method.server_streaming:
        media, told = NDJSON, "The replies, a line each."
        reply = {
            "description": "One line.",
            "type": "object",
            "properties": {"result": reply, "error": {"$ref": REF + ERROR}},
            "minProperties": 1,
            "maxProperties": 1,
        }
    return {
        "operationId": f"{service}_{method.name}",
        "tags": [service],
        "summary": re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0] or method.name,
        **described(text),
        "security": [{_KEY: [scope]}],
        "requestBody": {"required": True, "content": {JSON: {"schema": {"$ref": REF + sent}}}},
        "responses": {
            "200": {"description": told, "content": {media: {"schema": reply}}},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }


def _refusal(comments: Mapping[str, str]) -> Json:
    """Why a call failed, with an example for each reason, as its comment states it."""
    examples = {
        value.name: found
        for value in REASONS.values
        if (found := _example(value.name, comments.get(f"{REASONS.full_name}.{value.name}", "")))
    }
    return {
        "description": "Why the call failed: machines read the reason among the details.",
        "content": {JSON: {"schema": {"$ref": REF + ERROR}, "examples": examples}},
    }


def _example(reason: str, comment: str) -> Json | None:
    """The error of a reason: its code is the first that the comment names; None without one."""
    code = next((word for word in re.findall(r"[A-Z_]+", comment) if word in _CODES), None)
    if code is None:
        return None
    info = error_details_pb2.ErrorInfo(reason=reason, domain="concord")
    stated = re.search(r"Example: (.+)", comment, re.DOTALL)
    return {
        **({"summary": " ".join(stated[1].split())} if stated else {}),
        **described(comment),
        "value": {
            "code": _CODES[code],
            "details": [
                {
                    "type": info.DESCRIPTOR.full_name,
                    "value": base64.b64encode(info.SerializeToString()).rstrip(b"=").decode(),
                    "debug": {"reason": reason, "domain": "concord"},
                }
            ],
        },
    }


_CODES = {code.name: code_name(code) for code in HTTP_STATUS}


def _error() -> Json:
    statuses = [f"- `{code_name(code)}`: {status}" for code, status in HTTP_STATUS.items()]
    return {
        "type": "object",
        "description": "An error as Connect writes it.",
        "required": ["code"],
        "properties": {
            "code": {
                "type": "string",
                "enum": [code_name(code) for code in HTTP_STATUS],
                "description": "\n".join(("The code; the HTTP status follows from it:", *statuses)),
            },
            "message": {"type": "string", "description": "For people; may change."},
            "details": {"type": "array", "items": {"$ref": REF + DETAIL}},
        },
    }


def _error_detail(schemas: Schemas) -> Json:
    """`debug` is in one shape, since generators make a type of it."""
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    violation = {"field": {"type": "string"}, "description": {"type": "string"}}
    of_info = "Of `google.rpc.ErrorInfo`: "
    return {
        "type": "object",
        "required": ["type", "value"],
        "properties": {
            "type": {"type": "string", "examples": ["google.rpc.ErrorInfo"]},
            "value": {
                "type": "string",
                "contentEncoding": "base64",
                "description": "The detail as protobuf bytes, without padding.",
            },
            "debug": {
                "type": "object",
                "description": "The detail as JSON.",
                "properties": {
                    "reason": {**schemas.enum(REASONS), **described(f"{of_info}the reason.")},
                    "domain": {"type": "string", **described(f'{of_info}"concord".')},
                    "metadata": {
                        **texts,
                        **described(f"{of_info}what the reason's comment names."),
                    },
                    "fieldViolations": {
                        "type": "array",
                        "items": {"type": "object", "properties": violation},
                        "description": "Of `google.rpc.BadRequest`: the fields, by their paths.",
                    },
                    "retryDelay": {
                        "type": "string",
                        "description": 'Of `google.rpc.RetryInfo`: when to call again, as "1.5s".',
                    },
                    "requestId": {
                        "type": "string",
                        "description": "Of `google.rpc.RequestInfo`: the call's name in the logs.",
                    },
                },
            },
        },
    }


def _last(name: str) -> str:
    return name.rpartition(".")[2]
