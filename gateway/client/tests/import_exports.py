"""Chats and other memories' exports: strategies for the JSON forms that are imported."""

from typing import Any

from hypothesis import strategies as st
from import_inputs import LINE, OTHERS, TEXT, VALUE, Files, as_json, numbered

_STARTED = {
    "create_time": 1709640000.5,
    "created_at": "2024-03-05T10:00:00Z",
    "ts": "1709640000.000100",
}
_PARTS = st.lists(
    st.one_of(
        LINE,
        st.just({"type": "text", "text": "§"}),
        st.just({"type": "text_link", "text": "§", "href": "https://§.org"}),
        st.just({"type": "image", "source": "§", "size": 5}),
        st.just({"type": "tool_use", "name": "§", "input": {"§": "§"}}),
        st.just({"content_type": "text", "parts": ["§", {"asset_pointer": "§"}]}),
    ),
    max_size=3,
)
_WORDS = st.one_of(TEXT, _PARTS)
_WHO = st.sampled_from(["user", "assistant", "system", "tool", "Ada", "§"])
_MESSAGES = {
    "role": st.fixed_dictionaries(
        {"role": _WHO, "content": _WORDS},
        optional={"name": LINE, "time": st.just("2024-03-05T10:00:00Z"), "tool_calls": VALUE},
    ),
    "gpt": st.fixed_dictionaries(
        {
            "author": st.fixed_dictionaries(
                {"role": _WHO, "name": st.none() | LINE, "metadata": OTHERS}
            ),
            "content": st.fixed_dictionaries(
                {"content_type": st.just("text"), "parts": _PARTS}, optional={"thoughts": LINE}
            ),
            "create_time": st.just(_STARTED["create_time"]),
        },
        optional={"metadata": OTHERS, "weight": st.just(1.0)},
    ),
    "claude": st.fixed_dictionaries(
        {"sender": st.sampled_from(["human", "assistant"]), "text": TEXT | st.just("")},
        optional={
            "content": _PARTS,
            "created_at": st.just(_STARTED["created_at"]),
            "attachments": st.just([{"file_name": "§.pdf", "extracted_content": "§ §"}]),
        },
    ),
    "telegram": st.fixed_dictionaries(
        {
            "type": st.sampled_from(["message", "service"]),
            "date": st.just("2024-03-05T10:00:00"),
            "from": LINE,
            "text": _WORDS,
        },
        optional={
            "photo": st.just("photos/§.jpg"),
            "reactions": st.just([{"emoji": "👍", "count": 2, "§": "§"}]),
            "actor": LINE,
            "forwarded_from": LINE,
        },
    ),
    "slack": st.fixed_dictionaries(
        {
            "user": st.just("U§"),
            "text": TEXT,
            "ts": st.just(_STARTED["ts"]),
            "type": st.just("message"),
        },
        optional={"reactions": VALUE, "files": VALUE, "subtype": LINE},
    ),
    "nested": st.fixed_dictionaries(
        {
            "type": st.sampled_from(["user", "§"]),
            "message": st.fixed_dictionaries({"role": _WHO, "content": _WORDS, "type": LINE}),
            "sessionId": st.just("s§"),
            "timestamp": st.just(_STARTED["created_at"]),
        },
        optional={"cwd": LINE, "toolUseResult": VALUE},
    ),
}
TALKS = sorted(_MESSAGES)


@st.composite
def talks(draw: st.DrawFn, tool: str) -> Files:
    """A JSON chat as one tool exports it: messages, a list or tree of them, or lines."""
    message = st.tuples(_MESSAGES[tool], OTHERS).map(lambda both: both[1] | both[0])
    messages = draw(st.lists(message, min_size=1, max_size=4))
    about: dict[str, Any] = draw(
        st.fixed_dictionaries({}, optional={"id": st.just("c§"), "title": LINE, "name": LINE})
    )
    about |= draw(OTHERS)
    tree = {
        str(at): {"id": str(at), "message": each, "parent": str(at - draw(st.integers(1, 2)))}
        for at, each in enumerate(messages)
    }
    shapes: list[Any] = [
        messages,
        about | {"messages": messages},
        [about | {"chat_messages": messages}, {"messages": messages[:1]}],
        about | {"conversations": [{"messages": messages}, messages[:1]]},
        about | {"chats": {"list": [about | {"messages": messages}]}, "messages": messages},
        [about | {"mapping": tree, "current_node": str(len(messages) - 1)}],
    ]
    if draw(st.integers(0, 4)) == 0:
        return numbered({"talk.jsonl": "\n".join(map(as_json, messages))})
    return numbered({"talk.json": as_json(draw(st.sampled_from(shapes)))})


def exports_of_mem0() -> st.SearchStrategy[Files]:
    """Memories and relations in each shape that Mem0 writes."""
    memory = st.fixed_dictionaries(
        {"memory": TEXT},
        optional={
            "id": st.just("§"),
            "text": LINE,
            "hash": st.just("§"),
            "metadata": st.none() | OTHERS,
            "categories": st.none() | st.lists(LINE, max_size=2),
            "score": st.none() | st.just(0.5),
            "created_at": st.just("2024-03-05T10:00:00Z"),
            "updated_at": st.none() | st.just("2024-03-06T10:00:00Z"),
            "actor_id": LINE,
            "run_id": st.just("r§"),
        },
    )
    one = st.tuples(memory, OTHERS).map(lambda both: both[0] | both[1])
    relation = st.fixed_dictionaries(
        {"source": LINE, "relationship": st.just("works_§ at"), "target": LINE},
        optional={"§": LINE, "score": st.just(0.5)},
    )
    some = st.lists(
        st.one_of(one, one, LINE, st.just({"memory": None, "x": "§"})), min_size=1, max_size=3
    )
    shapes = st.one_of(
        some,
        st.fixed_dictionaries(
            {"results": some, "relations": st.lists(relation, max_size=2), "§": VALUE}
        ),
        st.fixed_dictionaries({"memories": some, "next": LINE}),
    )
    return shapes.map(lambda value: numbered({"mem0.json": as_json(value)}))


def exports_of_graphiti() -> st.SearchStrategy[Files]:
    """Nodes, edges and episodes of Graphiti's models."""
    common = {
        "uuid": st.sampled_from(["a", "b", "u§"]),
        "name": LINE,
        "created_at": st.just("2024-03-05"),
    }
    more = {"attributes": OTHERS, "group_id": LINE, "labels": st.lists(LINE, max_size=2)}
    node = st.fixed_dictionaries(
        common, optional={"summary": TEXT, "name_embedding": st.just([0.25, 0.5]), **more}
    )
    edge = st.fixed_dictionaries(
        {
            **common,
            "source_node_uuid": st.sampled_from("ab§"),
            "target_node_uuid": st.sampled_from("ab§"),
        },
        optional={
            "fact": TEXT,
            "valid_at": st.sampled_from([None, "2024-03-05T10:00:00Z", "§"]),
            "expired_at": st.just("2024-03-05T10:00:00Z"),
            "episodes": st.lists(st.just("e§"), max_size=2),
            **more,
        },
    )
    episode = st.fixed_dictionaries(
        {**common, "content": TEXT},
        optional={"source": LINE, "source_description": LINE, "entity_edges": st.just(["§"])},
    )
    some = {
        name: st.lists(st.tuples(each, OTHERS).map(lambda both: both[0] | both[1]), max_size=3)
        for name, each in (("nodes", node), ("edges", edge), ("episodes", episode))
    }
    whole = st.tuples(st.fixed_dictionaries(some), OTHERS).map(lambda both: both[0] | both[1])
    return whole.map(lambda value: numbered({"graph.json": as_json(value)}))


def exports_of_mcp_memory() -> st.SearchStrategy[Files]:
    """Lines, or the object, of the MCP memory server."""
    entity = st.fixed_dictionaries(
        {
            "type": st.just("entity"),
            "name": LINE,
            "entityType": LINE,
            "observations": st.lists(TEXT, max_size=3),
        }
    )
    relation = st.fixed_dictionaries(
        {"type": st.just("relation"), "from": LINE, "to": LINE, "relationType": LINE}
    )
    one = st.tuples(st.one_of(entity, relation), OTHERS).map(lambda both: both[0] | both[1])
    lines = st.lists(one, min_size=1, max_size=4).map(lambda each: "\n".join(map(as_json, each)))
    whole = st.fixed_dictionaries(
        {"entities": st.lists(entity, max_size=2), "relations": st.lists(relation, max_size=2)}
    )
    return st.one_of(
        lines.map(lambda text: numbered({"memory.jsonl": text})),
        st.tuples(whole, OTHERS).map(lambda both: numbered({"m.json": as_json(both[0] | both[1])})),
    )


def agent_files() -> st.SearchStrategy[Files]:
    """Agent files of Letta, new and old."""
    block = st.fixed_dictionaries(
        {"label": LINE, "value": TEXT | st.just("")}, optional={"id": st.just("b§"), "limit": LINE}
    )
    message = st.tuples(_MESSAGES["role"], OTHERS).map(lambda both: both[1] | both[0])
    agent = st.fixed_dictionaries(
        {"name": st.just("a§"), "messages": st.lists(message, max_size=3)},
        optional={"system": TEXT, "tools": st.just([{"§": "§"}])},
    )
    blocks = st.lists(block, max_size=3)
    new = st.fixed_dictionaries({"agents": st.lists(agent, max_size=2), "blocks": blocks})
    old = st.tuples(agent, blocks).map(lambda both: both[0] | {"core_memory": both[1]})
    whole = st.tuples(st.one_of(new, old), OTHERS).map(lambda both: both[0] | both[1])
    return whole.map(lambda value: numbered({"agent.af": as_json(value)}))


def exports_of_hindsight() -> st.SearchStrategy[Files]:
    """Lists of Hindsight's memories."""
    fact = st.fixed_dictionaries(
        {"text": TEXT, "fact_type": st.just("world")},
        optional={
            "id": st.just("f§"),
            "context": LINE,
            "entities": LINE,
            "tags": st.lists(LINE, max_size=2),
            "mentioned_at": st.just("2024-03-05T10:00:00Z"),
            "occurred_start": st.sampled_from([None, "2024-03-05T00:00:00Z", "§"]),
            "occurred_end": st.sampled_from([None, "2024-03-06T00:00:00Z"]),
        },
    )
    one = st.tuples(fact, OTHERS).map(lambda both: both[0] | both[1])
    some = st.fixed_dictionaries({"items": st.lists(one, max_size=3), "total": st.just(3)})
    return some.map(lambda value: numbered({"h.json": as_json(value)}))


def lists_of_memories() -> st.SearchStrategy[Files]:
    """JSON lists of memories in objects and texts."""
    record = st.fixed_dictionaries(
        {"content": TEXT}, optional={"kind": LINE, "tags": st.just(["§"])}
    )
    one = st.one_of(st.tuples(record, OTHERS).map(lambda both: both[0] | both[1]), TEXT)
    return st.lists(one, min_size=1, max_size=3).map(
        lambda each: numbered({"l.json": as_json(each)})
    )
