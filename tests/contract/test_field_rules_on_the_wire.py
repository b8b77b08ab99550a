"""Each rule of each field of a request, broken once on the wire: of one method of each service and
call shape, and of every method in `make soak`."""

from collections.abc import Container, Iterator

import grpc
import pytest
from contract_cases import CONTRACTS
from contract_descriptors import METHODS, one_of_each
from contract_homes import Home, Template
from contract_live import Live, Request, heads
from google.protobuf.message import Message
from rule_breaker import Breach, breaches, types_below


def known_before() -> dict[str, set[str]]:
    """Return, by method, the message types that requests of the methods before it hold, too."""
    found, seen = {}, set[str]()
    for name in one_of_each():
        found[name] = set(seen)
        seen |= types_below(METHODS[name].input_type).keys()
    return found


KNOWN = known_before()
"""The chassis compiles the rules of a message type once, for every request that holds it."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("method", "whole"),
    [
        *((method, False) for method in one_of_each()),
        *(pytest.param(method, True, marks=pytest.mark.soak) for method in METHODS),
    ],
)
async def test_each_broken_rule_is_refused_naming_its_field(
    method: str, template: Template, kept: Live, whole: bool
) -> None:
    """Must hold: bad input is a typed error with its field, and nothing is written."""
    contract = CONTRACTS[method]
    home = template.a
    tame = []
    spaces = await heads(kept)
    known: Container[str] = () if whole else KNOWN[method]
    for breach, request in spoilt(contract.request(home), known):
        answer = await kept.ask(contract.caller(home), method, request, 1)
        fields = [each.field for each in answer.refusal.violations] if answer.refusal else []
        if (
            answer.code != grpc.StatusCode.INVALID_ARGUMENT
            or answer.reason != "ERROR_REASON_FIELD_INVALID"
            or breach.path not in fields
        ):
            tame.append(f"{breach.path} {breach.how}: {answer.refusal} {fields}")

    assert tame == []
    assert spaces == await heads(kept)


def spoilt(request: Request, known: Container[str] = ()) -> Iterator[tuple[Breach, Request]]:
    """Yield each breach with what to send: a stream is cut after its spoilt message."""
    if not isinstance(request, list):
        assert isinstance(request, Message)
        yield from ((breach, breach.message) for breach in breaches(request, known))
        return
    for place, part in enumerate(request):
        assert isinstance(part, Message)
        for breach in breaches(part, known):
            yield breach, [*request[:place], breach.message]


def test_the_breaker_finds_the_rules() -> None:
    """Principle 14: a walk that found no rules would prove nothing."""
    home = Home("a", parties=None)  # type: ignore[arg-type] # no key is needed here
    found = {
        f"{breach.path} {breach.how}"
        for breach, _ in spoilt(CONTRACTS["concord.graph.v1.GraphService.UpsertEdge"].request(home))
    }

    assert found >= {
        "request_id missing",
        "request_id NUL",
        "edge missing",
        "edge.source.name too long",
        "edge.relation blank",
        "edge.weight too large",
        "edge.weight not a number",
        "edge.properties too deep",
        "edge.edge_type undefined",
        "edge.valid_from finer than a microsecond",
    }
