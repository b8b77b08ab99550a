"""A change is proposed by its arguments, without the contract's JSON."""

from typing import Any

import pytest
from concord.graph.v1.governed_pb2 import GovernedAction
from concord.type.v1 import type_pb2
from concord_client.refusal import FieldInvalid
from concord_client.verbs import proposals


def action_of(**given: Any) -> GovernedAction:
    """The action that is proposed; its random request id is left out."""
    request: Any = proposals.propose(**given).request
    write = getattr(request.action, request.action.WhichOneof("action"))
    assert len(write.request_id) == 32
    write.ClearField("request_id")
    action: GovernedAction = request.action
    return action


def test_a_memory_is_proposed_by_its_arguments() -> None:
    """W4 V1 As `add` takes them, and whether it defines the agent."""
    action = action_of(content="I keep my word.", kind="INSIGHT", supersedes=["old"],
                       constitutive=True)  # fmt: skip
    memory = action.add_memory.memory

    assert memory.content == "I keep my word.\n\nSupersedes: [[memory:old]]"
    assert memory.kind == type_pb2.MEMORY_KIND_INSIGHT
    assert memory.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE


def test_an_edge_is_proposed_by_its_arguments() -> None:
    """W4 V1 As `link` takes them; what is not said to define the agent does not."""
    edge = action_of(source="helper", relation="VALUES", target="candour", weight=0.5)

    assert edge.upsert_edge.edge == type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="helper"),
        relation="VALUES",
        target=type_pb2.EdgeEnd(name="candour"),
        weight=0.5,
    )


def test_any_write_is_proposed_as_json() -> None:
    """W4 V1 One without arguments of its own."""
    action = action_of(action={"forget_memory": {"id": "creed", "etag": "1"}})

    assert (action.forget_memory.id, action.forget_memory.etag) == ("creed", "1")


@pytest.mark.parametrize("given", [{}, {"content": "I keep my word.", "source": "helper"}])
def test_one_change_is_proposed(given: dict[str, Any]) -> None:
    """W4 V1 None, and two at once, are refused with what to state."""
    with pytest.raises(ValueError, match="content for a memory"):
        proposals.propose(**given)


def test_what_is_wrong_in_json_is_told() -> None:
    """W4 In the parser's own words."""
    with pytest.raises(FieldInvalid, match='no field named "content"'):
        proposals.propose({"add_memory": {"content": "I keep my word."}})
