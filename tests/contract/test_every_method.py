"""Each method of each contract, through a real server: success, bad input, replay.

The descriptors say which methods there are; one without cases fails here by its name. That what
another space has is as if it did not exist, `tests/security/test_space_isolation.py` shows.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from concord.type.v1 import type_pb2
from contract_cases import CONTRACTS, SERVED
from contract_descriptors import METHODS, carries_request_id, permission, services
from contract_governance import ledger_of
from contract_homes import Template
from contract_live import Answer, Live, heads
from contract_registry import Answered, Contract, Refused
from contract_search import written_live
from google.protobuf.message import Message
from rule_breaker import has_rules

EVERY = pytest.mark.parametrize("method", METHODS)
WRITES = [name for name, each in METHODS.items() if carries_request_id(each.input_type)]
SHARED = pytest.mark.asyncio(loop_scope="module")


def contract_of(method: str) -> Contract:
    """Return the cases of a method."""
    assert method in CONTRACTS, f"{method} has no contract cases: add it to contract_cases.py"
    return CONTRACTS[method]


def meets(expected: Refused | Answered, answer: Answer) -> None:
    """Fail unless an answer is as demanded."""
    assert expected.unmet_by(answer) == ""


@EVERY
def test_a_method_has_cases_a_permission_and_an_idempotent_write(method: str) -> None:
    """W1: the walk over the descriptors. W6: every method names its permission. Must hold: where a
    field has a rule, a bad field is tried."""
    contract = contract_of(method)
    request = METHODS[method].input_type
    writes = carries_request_id(request)
    is_spoilt = contract.bad_input is not Contract.bad_input

    assert permission(METHODS[method])
    assert writes == (contract.other is not None), "exactly the writes have a replay case"
    assert writes == permission(METHODS[method]).endswith(":write"), "a write has a request_id"
    assert is_spoilt or not has_rules(request), "its fields have rules: break one in `bad_input`"


def test_no_case_is_of_a_method_that_is_gone() -> None:
    """W1: the table and the contracts are one set."""
    assert set(METHODS) == set(CONTRACTS)
    assert {each.full_name for each in services()} == set(SERVED)


@SHARED
@EVERY
async def test_success(method: str, template: Template, kept: Live, tmp_path: Path) -> None:
    """W1: the method does what its contract says."""
    contract = contract_of(method)
    async with serving(method, template, kept, tmp_path) as live:
        home = template.a
        answer = await live.ask(
            contract.caller(home), method, contract.request(home), contract.replies
        )

    meets(Answered(lambda reply: bool(contract.success(reply, home))), answer)


@SHARED
@EVERY
async def test_bad_input(method: str, template: Template, kept: Live) -> None:
    """Must hold: bad input is a typed error, and nothing is half-written."""
    contract = contract_of(method)
    spoilt, refused = contract.bad_input
    before = await heads(kept)
    answer = await kept.ask(contract.caller(template.a), method, spoilt(template.a), 1)

    meets(refused, answer)
    assert before == await heads(kept)


@SHARED
@pytest.mark.parametrize("method", WRITES)
async def test_replay(method: str, template: Template, kept: Live, tmp_path: Path) -> None:
    """M5, G14, design 3: the same request once more changes nothing and gets the same reply."""
    contract = contract_of(method)
    assert contract.other is not None
    home = template.a
    who = contract.caller(home)
    async with serving(method, template, kept, tmp_path) as live:
        first = await live.ask(who, method, contract.request(home))
        written = await heads(live)
        again = await live.ask(who, method, contract.request(home))
        other = await live.ask(who, method, contract.other(home))

        assert written == await heads(live)
    if contract.once:
        assert getattr(first.reply, contract.once) != getattr(again.reply, contract.once)
        for each in (first, again):
            each.reply.ClearField(contract.once)
    meets(Answered(), first)
    assert [*map(without_access, first.replies)] == [*map(without_access, again.replies)]
    meets(contract.reused, other)
    named = {METHODS[method].name} if contract.on_record is None else contract.on_record
    assert methods_on_record(tmp_path / "graph.db") == named


def methods_on_record(store: Path) -> set[str]:
    """G14: return through which methods the cases' request id wrote, by the stores' own records."""
    found = set()
    for path, table in ((store, "change"), (store, "request"), (ledger_of(store), "request")):
        with closing(sqlite3.connect(path)) as db:
            sql = f"SELECT DISTINCT method FROM {table} WHERE request_id = 'r'"
            found |= {method for (method,) in db.execute(sql).fetchall()}
    return found


@asynccontextmanager
async def serving(method: str, template: Template, kept: Live, folder: Path) -> AsyncIterator[Live]:
    """Serve a fresh copy of both homes to a write, and the kept one to what changes nothing."""
    if method in WRITES:
        async with written_live(method, template.copy(folder), template.enrolment) as live:
            yield live
    else:
        yield kept


def without_access(message: Message) -> Message:
    """Return a message without access data at any depth."""
    result = type(message)()
    result.CopyFrom(message)
    _strip(result)
    return result


def _strip(message: Message) -> None:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.full_name == type_pb2.Access.DESCRIPTOR.full_name:
            message.ClearField(field.name)
        elif field.is_repeated and not field.message_type.GetOptions().map_entry:
            for item in value:
                _strip(item)
        elif not field.is_repeated:
            _strip(value)
