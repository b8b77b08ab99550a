"""Every field of a memory goes all the way: stated, stored, changed, exported, erased (M1, M4)."""

import json
from collections.abc import Mapping
from typing import Any

from concord.graph.v1 import memory_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.drafts import CHANGEABLE, DRAFTED
from concord_graph.domain.fields import erased_fields, fields_of
from concord_graph.domain.items import Memory
from concord_graph.servicer.incoming import wire_name
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict
from graph_world import Calls

GRAPHS_OWN = frozenset({"revision", "deleted", "id_stated", "concepts_stated"})
"""Fields of the store's memory that the contract says in another way, or not at all."""
DERIVED = frozenset(
    {"entrenchment", "modify_time", "etag", "access", "trust", "supersession", "relevance_score"}
    | {
        "forget_time",
        "conflict_ids",
        "conflict_count",
        "claims",
        "claim_count",
        "health",
        "principal",
    }
)
"""Fields of the contract's memory that follow from others, or from the items around it."""
FIELDS = type_pb2.Memory.DESCRIPTOR.fields_by_name
STATED = frozenset(map(wire_name, DRAFTED))
ERASED = frozenset(wire_name(field.name) for field in erased_fields(Memory)) & STATED
SAMPLES: Mapping[str, object] = {
    "edge_type": "EDGE_TYPE_DESCRIPTIVE",
    "importance": "IMPORTANCE_HIGH",
    "kind": "MEMORY_KIND_PLAN",
    "role": "TURN_ROLE_ASSISTANT",
    "valid_from": "2031-05-06T07:08:09Z",
    "valid_until": "2032-05-06T07:08:09Z",
    "properties": {"mood": "calm"},
    "sources": [{"speaker": "anna", "trust": "TRUST_LEVEL_VERIFIED"}],
    "facts": [{"subject": "tea", "relation": "IS", "object": "hot", "weight": 0.5}],
}
"""What is stated as the fields that are no texts."""


def sample(field: FieldDescriptor) -> object:
    """Return a value unlike the field's default."""
    text = f"some-{field.name}"
    return SAMPLES.get(field.name, [text] if field.is_repeated else text)


def full_memory() -> type_pb2.Memory:
    """Return a memory that states every field that a caller may state."""
    return ParseDict({name: sample(FIELDS[name]) for name in STATED}, type_pb2.Memory())


def stated(memory: type_pb2.Memory) -> dict[str, Any]:
    """Return the fields that a caller may state, by name, without those at their default."""
    return {field.name: value for field, value in memory.ListFields() if field.name in STATED}


def test_every_field_of_the_contract_is_a_field_of_the_store() -> None:
    """M1 What the contract's memory has is stored, unless it is named as derived."""
    kept = {wire_name(field.name) for field in fields_of(Memory)}

    assert set(FIELDS) - DERIVED == kept - GRAPHS_OWN


async def test_what_is_stated_is_stored_and_exported(home: Calls) -> None:
    """M1 G15 Every field that a caller states comes back as it was stated."""
    added = (await home.add_memory(full_memory())).memory

    read = await home.get(added.id)

    assert stated(read) == stated(full_memory())
    lines = [json.loads(line) for line in await home.export()]
    (line,) = (line for line in lines if line["kind"] == "memory")
    assert set(line) - {"memory_kind"} | {"kind"} == STATED | {"kind"}


async def test_an_update_changes_each_field_that_it_names(home: Calls) -> None:
    """M4 All that is stated but the session can be changed later."""
    memory = await home.add("Plain words.", session_id="some-session_id")
    wanted = full_memory()
    wanted.id, wanted.etag = memory.id, memory.etag

    await home.update(wanted, *sorted(map(wire_name, CHANGEABLE)))

    assert stated(await home.get(memory.id)) == stated(full_memory())


async def test_an_erased_memory_says_nothing_in_any_version(home: Calls) -> None:
    """M4 What a memory states is gone from its history, but for times, kinds and the session."""
    memory = (await home.add_memory(full_memory())).memory
    memory.content = "Other words."
    memory = await home.update(memory, "content")

    await home.erase(memory)

    history = memory_pb2.GetMemoryHistoryRequest(id=memory.id)
    versions = (await home.memory.GetMemoryHistory(history)).versions
    assert len(versions) == 3
    left = {name for each in versions for name in stated(each.memory)}
    assert left == STATED - ERASED
