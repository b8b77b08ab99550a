"""What a typed action is, and what no action may be (V1, V2); the document of a revision."""

from dataclasses import replace

import pytest
from concord.graph.v1 import conflict_pb2, governed_pb2
from concord.type.v1 import type_pb2
from concord_governance.domain.actions import conflict_of, demand_allowed, kind_of
from concord_governance.domain.documents import ERASED_FRAMING, as_json, from_json, without_words
from concord_governance.domain.errors import SafeguardViolation
from concord_governance.domain.proposals import Affected, Json, Kind, Level, Trigger
from concord_governance.servicer.action_json import written
from google.protobuf.field_mask_pb2 import FieldMask
from ledger_world import proposal

SALT = "s" * 22


def action(name: str, **body: Json) -> dict[str, Json]:
    """Return an action's JSON."""
    return {name: {"request_id": SALT, **body}}


CONSTITUTIVE, DESCRIPTIVE = type_pb2.EDGE_TYPE_CONSTITUTIVE, type_pb2.EDGE_TYPE_DESCRIPTIVE


def update(item: str, *paths: str, **fields: int) -> dict[str, Json]:
    """Return the update of an edge's or a memory's fields, as it is sent."""
    request = {
        "request_id": SALT,
        item: {"id": "i", "etag": "1", **fields},
        "update_mask": FieldMask(paths=paths),
    }
    proposed = governed_pb2.GovernedAction(**{f"update_{item}": request})  # type: ignore[arg-type]
    return dict(written(proposed)[0])


@pytest.mark.parametrize(
    ("proposed", "kind"),
    [
        (update("edge", "weight"), Kind.UPDATE),
        (update("edge", "weight", edge_type=CONSTITUTIVE), Kind.UPDATE),
        (update("edge", "edge_type", edge_type=CONSTITUTIVE), Kind.PROMOTE),
        (update("edge", "weight", "edge_type", edge_type=CONSTITUTIVE), Kind.PROMOTE),
        (update("edge", "edge_type", edge_type=DESCRIPTIVE), Kind.DEMOTE),
        (update("memory", "content"), Kind.UPDATE),
        (update("memory", "edge_type", edge_type=CONSTITUTIVE), Kind.PROMOTE),
        (update("memory", "edge_type", "tags", edge_type=DESCRIPTIVE), Kind.DEMOTE),
        (update("memory", "edge_type"), Kind.UPDATE),
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
    """V1 What it is called follows from what it does, on the JSON that protobuf writes: what
    becomes constitutive is a promotion."""
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
    revision = replace(
        proposal("p", 3).newest,
        revision=2,
        trigger=Trigger.PROACTIVE,
        kind=Kind.PROMOTE,
        level=Level.BILATERAL,
        action=action("upsert_edge"),
        affected=(
            Affected("i", 2, "e", needs_consent=True, statement="a VALUES b"),
            Affected("j", 1, "f", needs_consent=True, statement="b", pinned=True),
        ),
        undo_of="q",
        session_id="s",
        canonical=b"{}",
    )
    document = as_json(revision)

    assert from_json(document, b"{}", "2" * 64) == revision
    erased = from_json(without_words(document), b"", "2" * 64)
    assert (erased.action, erased.framing, erased.number) == ({}, ERASED_FRAMING, 3)
    assert [item.statement for item in erased.affected] == ["", ""]
