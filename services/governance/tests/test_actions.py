"""What a typed action is, and what no action may be (V1, V2); the document of a revision."""

import pytest
from concord.graph.v1 import conflict_pb2, governed_pb2, graph_pb2, memory_pb2
from concord.type.v1 import type_pb2
from concord_governance.domain.actions import conflict_of, demand_allowed, kind_of
from concord_governance.domain.documents import ERASED_FRAMING, as_json, from_json, without_words
from concord_governance.domain.errors import SafeguardViolation
from concord_governance.domain.proposals import (
    Affected,
    Framing,
    FramingCheck,
    Json,
    Kind,
    Level,
    Revision,
    Trigger,
)
from concord_governance.servicer.action_json import written
from google.protobuf.field_mask_pb2 import FieldMask

SALT = "s" * 22


def action(name: str, **body: Json) -> dict[str, Json]:
    """Return an action's JSON."""
    return {name: {"request_id": SALT, **body}}


CONSTITUTIVE, DESCRIPTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE, type_pb2.EDGE_TYPE_DESCRIPTIVE


def edge_update(*paths: str, **fields: int) -> governed_pb2.GovernedAction:
    """Return the update of an edge's fields."""
    edge = type_pb2.Edge(id="e", etag="1", **fields)  # type: ignore[arg-type] # numbers are enums
    request = graph_pb2.UpdateEdgeRequest(
        request_id=SALT, edge=edge, update_mask=FieldMask(paths=paths)
    )
    return governed_pb2.GovernedAction(update_edge=request)


def memory_update(*paths: str, **fields: int) -> governed_pb2.GovernedAction:
    """Return the update of a memory's fields."""
    memory = type_pb2.Memory(id="m", etag="1", **fields)  # type: ignore[arg-type] # numbers are enums
    request = memory_pb2.UpdateMemoryRequest(
        request_id=SALT, memory=memory, update_mask=FieldMask(paths=paths)
    )
    return governed_pb2.GovernedAction(update_memory=request)


@pytest.mark.parametrize(
    ("proposed", "kind"),
    [
        (edge_update("weight"), Kind.UPDATE),
        (edge_update("weight", edge_type=CONSTITUTIVE), Kind.UPDATE),
        (edge_update("edge_type", edge_type=CONSTITUTIVE), Kind.PROMOTE),
        (edge_update("weight", "edge_type", edge_type=CONSTITUTIVE), Kind.PROMOTE),
        (edge_update("edge_type", edge_type=DESCRIPTIVE), Kind.DEMOTE),
        (memory_update("content"), Kind.UPDATE),
        (memory_update("edge_type", edge_type=CONSTITUTIVE), Kind.PROMOTE),
        (memory_update("edge_type", "tags", edge_type=DESCRIPTIVE), Kind.DEMOTE),
        (memory_update("edge_type"), Kind.UPDATE),
    ],
)
def test_the_kind_is_read_off_the_action_as_it_is_sent(
    proposed: governed_pb2.GovernedAction, kind: Kind
) -> None:
    """V1 What becomes constitutive is called a promotion: on the JSON that protobuf writes."""
    sent, _ = written(proposed)

    assert kind_of(sent) == kind
    demand_allowed(sent)


@pytest.mark.parametrize(
    ("proposed", "kind"),
    [
        (action("upsert_edge"), Kind.ADD),
        (action("delete_node"), Kind.DELETE),
        (action("forget_memory"), Kind.FORGET),
        (action("change_key"), Kind.CHANGE_KEY),
        (action("resolve_conflict"), Kind.RESOLVE),
        (action("reopen_conflict"), Kind.REOPEN),
        *(
            (action("review_conflict", decision=f"REVIEW_DECISION_{kind.name}"), kind)
            for kind in (Kind.CONFIRM, Kind.DISMISS, Kind.EXCEPT, Kind.RECLASSIFY)
        ),
    ],
)
def test_the_kind_is_read_off_the_action(proposed: dict[str, Json], kind: Kind) -> None:
    """V1 Typed actions: what it is called follows from what it does."""
    assert kind_of(proposed) == kind
    demand_allowed(proposed)


def test_every_action_of_the_contract_has_a_kind() -> None:
    """V1 The closed list is the contract's."""
    for field in governed_pb2.GovernedAction.DESCRIPTOR.fields:
        assert kind_of(action(field.name, decision="REVIEW_DECISION_CONFIRM"))


def test_every_decision_about_a_conflict_has_a_kind() -> None:
    """V1 D5 The closed list is the contract's."""
    for value in conflict_pb2.ReviewDecision.DESCRIPTOR.values[1:]:
        assert kind_of(action("review_conflict", decision=value.name)).name in value.name


def test_an_action_names_the_conflict_that_it_is_about() -> None:
    """V3 D7 None for another action."""
    assert conflict_of(action("resolve_conflict", conflict_id="c")) == "c"
    assert conflict_of(action("upsert_edge")) == ""


@pytest.mark.parametrize(
    "proposed",
    [
        action("set_safeguards"),
        action("upsert_edge", edge={"relation": "Concord:principal"}),
        action("upsert_edge", edge={"source": {"name": "concord:space"}}),
        action("update_node", node={"name": "CONCORD:x"}),
        action("add_memory", memory={"facts": [{"subject": "a"}, {"object": "concord:space"}]}),
        {"upsert_edge": {"request_id": "short"}},
        {"change_key": {"request_id": SALT[1:]}},
    ],
)
def test_what_no_proposal_may_do_is_refused(proposed: dict[str, Json]) -> None:
    """V2 Checked on the typed action: principals, the rules, a guessable salt."""
    with pytest.raises(SafeguardViolation):
        demand_allowed(proposed)


def test_words_in_properties_are_not_searched() -> None:
    """V2 By the typed action, not by searching for words in text."""
    demand_allowed(action("upsert_edge", edge={"properties": {"name": "concord: a word"}}))


def test_a_revision_is_its_document() -> None:
    """V1 The document says everything that the revision is; without words, who and when stay."""
    revision = Revision(
        space="one",
        proposal_id="p",
        number=3,
        revision=2,
        proposer="agent",
        trigger=Trigger.PROACTIVE,
        kind=Kind.PROMOTE,
        level=Level.BILATERAL,
        action=action("upsert_edge"),
        action_digest="0" * 64,
        affected=(
            Affected("i", 2, "e", needs_consent=True, statement="a VALUES b"),
            Affected("j", 1, "f", needs_consent=True, statement="b", pinned=True),
        ),
        framing=Framing("a", "b", "c", "d", "e"),
        framing_check=FramingCheck.TEMPLATE,
        policy_digest="1" * 64,
        create_time=1_800_000_000_000_001,
        expire_time=1_800_000_000_000_002,
        undo_of="q",
        session_id="s",
        canonical=b"{}",
        digest="2" * 64,
    )
    document = as_json(revision)

    assert from_json(document, b"{}", "2" * 64) == revision
    erased = from_json(without_words(document), b"", "2" * 64)
    assert (erased.action, erased.framing, erased.number) == ({}, ERASED_FRAMING, 3)
    assert [item.statement for item in erased.affected] == ["", ""]
