"""What goes wrong inside is told in little: no path, no SQL, no driver's words, no secret."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import grpc
import pytest
from concord.graph.v1 import governed_pb2
from concord_chassis.call.opaque import seal, unseal
from concord_chassis.channel import channel
from concord_graph.domain.errors import StoreCorrupt, StoreUnavailable
from contract_cases import CONTRACTS
from contract_descriptors import METHODS
from contract_homes import Home, Template, paged
from contract_live import Answer, Live, graph_app, graph_live, member

GRAPH = [name for name in METHODS if name.startswith("concord.graph.")]

TELLTALE = re.compile(
    r"sqlite|select |insert |update |database|no such table|malformed|disk|traceback|File \"|\.py\b"
    r"|\.db\b|errno|/tmp|/work|0x[0-9a-f]{6}|object at|Error\(",
    re.IGNORECASE,
)
INVALID = "ERROR_REASON_PAGE_TOKEN_INVALID"
OUTWARD = {
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}


def demand_silence(answer: Answer, *more: str) -> None:
    """Fail when a refusal tells what only the log may know."""
    assert answer.refusal is not None
    told = [
        answer.refusal.message,
        *answer.refusal.metadata.values(),
        *(f"{each.field} {each.description}" for each in answer.refusal.violations),
    ]
    for text in told:
        assert not TELLTALE.search(text), text
        assert not any(secret in text for secret in more), text


def without_tables(path: Path) -> None:
    """Take the tables away under a running server."""
    with closing(sqlite3.connect(path)) as db, db:
        for table in ("node", "edge", "memory", "entry", "change", "space", "request", "genesis"):
            db.execute(f"DROP TABLE {table}")


def scribbled(path: Path) -> None:
    """Write over every page of the file."""
    size = path.stat().st_size
    path.write_bytes(b"scribbled " * (size // 10))


def gone(path: Path) -> None:
    """Remove the folder of the file."""
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("damage", [without_tables, scribbled, gone])
async def test_a_broken_store_is_not_described(
    damage: Callable[[Path], None],
    template: Template,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """W6, principle 9: every method of graph, over a store that breaks while it is served."""
    monkeypatch.setattr(channel, "RETRIES", "{}")  # the store stays broken
    folder = tmp_path / "store-of-nobodys-business"
    folder.mkdir()
    path = template.copy(folder)
    answers = []
    # Reads from before the damage cannot be flushed any more, which close() says.
    with suppress(StoreCorrupt, StoreUnavailable, sqlite3.OperationalError):
        async with graph_live(graph_app(path, enrolment=template.enrolment)) as live:
            damage(path)
            for name in GRAPH:
                contract, home = CONTRACTS[name], template.a
                answers.append(
                    await live.ask(
                        contract.caller(home), name, contract.request(home), contract.replies
                    )
                )

    for answer in answers:
        if answer.refusal is not None:
            demand_silence(answer, "nobodys-business")
    refused = [answer for answer in answers if answer.code in OUTWARD]
    assert len(refused) > 10, "the damage was not felt"


async def test_a_closed_store_is_not_described(template: Template, tmp_path: Path) -> None:
    """W6: a call that comes while the store is closed."""
    app = graph_app(template.copy(tmp_path), enrolment=template.enrolment)
    answers = {}
    with suppress(RuntimeError):  # the block closes the store a second time
        async with graph_live(app) as live:
            await app.close()
            for name in GRAPH:
                contract, home = CONTRACTS[name], template.a
                answers[name] = await live.ask(
                    contract.caller(home), name, contract.request(home), 1
                )

    assert set(answers) == set(GRAPH)
    for name, answer in answers.items():
        assert answer.code in OUTWARD, name
        demand_silence(answer)


async def test_a_secret_is_not_repeated(template: Template, tmp_path: Path) -> None:
    """W6: neither a wrong enrolment secret nor a wrong token comes back in a refusal."""
    app = graph_app(template.copy(tmp_path), enrolment=template.enrolment)
    async with graph_live(app) as live:
        request = governed_pb2.EnrolPrincipalsRequest(
            request_id="x", enrolment_secret="open sesame", genesis=template.a.genesis
        )
        wrong = await live.ask(member(template.a.fresh_space), "EnrolPrincipals", request)
        demand_silence(wrong, "open sesame", template.enrolment[template.a.fresh_space])


CURSORS = [
    *("null", "7", '"x"', "[]", '[["x"]]', '["x", 1]', "[1e99, 2]", '{"a": 1}', "[1, [2]]"),
    *("[99999999999999999999, 1]", '[9223372036854775807, [0, 1, "x"]]', "[" * 700 + "]" * 700),
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("method", paged(Home("a", parties=None)))  # type: ignore[arg-type] # no key is needed
async def test_a_forged_page_token_is_a_bad_one(
    method: str, template: Template, kept: Live
) -> None:
    """Must hold: a token that says what no page ended with is refused, not our bug."""
    request = paged(template.a)[method]
    whole = unseal(template.a.page_tokens[method]).decode()
    bugs = []
    for cursor in CURSORS:
        request.page_token = seal(f"{whole[: whole.index(',')]},{cursor}]".encode())
        answer = await kept.ask(member("a"), method, request)
        if answer.code is not grpc.StatusCode.OK and answer.reason != INVALID:
            bugs.append(f"{cursor:.20}: {answer.refusal}")

    assert bugs == []
