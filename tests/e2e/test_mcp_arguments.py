"""The requests that the tools for agents make of their arguments."""

from typing import Any

import pytest
from concord.graph.v1.memory_pb2 import UpdateMemoryRequest
from concord_mcp.arguments import request_of
from concord_mcp.calls import Refusal
from concord_mcp.tools.graph import UPDATE_MEMORY

WHICH = {"id": "m", "etag": "1"}


@pytest.mark.parametrize(
    "changed",
    [
        {"content": "It is blue."},
        {"surfaces_when": ["file:*.py", "the pool"]},
        {"surfaces_when": []},
        {"content": "It is blue.", "surfaces_when": ["the pool"]},
    ],
)
def test_an_update_changes_what_is_given_alone(changed: dict[str, Any]) -> None:
    """W3 S9 Content, triggers, or both; an empty list takes all triggers away."""
    request = request_of(UPDATE_MEMORY, WHICH | changed)

    assert isinstance(request, UpdateMemoryRequest)
    assert list(request.update_mask.paths) == list(changed)
    assert request.memory.content == changed.get("content", "")
    assert list(request.memory.surfaces_when) == changed.get("surfaces_when", [])


@pytest.mark.parametrize("wrong", ["file:*.py", [5]])
def test_triggers_are_a_list_of_texts(wrong: object) -> None:
    """W3 S9 Anything else is refused by the argument's name."""
    with pytest.raises(Refusal) as refused:
        request_of(UPDATE_MEMORY, WHICH | {"surfaces_when": wrong})

    assert [name for name, _ in refused.value.fields] == ["surfaces_when"]
