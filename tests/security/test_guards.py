"""The list of guards. Each is switched off in turn, and then its harm must be done.

A guard that can be taken away without a failure here guards nothing.
"""

import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import conflict_probes
import council_probes
import extraction_probes
import grpc
import import_probes
import judge_probes
import merge_probes
import origin_probes
import pytest
import safeguard_probes
from concord.graph.v1 import governed_pb2, graph_pb2, lineage_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.identity import Caller
from concord_reading.tokens import Span
from concord_search.adapters.qdrant import space
from concord_testing.serving import new_issuer
from contract_cases import CONTRACTS
from contract_descriptors import METHODS
from contract_homes import Home, Template, edge_said, seen
from contract_live import Live, ask, full_name, governing, member
from contract_registry import Answered, Refused
from guard_probes import FORGERIES, PROTECTED, Probe, attempt, forged, is_done
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
from index_probes import an_old_event_comes_late


async def anybody_may(*_: object) -> bool:
    """Else a change of what a person agreed to would be a claim, and be OK without doing harm."""
    return True


UNBOUND: dict[str, Callable[..., object]] = {
    "concord_graph.domain.protection.breach": lambda *_: None,
    "concord_graph.usecases.write.standing_guard.StandingGuard.may": anybody_may,
}
UNRESERVED = {"concord_graph.domain.protection.reserved": lambda *_: None}
UNASKED = {"concord_graph.domain.protection.agreed": lambda _: None}
"""No guard of an import asks whether both principals agreed to it."""
GRANT = "concord_graph.usecases.governed.apply.verify_grant"
RESTORE = "concord_graph.usecases.governed.apply.verify_restore"
CODE = grpc.StatusCode


async def nothing_agreed(_: Live, __: Home) -> None:
    """Nothing is agreed on before."""


@dataclass(frozen=True)
class Guard:
    """What is tried, and the settings without the guard that refuses it and with it.

    `agree`: what both principals do with consent before it is tried.
    """

    probe: Probe
    off: Setting
    on: Setting = ALL_ON
    agree: Agree = nothing_agreed


def without(function: str, stand_in: Callable[..., object]) -> Setting:
    """Return a deployment in which something stands in for one function, by its full name."""
    return Setting(patched={function: stand_in})


async def a_stranger_reads(live: Live, template: Template) -> bool:
    """Read with a token that somebody else signed."""
    serving = live.servings["concord.graph.v1.GraphService"]
    channel = serving.channel_with(new_issuer(serving.issuer.name).mint(member("a")))
    request = graph_pb2.GetNodeRequest(id=template.a.node_id)
    answer = await ask(channel, METHODS[full_name("GetNode")], request)
    demanded = Refused(CODE.UNAUTHENTICATED, "CREDENTIAL_INVALID")
    return is_done(answer, demanded)


async def a_reader_writes(live: Live, _: Template) -> bool:
    """Write with a credential for reading."""
    reader = Caller("a", "reader", frozenset({"graph:read"}), "AGENT")
    request = graph_pb2.UpsertNodeRequest(request_id="x", node=type_pb2.Node(name="New"))
    answer = await live.ask(reader, "UpsertNode", request)
    demanded = Refused(CODE.PERMISSION_DENIED, "PERMISSION_MISSING")
    return is_done(answer, demanded)


async def a_neighbour_reads(live: Live, template: Template) -> bool:
    """Read A's memory as a principal of B."""
    request = memory_pb2.GetMemoryRequest(id=template.a.memory_id)
    reply = await live.tell(member("b"), "GetMemory", request)
    return bool(reply.HasField("memory"))


async def a_neighbour_deletes(live: Live, template: Template) -> bool:
    """Delete A's node as a principal of B."""
    a = template.a
    request = graph_pb2.DeleteNodeRequest(request_id="x", id=a.loose_id, etag=a.loose_etag)
    answer = await live.ask(member("b"), "DeleteNode", request)
    demanded = Refused(CODE.NOT_FOUND, "ITEM_NOT_FOUND")
    return is_done(answer, demanded)


async def a_request_comes_again(live: Live, template: Template) -> bool:
    """Send a write a second time, as a client does that saw no reply."""
    a = template.a
    request = graph_pb2.DeleteEdgeRequest(request_id="x", id=a.edge_id, etag=a.edge_etag)
    first = await live.tell(member("a"), "DeleteEdge", request)
    again = await live.ask(member("a"), "DeleteEdge", request)
    expected = Answered(lambda reply: reply == first)
    return expected.unmet_by(again) != ""


async def an_id_is_used_twice(live: Live, template: Template) -> bool:
    """Send another write under a request id that was used."""
    contract = CONTRACTS[full_name("UpsertNode")]
    assert contract.other is not None
    await live.ask(member("a"), "UpsertNode", contract.request(template.a))
    answer = await live.ask(member("a"), "UpsertNode", contract.other(template.a))
    demanded = Refused(CODE.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    return is_done(answer, demanded)


async def a_grant_comes_again(live: Live, template: Template) -> bool:
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
    return is_done(again, demanded)


async def a_grant_meets_another_state(live: Live, template: Template) -> bool:
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
    return is_done(answer, demanded)


async def a_page_of_another_query(live: Live, template: Template) -> bool:
    """Go on with one query where another one stopped."""
    request = graph_pb2.ListNodesRequest(
        label="Entity", page_token=template.a.page_tokens["ListNodes"]
    )
    answer = await live.ask(member("a"), "ListNodes", request)
    demanded = Refused(CODE.INVALID_ARGUMENT, "PAGE_TOKEN_INVALID")
    return is_done(answer, demanded)


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
        conflict_probes.one_decides_alone,
        off=without("concord_graph.usecases.write.writer.Writer.demand_decidable", anybody_decides),
    ),
    "conflicts: the agent decides": Guard(
        conflict_probes.a_person_judges_a_tension,
        off=without("concord_graph.usecases.items.conflicts._demand_agent", lambda _: None),
    ),
    "conflicts: a dismissal holds": Guard(
        conflict_probes.the_dismissed_is_found_again,
        off=without("concord_graph.domain.conflicts._versions", lambda _: object()),
    ),
    "conflicts: what lineage settled": Guard(
        conflict_probes.the_replaced_is_found_again,
        off=without(f"{FINDINGS}._Judged._is_settled", lambda *_: False),
    ),
    "conflicts: the newest version": Guard(
        conflict_probes.a_former_version_is_judged,
        off=without(f"{FINDINGS}.etag", conflict_probes.AnyEtag),
    ),
    "conflicts: erased words": Guard(
        conflict_probes.a_quoted_side_is_erased,
        off=without("concord_graph.usecases.write.conflicts.with_words", nothing_has_words),
    ),
    "authentication": Guard(a_stranger_reads, off=Setting(verify=credulous)),
    "permission": Guard(a_reader_writes, off=Setting(verify=permissive)),
    "space of a read": Guard(a_neighbour_reads, off=Setting(store=OneSpace)),
    "space of a write": Guard(a_neighbour_deletes, off=Setting(store=OneSpace)),
    "field rules": Guard(
        attempt(
            "AddMemory",
            lambda _: memory_pb2.AddMemoryRequest(
                request_id="x", memory=type_pb2.Memory(content="x" * 20_001)
            ),
            CODE.INVALID_ARGUMENT,
            "FIELD_INVALID",
        ),
        off=without("concord_chassis.call.rules.Rulebook.check_for", unchecked),
    ),
    "message size": Guard(
        attempt(
            "CountByType",
            # An unknown field: its tag and length, then what is too much.
            lambda _: b"\x7a\x80\x80\x80\x01" + b"x" * BIG,
            CODE.RESOURCE_EXHAUSTED,
            "MESSAGE_TOO_LARGE",
        ),
        off=Setting(patched={"concord_chassis.call.requests.MAX_MESSAGE_BYTES": 2 * BIG}),
    ),
    "request ids: comparing": Guard(
        an_id_is_used_twice,
        off=without("concord_graph.usecases.write.commands.is_same_request", lambda *_: True),
    ),
    "request ids: remembering": Guard(
        a_request_comes_again, off=Setting(store=tampered(receipt=None, keep_receipt=None))
    ),
    "etag": Guard(
        attempt(
            "DeleteNode",
            lambda h: graph_pb2.DeleteNodeRequest(request_id="x", id=h.loose_id, etag="former"),
            CODE.ABORTED,
            "ETAG_MISMATCH",
        ),
        off=without("concord_graph.usecases.write.guard.etag_matches", lambda *_: True),
    ),
    "lineage cycle": Guard(
        attempt(
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
        off=Setting(store=tampered(lineage_edges=())),
    ),
    "succession cycle": Guard(
        a_moved_edge_succeeds_itself, off=Setting(store=tampered(lineage_edges=()))
    ),
    "what a content says": Guard(
        an_edge_goes_behind_its_text,
        off=Setting(store=tampered(memory=None)),
        agree=a_text_is_said,
    ),
    "nonce": Guard(a_grant_comes_again, off=Setting(store=tampered(burn=True))),
    "etags of a grant": Guard(a_grant_meets_another_state, off=without(GRANT, without_etags)),
    "words of the ends": Guard(
        safeguard_probes.an_end_comes_between,
        off=without("concord_graph.domain.protection.takes_words", lambda *_: False),
    ),
    "restore grant": Guard(
        import_probes.strangers_sign_for_a_restore, off=without(RESTORE, restoring)
    ),
    "agreement in an import: use cases": Guard(
        import_probes.principals_come_without_a_genesis,
        off=Setting(patched=UNASKED, without_triggers=True),
        on=Setting(without_triggers=True),
    ),
    "agreement in an import: store": Guard(
        import_probes.principals_come_without_a_genesis,
        off=Setting(patched=UNASKED, without_triggers=True),
        on=Setting(patched=UNASKED),
    ),
    "principals under a grant: use cases": Guard(
        safeguard_probes.a_principal_is_rewritten,
        off=Setting(patched=UNRESERVED, without_triggers=True),
        on=Setting(without_triggers=True),
    ),
    "principals under a grant: store": Guard(
        safeguard_probes.a_principal_is_rewritten,
        off=Setting(patched=UNRESERVED, without_triggers=True),
        on=Setting(patched=UNRESERVED),
    ),
    "merge: the versions that were named": Guard(
        merge_probes.a_changed_memory_is_merged,
        off=without(f"{MERGE}.etag_matches", lambda *_: True),
    ),
    "merge: neither leads to the other": Guard(
        merge_probes.a_successor_is_merged, off=without(f"{MERGE}.refuse_descent", unrefused)
    ),
    "recall log: off until it is asked for": Guard(
        origin_probes.nobody_asked_for_a_log,
        off=without("concord_graph.usecases.recalls.keeps_recalls", origin_probes.always_on),
    ),
    "recall log: its days": Guard(
        origin_probes.an_old_answer_is_listed,
        off=without("concord_graph.usecases.recalls.first_id", lambda _: ""),
    ),
    "origin: what comes from a file": Guard(
        origin_probes.a_file_comes_with_a_persons_key,
        off=without("concord_graph.servicer.incoming.author", origin_probes.as_the_key_says),
    ),
    "page token": Guard(a_page_of_another_query, off=Setting(rebind_pages=True)),
}

for name, forgery in FORGERIES.items():
    GUARDS[f"grant {name}"] = Guard(forged(forgery), off=without(GRANT, believing))

ATTEMPTS: dict[str, tuple[Probe, Agree]] = {
    "something constitutive was merged away": (merge_probes.a_creed_is_merged, nothing_agreed)
}
for harm, (method, request) in PROTECTED.items():
    harm = f"something constitutive was {harm}"  # noqa: PLW2901
    refusal = (CODE.FAILED_PRECONDITION, "CONSTITUTIVE_EDGE_PROTECTED")
    ATTEMPTS[harm] = attempt(method, request, *refusal), nothing_agreed
for harm, (agree, method, ask_for) in HELD.items():
    harm = f"what both agreed to was {harm}"  # noqa: PLW2901
    ATTEMPTS[harm] = held_attempt(method, ask_for), agree

# Protection stands twice; each of the two is proved without the other.
for harm, (probe, agree) in ATTEMPTS.items():
    nothing = Setting(patched=UNBOUND, without_triggers=True)
    for where, on in (
        ("use cases", replace(ALL_ON, without_triggers=True)),
        ("store", replace(ALL_ON, patched=UNBOUND)),
    ):
        name = f"protection in the {where}: {harm}"
        GUARDS[name] = Guard(probe, off=nothing, on=on, agree=agree)


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
        assert not await guard.probe(live, template)


IN_TWO_PLACES = "protection in the store"
"""Guards that fall with those of the use cases: their harm is done once, without both."""


@pytest.mark.parametrize("name", [each for each in GUARDS if not each.startswith(IN_TWO_PLACES)])
async def test_without_a_guard_its_harm_is_done(
    name: str, template: Template, tmp_path: Path
) -> None:
    """Must hold: each guard switched off gives the failure that names it."""
    guard = GUARDS[name]
    async with guarded(guard, template, tmp_path, guard.off) as live:
        assert await guard.probe(live, template)


ASKING = "concord_dissonance.usecases.ask_models"
DIALECTIC = "concord_dissonance.usecases.dialectic"
JUDGE = "concord_dissonance.adapters.openai_judge.judge"
JUDGES: dict[str, tuple[judge_probes.JudgeProbe, str, object]] = {
    "models: spaces that an operator named": (
        judge_probes.another_space_is_judged,
        f"{ASKING}.AskModels._may_see",
        lambda *_: True,
    ),
    "models: both orders": (
        judge_probes.a_model_changes_its_mind,
        f"{JUDGE}._is_same_of_both",
        lambda *_: True,
    ),
    "models: words of the texts": (
        judge_probes.a_model_makes_words_up,
        f"{JUDGE}._span",
        lambda *_: Span(0, 1),
    ),
    "models: the budget": (
        judge_probes.the_budget_is_spent,
        "concord_models.budget.Cost.within",
        lambda *_: True,
    ),
    "models: a failure degrades": (
        judge_probes.a_model_is_dead,
        f"{ASKING}._degrade",
        lambda *_: None,
    ),
    "facts: spaces that an operator named": (
        extraction_probes.another_space_is_read,
        "concord_dissonance.usecases.extract_facts.ExtractFacts._may_see",
        lambda *_: True,
    ),
    "facts: words of the text": (
        extraction_probes.a_model_makes_a_fact_up,
        "concord_dissonance.domain.extraction.by_model._is_borne_out",
        lambda *_: True,
    ),
    "reviews: two at least": (
        council_probes.one_of_three_answers,
        "concord_dissonance.domain.peer_review.council.LEAST_QUORUM",
        0,
    ),
    "reviews: spaces that an operator named": (
        council_probes.another_space_is_reviewed,
        f"{DIALECTIC}.review_answer.ReviewAnswer._may_see",
        lambda *_: True,
    ),
    "syntheses: spaces that an operator named": (
        council_probes.another_space_is_written_about,
        f"{DIALECTIC}.by_model.SynthesizeByModel._may_see",
        lambda *_: True,
    ),
    "syntheses: a legal basis that is stated": (
        council_probes.a_statute_is_made_up,
        "concord_dissonance.domain.dialectic.extraction.states_basis",
        lambda *_: True,
    ),
}
"""Dissonance's own guards, which need no graph: a probe, the guard, and what stands in for it."""


@pytest.mark.parametrize("name", JUDGES)
async def test_a_guard_of_the_judges_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """D2 D4 D8 D9 D11: with the guard in place the harm is not done, without it it is."""
    probe, guard, stand_in = JUDGES[name]

    assert not await probe()
    monkeypatch.setattr(guard, stand_in)
    assert await probe()


async def test_the_index_keeps_the_newer_of_two_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S10: a change that comes late never overwrites what is newer; unguarded, it does."""
    (tmp_path / "off").mkdir()

    assert not await an_old_event_comes_late(tmp_path)
    monkeypatch.setattr(space, "is_stale", lambda *_: False)
    assert await an_old_event_comes_late(tmp_path / "off")


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
