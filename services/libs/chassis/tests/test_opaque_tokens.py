"""Opaque tokens: damage is found, and a page token belongs to its query and space."""

import grpc
import pytest
from concord.graph.v1 import graph_pb2
from concord_chassis.call.failure import Failure
from concord_chassis.call.identity import Caller, enter
from concord_chassis.call.opaque import Damaged, page_cursor, page_token, seal, unseal


def test_a_sealed_token_opens_to_the_same_bytes() -> None:
    """G9: an unsealed token has the sealed bytes."""
    assert unseal(seal(b"\x00\xffabc")) == b"\x00\xffabc"


@pytest.mark.parametrize(
    "change", [lambda t: t[:-1], lambda t: "A" + t, lambda t: t + "=", lambda _: "é"]
)
def test_a_damaged_token_is_refused(change) -> None:  # type: ignore[no-untyped-def] # a table of small changes
    """G9: a changed token is refused."""
    with pytest.raises(Damaged):
        unseal(change(seal(b"cursor")))


def test_a_page_token_belongs_to_its_query() -> None:
    """G9: a token of another query is refused (INVALID_ARGUMENT); the page size may change."""
    query = graph_pb2.ListNodesRequest(label="Person", page_size=2)
    token = page_token(query, ["Bob"])
    query.page_token = token
    query.page_size = 5
    assert page_cursor(query) == ["Bob"]

    other = graph_pb2.ListNodesRequest(label="City", page_token=token)
    with pytest.raises(Failure) as refused:
        page_cursor(other)
    assert refused.value.code == grpc.StatusCode.INVALID_ARGUMENT
    assert refused.value.reason == "ERROR_REASON_PAGE_TOKEN_INVALID"


async def test_a_page_token_belongs_to_its_space() -> None:
    """G9, G13: a token is refused for an equal request in another space."""
    query = graph_pb2.ListNodesRequest(label="Person")
    enter(Caller("mine", "p", frozenset(), "AGENT"))
    query.page_token = page_token(query, ["Bob"])
    assert page_cursor(query) == ["Bob"]

    enter(Caller("yours", "p", frozenset(), "AGENT"))
    with pytest.raises(Failure) as refused:
        page_cursor(query)
    assert refused.value.reason == "ERROR_REASON_PAGE_TOKEN_INVALID"


@pytest.mark.parametrize(
    "forged",
    [pytest.param(10**400, id="10**400"), 2**63, float("inf"), float("nan"), True, "1", None],
)
def test_a_forged_number_is_refused(forged: object) -> None:
    """G9: anybody can make a checksum; a number that no page has is refused as any other token."""
    query = graph_pb2.ListNodesRequest(label="Person")
    query.page_token = page_token(query, forged)

    with pytest.raises(Failure) as refused:
        page_cursor(query, float)
    assert refused.value.reason == "ERROR_REASON_PAGE_TOKEN_INVALID"
