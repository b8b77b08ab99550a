"""Arguments and shapes that several tools have."""

from collections.abc import Sequence

from concord.type.v1 import type_pb2
from google.protobuf.message import Message

from concord_mcp.arguments import instant
from concord_mcp.tool import Argument, Json, Shape

PROVENANCE: Shape = {
    "speaker": "speaker",
    "file": "file",
    "turn_ids": "turn_ids",
    "claims": "trust",
}

MEMORY: Shape = {
    "id": "id",
    "content": "content",
    "kind": "kind",
    "importance": "importance",
    "edge_type": "edge_type",
    "domain": "domain",
    "tags": "tags",
    "surfaces_when": "surfaces_when",
    "sources": ("sources", PROVENANCE),
    "origin": "origin",
    "words": "words_origin",
    "valid_from": "valid_from",
    "valid_until": "valid_until",
    "created": "create_time",
    "etag": "etag",
    "superseded": "supersession.is_superseded",
    "superseded_by": "supersession.head_ids",
    "forgotten": "forget_time",
    "conflict_ids": "conflict_ids",
}

GAVE_WAY = (
    "gave_way.items",
    {"id": "id", "relation": "relation", "by": "by_id", "declared_by": "declared_by"},
)
"""What gave way by a write."""
CLAIMS = ("claims", {"number": "number", "item": "item_id", "owner": "owner"})
"""What a write did not do, but claims: its owner accepts it."""

EDGE: Shape = {
    "id": "id",
    "source": "source.name",
    "relation": "relation",
    "target": "target.name",
    "edge_type": "edge_type",
    "weight": "weight",
    "valid_from": "valid_from",
    "valid_until": "valid_until",
    "etag": "etag",
    "superseded": "supersession.is_superseded",
    "conflict_ids": "conflict_ids",
}


CONFLICT: Shape = {
    "id": "id",
    "class": "conflict_class",
    "state": "state",
    "first": ("first", {"id": "id", "says": "statement"}),
    "second": ("second", {"id": "id", "says": "statement"}),
}

RULES: Shape = {"rule": "rule", "found": "found_count", "recorded": "recorded_count"}
RECORD = Argument("max_text_findings", "max_text_findings")
"""Without a hint, for its price: the note beside a bounded check says how it is used."""


def part_of(shape: Shape, *names: str) -> Shape:
    """Some fields of a shape."""
    return {name: shape[name] for name in names}


def as_of(path: str = "as_of", hint: str = "") -> Argument:
    """The argument for reads as of a valid time, as it is known now.

    `hint`: the search, which every profile lists, says what it means for all.
    """

    def put(request: Message, value: Json) -> None:
        getattr(request, path).MergeFrom(type_pb2.AsOf(valid_time=instant(value)))

    schema = {"type": "string", "format": "date-time"}
    return Argument("as_of", schema=schema, put=put, hint=hint)


def limit(path: str = "page_size", most: int = 100, default: int = 10) -> Argument:
    """The argument for the most items of an answer, 1 to `most`."""

    def put(request: Message, value: Json) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise ValueError
        setattr(request, path, value)

    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Argument("limit", path=path, schema=schema, put=put, default=default)


ETAG = "of the version that you read; without it: the present one"

NAMES_OF_ENDS = {"from": "source", "predicate": "relation", "to": "target"}
"""Unlisted other names of a triple's arguments."""


def end(name: str, path: str) -> Argument:
    """The argument for one end of an edge or a walk: a node's name."""
    return Argument(name, f"{path}.name", required=True)


def texts(value: Json) -> Sequence[str]:
    """The value, if it is a list of texts. Raises `TypeError` otherwise."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError
    return value


def truth(value: Json) -> bool:
    """The value, if it is true or false. Raises `TypeError` otherwise."""
    if not isinstance(value, bool):
        raise TypeError
    return value
