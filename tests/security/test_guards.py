"""The list of guards. Each is switched off in turn, and then its harm must be done.

A guard that can be taken away without a failure here guards nothing.
"""

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_dissonance.domain.verdicts import Span
from concord_search.adapters.qdrant import space
from concord_testing.serving import new_issuer
from conflict_probes import (
    ALONE,
    FORMER,
    NOT_THE_AGENT,
    QUOTED,
    REPLACED,
    RETURNED,
    AnyEtag,
    a_former_version_is_judged,
    a_person_judges_a_tension,
    a_quoted_side_is_erased,
    one_decides_alone,
    the_dismissed_is_found_again,
    the_replaced_is_found_again,
)
from contract_cases import CONTRACTS
from contract_descriptors import METHODS
from contract_homes import Home, Template, edge_said, seen
from contract_live import Live, ask, full_name, governing, member
from contract_registry import Answered, Refused
from council_probes import ALONE as ALONE_IN_COUNCIL
from council_probes import (
    REVIEWED,
    UNWRITTEN,
    WRITTEN,
    a_statute_is_made_up,
    another_space_is_reviewed,
    another_space_is_written_about,
    one_of_three_answers,
)
from guard_probes import FORGERIES, PROTECTED, Probe, attempt, forged, judged
from guard_switches import (
    ALL_ON,
    OneSpace,
    Setting,
    believing,
    credulous,
    deployed,
    drop_triggers,
    permissive,
    restoring,
    tampered,
    triggers,
    unchecked,
    without_etags,
)
from held_probes import (
    HELD,
    Agree,
    a_moved_edge_succeeds_itself,
    a_text_is_said,
    an_edge_goes_behind_its_text,
    held_attempt,
)
from import_probes import (
    BROUGHT_IN,
    RESTORED,
    principals_come_without_a_genesis,
    strangers_sign_for_a_restore,
)
from index_probes import an_old_event_comes_late
from judge_probes import (
    ANSWERED,
    GUESSED,
    LEAKED,
    MADE_UP,
    ONE_WAY,
    OVERSPENT,
    JudgeProbe,
    a_model_changes_its_mind,
    a_model_is_dead,
    a_model_makes_words_up,
    a_pattern_guesses,
    another_space_is_judged,
    the_budget_is_spent,
)
from merge_probes import (
    AGREED,
    CIRCLE,
    STALE,
    a_changed_memory_is_merged,
    a_creed_is_merged,
    a_successor_is_merged,
)
from origin_probes import (
    PASSED,
    TOO_OLD,
    UNWANTED,
    a_file_comes_with_a_persons_key,
    always_on,
    an_old_answer_is_listed,
    as_the_key_says,
    nobody_asked_for_a_log,
)
from safeguard_probes import (
    OTHER_WORDS,
    TAKEN_OVER,
    a_principal_is_rewritten,
    an_end_comes_between,
)

UNBOUND = {"concord_graph.domain.protection.breach": lambda *_: None}
UNRESERVED = {"concord_graph.domain.protection.reserved": lambda *_: None}
UNASKED = {"concord_graph.domain.protection.agreed": lambda _: None}
"""No guard of an import asks whether both principals agreed to it."""
WORDLESS = {"concord_graph.domain.protection.takes_words": lambda *_: False}
ANY_ETAG = {"concord_graph.usecases.write.writer.etag_matches": lambda *_: True}
ANY_REQUEST = {"concord_graph.usecases.write.commands.is_same_request": lambda *_: True}
GRANT = "concord_graph.usecases.governed.apply.verify_grant"
RESTORE = "concord_graph.usecases.governed.apply.verify_restore"
CODE = grpc.StatusCode


async def nothing_agreed(_: Live, __: Home) -> None:
    """Nothing is agreed on before."""


@dataclass(frozen=True)
class Guard:
    """What is tried, the harm when nothing refuses it, and the settings with and without it.

    `agree`: what both principals do with consent before it is tried.
    """

    probe: Probe
    harm: str
    off: Setting
    on: Setting = ALL_ON
    agree: Agree = nothing_agreed


async def a_stranger_reads(live: Live, template: Template) -> str:
    """Read with a token that somebody else signed."""
    serving = live.servings["concord.graph.v1.GraphService"]
    channel = serving.channel_with(new_issuer(serving.issuer.name).mint(member("a")))
    request = graph_pb2.GetNodeRequest(id=template.a.node_id)
    answer = await ask(channel, METHODS[full_name("GetNode")], request)
    demanded = Refused(CODE.UNAUTHENTICATED, "CREDENTIAL_INVALID")
    return judged(answer, demanded, "a stranger read a node")


async def a_reader_writes(live: Live, _: Template) -> str:
    """Write with a credential for reading."""
    reader = Caller("a", "reader", frozenset({"graph:read"}), "AGENT")
    request = graph_pb2.UpsertNodeRequest(request_id="x", node=type_pb2.Node(name="New"))
    answer = await live.ask(reader, "UpsertNode", request)
    demanded = Refused(CODE.PERMISSION_DENIED, "PERMISSION_MISSING")
    return judged(answer, demanded, "a reader wrote a node")


async def a_neighbour_reads(live: Live, template: Template) -> str:
    """Read A's memory as a principal of B."""
    request = memory_pb2.GetMemoryRequest(id=template.a.memory_id)
    reply = await live.tell(member("b"), "GetMemory", request)
    return "a memory of another space was read" if reply.HasField("memory") else ""


async def a_neighbour_deletes(live: Live, template: Template) -> str:
    """Delete A's node as a principal of B."""
    a = template.a
    request = graph_pb2.DeleteNodeRequest(request_id="x", id=a.loose_id, etag=a.loose_etag)
    answer = await live.ask(member("b"), "DeleteNode", request)
    demanded = Refused(CODE.NOT_FOUND, "ITEM_NOT_FOUND")
    return judged(answer, demanded, "a node of another space was deleted")


async def a_request_comes_again(live: Live, template: Template) -> str:
    """Send a write a second time, as a client does that saw no reply."""
    a = template.a
    request = graph_pb2.DeleteEdgeRequest(request_id="x", id=a.edge_id, etag=a.edge_etag)
    first = await live.tell(member("a"), "DeleteEdge", request)
    again = await live.ask(member("a"), "DeleteEdge", request)
    expected = Answered(lambda reply: reply == first)
    return "a request was done twice" if expected.unmet_by(again) else ""


async def an_id_is_used_twice(live: Live, template: Template) -> str:
    """Send another write under a request id that was used."""
    contract = CONTRACTS[full_name("UpsertNode")]
    assert contract.other is not None
    await live.ask(member("a"), "UpsertNode", contract.request(template.a))
    answer = await live.ask(member("a"), "UpsertNode", contract.other(template.a))
    demanded = Refused(CODE.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    return judged(answer, demanded, "a request got the reply of another one")


async def a_grant_comes_again(live: Live, template: Template) -> str:
    """Use a grant again after what it made was deleted with consent: no etag speaks against it."""
    a = template.a
    action, removal = governed_pb2.GovernedAction(), governed_pb2.GovernedAction()
    action.upsert_edge.request_id = removal.delete_edge.request_id = "inner"
    action.upsert_edge.edge.CopyFrom(edge_said("VALUES", "Courage", edge_type=2))
    grant = a.parties.grant("a", action, await seen(live, a, action))

    def applying(
        name: str, wanted: governed_pb2.GovernedAction, allowed: bytes
    ) -> governed_pb2.ApplyGovernedChangeRequest:
        return governed_pb2.ApplyGovernedChangeRequest(
            request_id=name, action=wanted, grant=allowed
        )

    who = governing("a")
    first = await live.tell(who, "ApplyGovernedChange", applying("first", action, grant))
    removal.delete_edge.id, removal.delete_edge.etag = first.edge.id, first.edge.etag
    removed = a.parties.grant("a", removal, await seen(live, a, removal))
    await live.tell(who, "ApplyGovernedChange", applying("removal", removal, removed))
    again = await live.ask(who, "ApplyGovernedChange", applying("second", action, grant))
    demanded = Refused(CODE.FAILED_PRECONDITION, "GRANT_INVALID")
    return judged(again, demanded, "a grant was used twice")


async def a_grant_meets_another_state(live: Live, template: Template) -> str:
    """Use a grant whose principals consented to an edge as it no longer is."""
    a = template.a
    action = governed_pb2.GovernedAction()
    action.upsert_edge.request_id = "inner"
    action.upsert_edge.edge.CopyFrom(edge_said("VALUES", "Honesty", weight=0.2))
    request = governed_pb2.ApplyGovernedChangeRequest(
        request_id="x", action=action, grant=a.parties.grant("a", action, {a.rock_id: "former"})
    )
    answer = await live.ask(governing("a"), "ApplyGovernedChange", request)
    demanded = Refused(CODE.FAILED_PRECONDITION, "GRANT_INVALID")
    return judged(answer, demanded, "a change was made to what nobody consented to")


async def a_page_of_another_query(live: Live, template: Template) -> str:
    """Go on with one query where another one stopped."""
    request = graph_pb2.ListNodesRequest(
        label="Entity", page_token=template.a.page_tokens["ListNodes"]
    )
    answer = await live.ask(member("a"), "ListNodes", request)
    demanded = Refused(CODE.INVALID_ARGUMENT, "PAGE_TOKEN_INVALID")
    return judged(answer, demanded, "a query went on where another one stopped")


BIG = 2 * 1024 * 1024


MERGE = "concord_graph.usecases.governed.merge"
FINDINGS = "concord_graph.usecases.items.conflicts"


async def nothing_has_words(*_: object) -> tuple[()]:
    """Find no conflict that an erased item's words stand in."""
    return ()


async def unrefused(*_: object) -> None:
    """Refuse nothing."""


async def anybody_decides(*_: object) -> bool:
    """Say that no decision about a conflict needs consent."""
    return False


GUARDS = {
    "conflicts: both decide": Guard(
        one_decides_alone,
        ALONE,
        off=Setting(
            patched={"concord_graph.usecases.write.writer.Writer.demand_decidable": anybody_decides}
        ),
    ),
    "conflicts: the agent decides": Guard(
        a_person_judges_a_tension,
        NOT_THE_AGENT,
        off=Setting(
            patched={"concord_graph.usecases.items.conflicts._demand_agent": lambda _: None}
        ),
    ),
    "conflicts: a dismissal holds": Guard(
        the_dismissed_is_found_again,
        RETURNED,
        off=Setting(patched={"concord_graph.domain.conflicts._versions": lambda _: object()}),
    ),
    "conflicts: what lineage settled": Guard(
        the_replaced_is_found_again,
        REPLACED,
        off=Setting(patched={f"{FINDINGS}._Judged._is_settled": lambda *_: False}),
    ),
    "conflicts: the newest version": Guard(
        a_former_version_is_judged,
        FORMER,
        off=Setting(patched={f"{FINDINGS}.etag": AnyEtag}),
    ),
    "conflicts: erased words": Guard(
        a_quoted_side_is_erased,
        QUOTED,
        off=Setting(
            patched={"concord_graph.usecases.write.conflicts.with_words": nothing_has_words}
        ),
    ),
    "authentication": Guard(
        a_stranger_reads, "a stranger read a node", off=Setting(verify=credulous)
    ),
    "permission": Guard(a_reader_writes, "a reader wrote a node", off=Setting(verify=permissive)),
    "space of a read": Guard(
        a_neighbour_reads, "a memory of another space was read", off=Setting(store=OneSpace)
    ),
    "space of a write": Guard(
        a_neighbour_deletes, "a node of another space was deleted", off=Setting(store=OneSpace)
    ),
    "field rules": Guard(
        attempt(
            "a memory of 20,001 characters was kept",
            "AddMemory",
            lambda _: memory_pb2.AddMemoryRequest(
                request_id="x", memory=type_pb2.Memory(content="x" * 20_001)
            ),
            CODE.INVALID_ARGUMENT,
            "FIELD_INVALID",
        ),
        "a memory of 20,001 characters was kept",
        off=Setting(patched={"concord_chassis.call.rules.Rulebook.check_for": unchecked}),
    ),
    "message size": Guard(
        attempt(
            "a message of 2 MiB was read",
            "CountByType",
            # An unknown field: its tag and length, then what is too much.
            lambda _: b"\x7a\x80\x80\x80\x01" + b"x" * BIG,
            CODE.RESOURCE_EXHAUSTED,
            "MESSAGE_TOO_LARGE",
        ),
        "a message of 2 MiB was read",
        off=Setting(max_message_bytes=2 * BIG),
    ),
    "request ids: comparing": Guard(
        an_id_is_used_twice,
        "a request got the reply of another one",
        off=Setting(patched=ANY_REQUEST),
    ),
    "request ids: remembering": Guard(
        a_request_comes_again,
        "a request was done twice",
        off=Setting(store=tampered(receipt=None, keep_receipt=None)),
    ),
    "etag": Guard(
        attempt(
            "a node that had changed was deleted",
            "DeleteNode",
            lambda h: graph_pb2.DeleteNodeRequest(request_id="x", id=h.loose_id, etag="former"),
            CODE.ABORTED,
            "ETAG_MISMATCH",
        ),
        "a node that had changed was deleted",
        off=Setting(patched=ANY_ETAG),
    ),
    "lineage cycle": Guard(
        attempt(
            "two memories supersede each other",
            "AddLineage",
            lambda h: lineage_pb2.AddLineageRequest(
                request_id="x",
                relation=type_pb2.LINEAGE_RELATION_SUPERSEDES,
                newer_id=h.old_id,
                older_id=h.memory_id,
            ),
            CODE.FAILED_PRECONDITION,
            "LINEAGE_CYCLE",
        ),
        "two memories supersede each other",
        off=Setting(store=tampered(lineage_edges=())),
    ),
    "succession cycle": Guard(
        a_moved_edge_succeeds_itself,
        "an edge was moved to where it succeeds itself",
        off=Setting(store=tampered(lineage_edges=())),
    ),
    "what a content says": Guard(
        an_edge_goes_behind_its_text,
        "a text says what the graph does not",
        off=Setting(store=tampered(memory=None)),
        agree=a_text_is_said,
    ),
    "nonce": Guard(
        a_grant_comes_again, "a grant was used twice", off=Setting(store=tampered(burn=True))
    ),
    "etags of a grant": Guard(
        a_grant_meets_another_state,
        "a change was made to what nobody consented to",
        off=Setting(patched={GRANT: without_etags}),
    ),
    "words of the ends": Guard(
        an_end_comes_between,
        OTHER_WORDS,
        off=Setting(patched=WORDLESS),
    ),
    "restore grant": Guard(
        strangers_sign_for_a_restore, RESTORED, off=Setting(patched={RESTORE: restoring})
    ),
    "agreement in an import: use cases": Guard(
        principals_come_without_a_genesis,
        BROUGHT_IN,
        off=Setting(patched=UNASKED, without_triggers=True),
        on=Setting(without_triggers=True),
    ),
    "agreement in an import: store": Guard(
        principals_come_without_a_genesis,
        BROUGHT_IN,
        off=Setting(patched=UNASKED, without_triggers=True),
        on=Setting(patched=UNASKED),
    ),
    "principals under a grant: use cases": Guard(
        a_principal_is_rewritten,
        TAKEN_OVER,
        off=Setting(patched=UNRESERVED, without_triggers=True),
        on=Setting(without_triggers=True),
    ),
    "principals under a grant: store": Guard(
        a_principal_is_rewritten,
        TAKEN_OVER,
        off=Setting(patched=UNRESERVED, without_triggers=True),
        on=Setting(patched=UNRESERVED),
    ),
    "merge: the versions that were named": Guard(
        a_changed_memory_is_merged,
        STALE,
        off=Setting(patched={f"{MERGE}.etag_matches": lambda *_: True}),
    ),
    "merge: neither leads to the other": Guard(
        a_successor_is_merged, CIRCLE, off=Setting(patched={f"{MERGE}.refuse_descent": unrefused})
    ),
    "recall log: off until it is asked for": Guard(
        nobody_asked_for_a_log,
        UNWANTED,
        off=Setting(patched={"concord_graph.usecases.recalls.keeps_recalls": always_on}),
    ),
    "recall log: its days": Guard(
        an_old_answer_is_listed,
        TOO_OLD,
        off=Setting(patched={"concord_graph.usecases.recalls.first_id": lambda _: ""}),
    ),
    "origin: what comes from a file": Guard(
        a_file_comes_with_a_persons_key,
        PASSED,
        off=Setting(patched={"concord_graph.servicer.incoming.author": as_the_key_says}),
    ),
    "page token": Guard(
        a_page_of_another_query,
        "a query went on where another one stopped",
        off=Setting(rebind_pages=True),
    ),
}

for name, forgery in FORGERIES.items():
    GUARDS[f"grant {name}"] = Guard(
        forged(forgery, name),
        f"a change was made under a grant {name}",
        off=Setting(patched={GRANT: believing}),
    )

ATTEMPTS: dict[str, tuple[Probe, Agree]] = {AGREED: (a_creed_is_merged, nothing_agreed)}
for harm, (method, request) in PROTECTED.items():
    harm = f"something constitutive was {harm}"  # noqa: PLW2901
    refusal = (CODE.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
    ATTEMPTS[harm] = attempt(harm, method, request, *refusal), nothing_agreed
for harm, (agree, method, ask_for) in HELD.items():
    harm = f"what both agreed to was {harm}"  # noqa: PLW2901
    ATTEMPTS[harm] = held_attempt(harm, method, ask_for), agree

# Protection stands twice; each of the two is proved without the other.
for harm, (probe, agree) in ATTEMPTS.items():
    nothing = Setting(patched=UNBOUND, without_triggers=True)
    for where, on in (
        ("use cases", replace(ALL_ON, without_triggers=True)),
        ("store", replace(ALL_ON, patched=UNBOUND)),
    ):
        name = f"protection in the {where}: {harm}"
        GUARDS[name] = Guard(probe, harm, off=nothing, on=on, agree=agree)


@asynccontextmanager
async def guarded(
    guard: Guard, template: Template, folder: Path, setting: Setting
) -> AsyncIterator[Live]:
    """Run a deployment under a setting in which both principals agreed before, under all guards."""
    if guard.agree is not nothing_agreed:
        async with deployed(template, folder, ALL_ON) as live:
            await guard.agree(live, template.a)
    async with deployed(template, folder, setting) as live:
        yield live


@pytest.mark.parametrize("name", GUARDS)
async def test_a_guard_holds(name: str, template: Template, tmp_path: Path) -> None:
    """G4, G13, M5, V6, W6, W8: with the guard in place, the harm is not done."""
    guard = GUARDS[name]
    async with guarded(guard, template, tmp_path, guard.on) as live:
        assert await guard.probe(live, template) == ""


@pytest.mark.parametrize("name", GUARDS)
async def test_without_a_guard_its_harm_is_done(
    name: str, template: Template, tmp_path: Path
) -> None:
    """Must hold: each guard switched off gives the failure that names it."""
    guard = GUARDS[name]
    async with guarded(guard, template, tmp_path, guard.off) as live:
        assert await guard.probe(live, template) == guard.harm


ASKING = "concord_dissonance.usecases.ask_models"
DIALECTIC = "concord_dissonance.usecases.dialectic"
JUDGE = "concord_dissonance.adapters.openai_judge.judge"
JUDGES: dict[str, tuple[JudgeProbe, str, dict[str, object]]] = {
    "models: spaces that an operator named": (
        another_space_is_judged,
        LEAKED,
        {f"{ASKING}.AskModels._may_see": lambda *_: True},
    ),
    "models: both orders": (
        a_model_changes_its_mind,
        ONE_WAY,
        {f"{JUDGE}._is_same_of_both": lambda *_: True},
    ),
    "models: words of the texts": (
        a_model_makes_words_up,
        MADE_UP,
        {f"{JUDGE}._span": lambda *_: Span(0, 1)},
    ),
    "models: the budget": (
        the_budget_is_spent,
        OVERSPENT,
        {"concord_models.budget.Cost.within": lambda *_: True},
    ),
    "models: a failure degrades": (
        a_model_is_dead,
        ANSWERED,
        {f"{ASKING}._degrade": lambda *_: None},
    ),
    "reviews: two at least": (
        one_of_three_answers,
        ALONE_IN_COUNCIL,
        {"concord_dissonance.domain.peer_review.council.LEAST_QUORUM": 0},
    ),
    "reviews: spaces that an operator named": (
        another_space_is_reviewed,
        REVIEWED,
        {f"{DIALECTIC}.review_answer.ReviewAnswer._may_see": lambda *_: True},
    ),
    "syntheses: spaces that an operator named": (
        another_space_is_written_about,
        WRITTEN,
        {f"{DIALECTIC}.by_model.SynthesizeByModel._may_see": lambda *_: True},
    ),
    "syntheses: a legal basis that is stated": (
        a_statute_is_made_up,
        UNWRITTEN,
        {"concord_dissonance.domain.dialectic.extraction.states_basis": lambda *_: True},
    ),
    "judges: the least precision": (
        a_pattern_guesses,
        GUESSED,
        {"concord_dissonance.domain.verdicts.Verdict.is_sure": True},
    ),
}
"""Dissonance's own guards, which need no graph: a probe, its harm, and what stands in for it."""


@pytest.mark.parametrize("name", JUDGES)
async def test_a_guard_of_the_judges_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """D2 D4 D8 D9 D11: with the guard in place the harm is not done, without it it is."""
    probe, harm, patched = JUDGES[name]

    assert await probe() == ""
    for guard, stand_in in patched.items():
        monkeypatch.setattr(guard, stand_in)
    assert await probe() == harm


async def test_the_index_keeps_the_newer_of_two_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10: a change that comes late never overwrites what is newer; unguarded, it does."""
    (tmp_path / "off").mkdir()

    assert await an_old_event_comes_late(tmp_path) == ""
    monkeypatch.setattr(space, "is_stale", lambda *_: False)
    harm = await an_old_event_comes_late(tmp_path / "off")
    assert harm == "an old event overwrote a newer state"


def _copied(table: str, where: str, changed: str) -> tuple[str, ...]:
    """Return the statements that insert one row once more, with something changed."""
    return (
        f"CREATE TEMP TABLE copied AS SELECT * FROM {table} WHERE {where} AND deleted = 0 LIMIT 1",
        f"UPDATE copied SET {changed}",
        f"INSERT INTO {table} SELECT * FROM copied",
    )


def _next_revision(table: str, where: str, changed: str) -> tuple[str, ...]:
    """Return the statements that write one more revision of an item."""
    changed = f"revision = 99, record_until = 9, {changed}"
    return (
        f"CREATE TEMP TABLE copied AS SELECT * FROM {table} WHERE {where} LIMIT 1",
        f"UPDATE copied SET {changed}",
        f"INSERT INTO {table} SELECT * FROM copied",
    )


OPENED = "INSERT INTO open_grant (space, digest) SELECT id, 'any' FROM space"
IMPORTED = "INSERT INTO imported (space, seq, restore) SELECT id, 1, x'00' FROM space LIMIT 1"
DEFINING = "id IN (SELECT source_id FROM edge WHERE edge_type = 2)"

# What each trigger alone refuses: statements past all code of ours, of which the last must fail.
TRIGGERS: dict[str, tuple[str, ...]] = {
    "edge_protected_insert": _copied(
        "edge", "edge_type = 2", "id = 'new', effective_from = effective_from + 1"
    ),
    "memory_protected_insert": _copied("memory", "edge_type = 2", "id = 'new'"),
    "node_protected_insert": _copied("node", DEFINING, "revision = 9, record_until = 9"),
    "edge_protected_close": ("UPDATE edge SET record_until = 1 WHERE edge_type = 2",),
    "memory_protected_close": ("UPDATE memory SET record_until = 1 WHERE edge_type = 2",),
    "node_protected_close": (f"UPDATE node SET record_until = 1 WHERE {DEFINING}",),
    "edge_reserved_insert": (
        OPENED,
        *_copied(
            "edge",
            "relation = 'concord:principal'",
            "id = 'new', effective_from = effective_from + 1",
        ),
    ),
    "node_reserved_insert": (
        OPENED,
        *_copied("node", "name = 'concord:space'", "id = 'new', name = 'concord:another'"),
    ),
    "space_deleted_for_good": ("UPDATE space SET deleted = 1 WHERE name = 'a'",),
    "node_written_once": ("UPDATE node SET label = 'x'",),
    "edge_written_once": ("UPDATE edge SET weight = 0",),
    "memory_written_once": ("UPDATE memory SET content = 'x'",),
    "entry_written_once": ("UPDATE entry SET body = '{}'",),
    "change_written_once": ("UPDATE change SET principal = 'nobody'",),
    "genesis_written_once": ("UPDATE genesis SET digest = 'x'",),
    "nonce_written_once": ("UPDATE nonce SET nonce = nonce || 'x'",),
    "relation_written_once": ("UPDATE relation SET functional = 1 - functional",),
    "memory_erased_for_good": _next_revision("memory", "erase_time <> 0", "erase_time = 0"),
    "edge_erased_for_good": _next_revision("edge", "erase_time <> 0", "erase_time = 0"),
    "memory_protected_erase": _next_revision("memory", "edge_type = 2", "erase_time = 9"),
    "edge_protected_erase": _next_revision("edge", "edge_type = 2", "erase_time = 9"),
    "node_erased_for_good": _next_revision("node", "erase_time <> 0", "erase_time = 0"),
    "imported_written_once": (IMPORTED, "UPDATE imported SET seq = seq + 1"),
    "imported_kept": (IMPORTED, "DELETE FROM imported"),
    "support_written_once": ("UPDATE support SET place = place + 1",),
    "early_refusal_written_once": ("UPDATE early_refusal SET reason = 'x'",),
    "erasure_written_once": ("UPDATE erasure SET reason = 'x'",),
    "erase_confirmed_once": (
        "UPDATE erase_confirmation SET time = 9",
        "UPDATE erase_confirmation SET time = NULL",
    ),
    **{
        f"{table}_kept": (f"DELETE FROM {table}",)
        for table in (
            *("node", "edge", "memory", "entry", "change", "genesis", "nonce"),
            *("relation", "erasure", "erase_confirmation", "early_refusal", "support"),
        )
    },
}
REFUSED = re.compile("constitutive|append-only|reserved|kept|written once")


def test_every_trigger_is_in_the_list(template: Template) -> None:
    """G4: a trigger without a statement that it refuses fails here."""
    assert sorted(TRIGGERS) == triggers(template.both)


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_trigger_refuses_what_no_code_asked_about(
    name: str, template: Template, tmp_path: Path
) -> None:
    """G4, A1: each trigger holds alone, and without it the statement goes through."""
    path = template.copy(tmp_path)
    drop_triggers(path, *(other for other in triggers(path) if other != name))
    *before, refused = TRIGGERS[name]
    with closing(sqlite3.connect(path)) as db:
        for statement in before:
            db.execute(statement)
        with pytest.raises(sqlite3.IntegrityError, match=REFUSED):
            db.execute(refused)
        db.execute(f"DROP TRIGGER {name}")

        assert db.execute(refused).rowcount > 0
