"""Each check of an import, proven by an export that this check alone refuses."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from concord.graph.v1 import space_pb2
from concord_client.trust import signing
from forged_exports import (
    CONSENTED,
    FORGERIES,
    Records,
    change_of,
    find,
    resealed,
    told,
)
from graph_world import PROTECTED, SECRET, Calls, Clock, Parties, World, reason, refused, world
from transfers import export_of, file_of, furnish, import_into, restore_grant, restored

INVALID = "ERROR_REASON_EXPORT_INVALID"
GENESIS_INVALID = "ERROR_REASON_GENESIS_INVALID"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A full export of a furnished space."""
    return asyncio.run(_furnished(tmp_path_factory.mktemp("furnished") / "graph.db"))


async def _furnished(path: Path) -> list[str]:
    async with world(path) as live:
        await furnish(live.calls(), live.clock)
        return await export_of(live.calls())


@pytest_asyncio.fixture
async def unused(live: World) -> AsyncIterator[Calls]:
    """A space that is never used, whatever is refused there."""
    calls = live.calls("other")
    yield calls
    assert await calls.changes() == []


async def test_a_forged_export_changes_nothing(lines: list[str], unused: Calls) -> None:
    """G15 Versions, contiguity, references, digests: what does not hold refuses all of it."""
    for said, forge in FORGERIES:
        forged: Records = [json.loads(line) for line in lines]  # faster than a deep copy
        forge(forged)
        failure = await refused(import_into(unused, resealed(forged)))

        assert (failure.reason, said in failure.message) == (INVALID, True), (said, failure)
        assert failure.metadata["line"].isdigit()


async def test_a_cut_export_is_noticed(lines: list[str], unused: Calls) -> None:
    """G15 Wherever it was cut: between lines, within one, or before the last line feed."""
    whole = file_of(lines)
    cuts = [file_of(lines[:count]) for count in range(0, len(lines), 23)]
    cuts += [file_of(lines[:-1]), whole[:-1], whole[:-100], whole + b"\n", whole + whole, b""]
    for cut in cuts:
        assert await reason(import_into(unused, cut)) == INVALID


async def test_what_the_last_line_tells_must_be_so(lines: list[str], unused: Calls) -> None:
    """G15 Counts and digest are of exactly these lines, and a line has one spelling."""
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    first["counts"]["node"] += 1
    spaced = [lines[0], lines[1].replace('":', '": '), *lines[2:]]
    for forged in (
        [json.dumps(first, sort_keys=True, separators=(",", ":")), *lines[1:]],
        [*lines[:-1], lines[-1].replace(last["digest"], "0" * 64)],
        spaced,
        lines[1:],
    ):
        assert await reason(import_into(unused, forged)) == INVALID
    assert await reason(import_into(unused, b"\xff\xfe\n")) == INVALID


async def test_nothing_agreed_comes_in_without_a_genesis(lines: list[str], unused: Calls) -> None:
    """G4 G15 An export cannot bring in what both principals agreed to without the principals."""
    for what, forge in CONSENTED.items():
        records: Records = [json.loads(line) for line in lines]
        forge(records)
        assert await reason(import_into(unused, resealed(records))) == PROTECTED, what


async def test_the_header_comes_first_and_only_first(unused: Calls) -> None:
    """G15 A stream without a header, or with two, is no import."""
    header = space_pb2.ImportSpaceRequest(
        header=space_pb2.ImportHeader(request_id=unused.request_id())
    )
    piece = space_pb2.ImportSpaceRequest(piece=b"x")
    for messages in ([piece], [header, header], [piece, header], []):
        failure = await refused(unused.space_service.ImportSpace(iter(messages)))
        assert failure.violations[0].field == "part"


async def _governed(live: World) -> tuple[Parties, list[str]]:
    """Return a space's parties and its export."""
    parties, home = live.parties(), live.calls()
    await parties.enrol(home)
    await parties.constitutive_memory(home)
    return parties, await export_of(home)


async def test_each_check_of_a_restore_grant(tmp_path: Path) -> None:
    """G15 Both slots of this very genesis, for this export and space, in time: or refused."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        parties, lines = await _governed(here)
    other = signing.Signer("anna", signing.generate_key())
    signed = {"AGENT": parties.agent.public_key, "HUMAN": parties.human.public_key}
    three = [parties.agent.key, parties.human.key, other.key]
    bent: list[tuple[str, dict[str, Any]]] = [
        ("envelope payload_type", {"kind": signing.GENESIS_TYPE}),
        ("signature", {"keys": [parties.agent.key]}),
        ("envelope signature_count", {"keys": [parties.agent.key, parties.agent.key]}),
        ("signature", {"keys": [parties.agent.key, signing.generate_key()]}),
        ("signature", {"keys": [parties.agent.key, parties.governance]}),
        ("key", {"governance_key": b"short"}),
        ("distinct", {"governance_key": parties.agent.public_key}),
        ("distinct", {"standing": dict.fromkeys(signed, parties.agent.public_key)}),
        ("signature", {"standing": signed | {"HUMAN": other.public_key}}),
        ("keys", {"standing": signed | {"HUMAN": other.public_key}, "keys": three}),
        ("constitutive_digest", {"constitutive_digest": "0" * 64}),
        ("space", {"space": "other"}),
        ("genesis", {"genesis_digest": "0" * 64}),
        ("export", {"export_digest": "0" * 64}),
        ("expiry passed", {"expire_time": datetime(2027, 1, 15, 8, tzinfo=UTC)}),
        ("nonce", {"nonce": b"short"}),
    ]
    async with world(tmp_path / "b.db", clock=clock) as there:
        away = there.calls()
        for check, changed in bent:
            grant = restore_grant(parties, lines, **changed)
            failure = await refused(import_into(away, lines, grant=grant, secret=SECRET))
            assert failure.reason == "ERROR_REASON_RESTORE_INVALID"
            told = failure.metadata
            assert f"{told['check']} {told.get('detail', '')}".strip() == check
        junk = import_into(away, lines, grant=b"{}", secret=SECRET)
        told = {"check": "envelope", "detail": "envelope_fields", "field": "payload"}
        assert (await refused(junk)).metadata == told
        secret = import_into(away, lines, grant=restore_grant(parties, lines), secret="x")
        assert await reason(secret) == "ERROR_REASON_ENROLMENT_SECRET_INVALID"
        await restored(away, lines, parties)


async def test_a_genesis_is_its_own_space_s(live: World) -> None:
    """G15 V5 The principals of one space are not made those of another, whoever signs."""
    parties, lines = await _governed(live)
    grant = restore_grant(parties, lines, space="other")
    calls = live.calls("other")
    failure = await refused(import_into(calls, lines, grant=grant, secret=SECRET))

    assert (failure.reason, failure.metadata) == (GENESIS_INVALID, {"check": "space"})


async def test_parties_that_somebody_made_up_do_not_come_in(tmp_path: Path) -> None:
    """G15 V5 Who forges a history signs for it as well: the enrolment secret keeps him out."""
    clock = Clock()
    async with world(tmp_path / "a.db", clock=clock) as here:
        parties, lines = await _governed(here)
    async with world(tmp_path / "b.db", clock=clock, spaces=()) as there:
        grant = restore_grant(parties, lines)
        attempt = import_into(there.calls(), lines, grant=grant, secret=SECRET)

        assert await reason(attempt) == "ERROR_REASON_ENROLMENT_SECRET_INVALID"


async def test_a_restore_nonce_is_burnt_for_ever(tmp_path: Path) -> None:
    """G15 A grant that let an import in lets in none of what was exported after it."""
    clock, nonce = Clock(), b"n" * 32
    async with world(tmp_path / "a.db", clock=clock) as here:
        parties, lines = await _governed(here)
    async with world(tmp_path / "b.db", clock=clock) as there:
        grant = restore_grant(parties, lines, nonce=nonce)
        await import_into(there.calls(), lines, grant=grant, secret=SECRET)
        later = await export_of(there.calls())
    async with world(tmp_path / "c.db", clock=clock) as beyond:
        again = restore_grant(parties, later, nonce=nonce)
        attempt = import_into(beyond.calls(), later, grant=again, secret=SECRET)

        assert (await refused(attempt)).metadata == {"check": "nonce"}
        await restored(beyond.calls(), later, parties)
        assert (await export_of(beyond.calls()))[1:] == lines[1:]


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param({"kind": "HUMAN"}, id="a person's"),
        pytest.param({}, id="of nobody's kind: a person's, as of before"),
        pytest.param(None, id="with a person's words"),
    ],
)
async def test_an_agent_imports_no_words_as_a_persons(
    tmp_path: Path, forged: dict[str, str] | None
) -> None:
    """W8 W9 G15 Whoever writes a file that fits makes nothing in it stand above themselves; a
    person does import what persons wrote."""
    async with world(tmp_path / "a.db") as here:
        await here.calls().add("The code is 0000.", id="code")
        records = [json.loads(line) for line in await export_of(here.calls())]
    memory = find(records, "memory", id="code")
    if forged is None:
        told(records, memory, origin="HUMAN")
    else:
        author = change_of(records, memory)["author"]
        del author["kind"]
        author |= forged
    lines = resealed(records)
    async with world(tmp_path / "b.db") as there:
        attempt = await refused(import_into(there.calls(), lines))
        person = there.calls(principal="ada", kind="HUMAN")

        assert attempt.reason == INVALID
        assert "stands above whoever imports" in attempt.message
        await import_into(person, lines)
        assert (await person.get("code")).content == "The code is 0000."
