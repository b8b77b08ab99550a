"""The OpenAPI document against the services: what it says is what they take, refuse and reply."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from concord_gateway import contracts, routes
from concord_gateway.http import openapi
from concord_mcp.schema import message_of
from contract_cases import CONTRACTS
from contract_descriptors import METHODS, carries_request_id, one_of_each, permission
from contract_homes import Template
from contract_live import Live
from contract_search import written_live
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from openapi_spec_validator import OpenAPIV31SpecValidator
from rule_breaker import Breach, breaches, types_below

SOME = one_of_each()
SERVED = [name for name, method in METHODS.items() if not method.client_streaming]
BEYOND = (
    "NUL",
    "before year 1",
    "after year 9999",
    "finer than a microsecond",
    "negative nanos",
    "in the future",
    "no path",
    "too many paths",
    "too deep",
    "infinity",
    "no kind",
    "pattern and a newline",  # it can, but Python's `$` stands before a last newline, too
)
"""Ways of breaking a rule that a schema cannot say; the document's description names some."""
SIZED = {"google.protobuf.Struct": "too large", "": "too long"}
"""Nor how large a structure is, and bytes only by threes: by type, "" for bytes."""


def writes(method: str) -> bool:
    """Return whether a method writes."""
    return carries_request_id(METHODS[method].input_type)


@cache
def document() -> Mapping[str, Any]:
    """Return the document as the gateway makes it."""
    upstream = routes.Upstream("concord", None)  # type: ignore[arg-type]  # nothing is called
    return openapi.document(routes.table(contracts.services(), {"concord": upstream}).values())


def path_of(method: str) -> str:
    """Return the path of a method: "/package.Service/Method"."""
    service, _, name = method.rpartition(".")
    return f"/{service}/{name}"


@cache
def schemas_of(method: str) -> tuple[Draft202012Validator, Draft202012Validator]:
    """Return the validators of a method's request and of one reply."""
    post = document()["paths"][path_of(method)]["post"]
    (reply,) = post["responses"]["200"]["content"].values()
    return (
        validator(post["requestBody"]["content"]["application/json"]["schema"]),
        validator(reply["schema"]),
    )


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Return the validator of a schema that refers to others of the document."""
    whole = {**schema, "components": document()["components"]}
    return Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)


def misfits(schema: Draft202012Validator, value: object) -> list[str]:
    """Return why a value does not fit a schema, shortly."""
    return [f"{each.json_path}: {each.message[:300]}" for each in schema.iter_errors(value)]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_document_is_valid_openapi() -> None:
    """W2: against the schema of OpenAPI 3.1, its references, and its operations' ids."""
    assert [str(error) for error in OpenAPIV31SpecValidator(document()).iter_errors()] == []


def test_it_has_every_method_that_http_serves_and_nothing_else() -> None:
    """W2: each with its scope; those whose request streams are for gRPC alone."""
    described = {
        path: (list(methods), methods["post"]["security"])
        for path, methods in document()["paths"].items()
    }

    assert described.keys() == {path_of(name) for name in SERVED}
    for path, (verbs, (demanded,)) in described.items():
        assert verbs == ["post"]
        assert demanded == {"apiKey": [permission(METHODS[path[1:].replace("/", ".")])]}


def test_everything_that_a_client_may_send_is_explained() -> None:
    """W2: methods, messages, fields and reasons have the contract's comments; reasons examples."""
    components = document()["components"]
    bare = [
        *(path for path, each in document()["paths"].items() if "description" not in each["post"]),
        *(name for name, each in components["schemas"].items() if not _explained(name, each)),
    ]
    examples = components["responses"]["Error"]["content"]["application/json"]["examples"]
    reasons = components["schemas"]["concord.errors.v1.ErrorReason"]["enum"]

    assert bare == []
    assert [*examples] == reasons[1:]
    cycle = examples["ERROR_REASON_LINEAGE_CYCLE"]
    assert cycle["summary"] == "A supersedes B, then B supersedes A."
    assert cycle["value"]["code"] == "failed_precondition"
    error = validator({"$ref": "#/components/schemas/connect.Error"})
    assert [misfits(error, each["value"]) for each in examples.values()] == [[]] * len(examples)


def _explained(name: str, schema: Mapping[str, Any]) -> bool:
    fields = schema.get("properties", {}).values()
    return name.startswith("connect.") or all("description" in each for each in fields)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=() if name in SOME or not writes(name) else pytest.mark.soak)
        for name in SERVED
    ],
)
async def test_what_is_sent_and_replied_fits_the_schemas(
    method: str, template: Template, kept: Live, tmp_path: Path
) -> None:
    """W2: real requests and real replies of every read, and of a write of each service; in `make
    soak` of every method."""
    contract, home = CONTRACTS[method], template.a
    request = contract.request(home)
    assert isinstance(request, Message)
    sent, replied = schemas_of(method)
    if writes(method):
        copied = template.copy(tmp_path)
        async with written_live(method, copied, template.enrolment) as live:
            answer = await live.ask(contract.caller(home), method, request, contract.replies)
    else:
        answer = await kept.ask(contract.caller(home), method, request, contract.replies)
    lines = METHODS[method].server_streaming
    replies = [
        {"result": MessageToDict(each)} if lines else MessageToDict(each) for each in answer.replies
    ]

    assert misfits(sent, MessageToDict(request)) == []
    assert replies
    assert [found for each in replies for found in misfits(replied, each)] == []


def test_what_is_sent_fits_the_schemas(template: Template) -> None:
    """W2: the requests of every method, those of writes too."""
    for method in SERVED:
        request = CONTRACTS[method].request(template.a)
        assert isinstance(request, Message)
        assert misfits(schemas_of(method)[0], MessageToDict(request)) == []


@pytest.mark.timeout(300)
def test_what_the_rules_refuse_the_schemas_refuse(template: Template) -> None:
    """W2: each rule of each field that JSON Schema can say, broken once."""
    taken, seen, tried = [], set[str](), 0
    for method in SERVED:
        sent, _ = schemas_of(method)
        request = CONTRACTS[method].request(template.a)
        assert isinstance(request, Message)
        for breach in breaches(request, seen):
            if not is_beyond(breach, METHODS[method].input_type):
                tried += 1
                if sent.is_valid(MessageToDict(breach.message)):
                    taken.append(f"{method}: {breach.path} {breach.how}")
        seen |= types_below(METHODS[method].input_type).keys()

    assert taken == []
    assert tried > 1_000


def is_beyond(breach: Breach, kind: Descriptor) -> bool:
    """Return whether no JSON Schema can say that this rule is broken."""
    if breach.how.startswith(BEYOND):
        return True
    *above, last = re.sub(r"\[\d+\]", "", breach.path).split(".")
    for name in above:
        kind = message_of(kind.fields_by_name[name])
    field = kind.fields_by_name.get(last)  # None: a oneof
    if field is None or field.type not in {field.TYPE_BYTES, field.TYPE_MESSAGE}:
        return False
    name = field.message_type.full_name if field.message_type is not None else ""
    return SIZED.get(name) == breach.how


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("concord.search.v1.SearchService.Search", {"query": "x", "colour": "red"}),
        ("concord.search.v1.SearchService.Search", {"query": 1}),
        ("concord.search.v1.SearchService.Search", {"query": "x", "pageSize": "many"}),
        ("concord.search.v1.SearchService.Search", ["x"]),
        ("concord.search.v1.SearchService.Search", {"query": "x", "superseded": "SOMETIMES"}),
        ("concord.graph.v1.GraphService.GetNode", {"id": "a", "name": "b"}),
        ("concord.graph.v1.GraphService.GetNode", {}),
    ],
)
def test_what_the_gateway_cannot_read_the_schema_refuses(method: str, body: object) -> None:
    """W2: unknown names, wrong types, names of no value, and two or no members of a oneof."""
    assert misfits(schemas_of(method)[0], body)
