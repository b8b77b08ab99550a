"""`concord update`: changes an item's content or fields."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import typer
from concord.graph.v1.graph_pb2 import (
    UpdateEdgeRequest,
    UpdateEdgeResponse,
    UpdateNodeRequest,
    UpdateNodeResponse,
)
from concord.type.v1.type_pb2 import Edge, Memory, Node
from google.protobuf.field_mask_pb2 import FieldMask

from concord_client.cli.choices import MemoryKind
from concord_client.cli.errors import BY_FILE, or_propose
from concord_client.cli.items import found_item
from concord_client.cli.options import (
    CategoryOption,
    DerivedFromOption,
    DomainOption,
    EtagOption,
    ExternalIdOption,
    ImportanceOption,
    SpeakerOption,
    SurfacesWhenOption,
    ValidFromOption,
    ValidUntilOption,
)
from concord_client.cli.render.claim_page import is_claimed, show_claims
from concord_client.cli.render.gave_way import show_gave_way
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session
from concord_client.cli.values import (
    STDIN,
    instant,
    properties,
    read_stdin,
    stated_fact,
    stated_sources,
)
from concord_client.links import with_links

if TYPE_CHECKING:
    from concord.graph.v1.memory_pb2 import UpdateMemoryResponse

    from concord_client.client import Client

OF_MEMORY = {
    "content": "content", "kind": "kind", "domain": "domain", "tag": "tags",
    "concept": "concepts", "fact": "facts", "importance": "importance",
    "valid-from": "valid_from", "valid-until": "valid_until", "source": "sources",
    "external-id": "external_id", "category": "category", "property": "properties",
    "surfaces-when": "surfaces_when",
}  # fmt: skip
OF_EDGE = {
    "weight": "weight", "property": "properties", "importance": "importance",
    "valid-from": "valid_from", "valid-until": "valid_until",
}  # fmt: skip
OF_NODE = {"name": "name", "label": "label", "property": "properties"}
PATHS = OF_MEMORY | OF_EDGE | OF_NODE
"""The field that each option changes; the maps above are those of each kind of item."""


def update(
    session: Session,
    item: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's, node's or edge's id, or a node's name.")
    ],
    *,
    content: Annotated[
        str | None,
        typer.Option(
            help='All that a memory says: a line of links that is left out no longer holds. "-" '
            "reads standard input."
        ),
    ] = None,
    kind: Annotated[
        MemoryKind | None, typer.Option(case_sensitive=False, help="What kind of text it is.")
    ] = None,
    domain: DomainOption = None,
    tag: Annotated[list[str] | None, typer.Option(help="All its tags; may be repeated.")] = None,
    concept: Annotated[
        list[str] | None, typer.Option(help="All that it is about; may be repeated.")
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SUBJECT|RELATION|OBJECT", help="All that it states; may be repeated."
        ),
    ] = None,
    importance: ImportanceOption = None,
    surfaces_when: SurfacesWhenOption = None,
    supersedes: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It replaces this memory, too.")
    ] = None,
    deprecates: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It makes this memory obsolete, too.")
    ] = None,
    amends: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It corrects part of this one, too.")
    ] = None,
    contradicts: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="It cannot hold beside this one.")
    ] = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    source: SpeakerOption = None,
    derived_from: DerivedFromOption = None,
    external_id: ExternalIdOption = None,
    category: CategoryOption = None,
    weight: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="An edge's strength.")
    ] = None,
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="All its properties."),
    ] = None,
    label: Annotated[str | None, typer.Option(help="A node's label.")] = None,
    name: Annotated[str | None, typer.Option(help="A node's new name.")] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help='Take away what this option sets, such as "tag".'),
    ] = None,
    etag: EtagOption = "",
) -> None:
    """Change what is said about an item: only what the options name; a memory keeps its history."""
    given: dict[str, Any] = {
        "content": read_stdin().rstrip("\n") if content == STDIN else content,
        "kind": kind and kind.value_of(),
        "domain": domain,
        "tag": tag,
        "concept": concept,
        "fact": [stated_fact(each) for each in fact] if fact else None,
        "importance": importance and importance.value_of(),
        "surfaces-when": surfaces_when,
        "valid-from": instant(valid_from),
        "valid-until": instant(valid_until),
        "source": stated_sources(source, derived_from) or None,
        "external-id": external_id,
        "category": category,
        "weight": weight,
        "property": properties(prop),
        "label": label,
        "name": name,
    }
    links = {
        "Supersedes": supersedes, "Deprecates": deprecates, "Amends": amends,
        "Contradicts": contradicts,
    }  # fmt: skip
    changed = {option: value for option, value in given.items() if value is not None}
    changed |= _cleared(clear or [], changed)
    if not changed and not any(links.values()):
        raise typer.BadParameter("say what changes, such as --content TEXT.")
    with session.client() as client:
        found = found_item(client, session, item)
        if any(links.values()):
            words = str(changed.get("content") or getattr(found, "content", ""))
            changed["content"] = with_links(words, links)
        found.etag = etag or found.etag
        _update(client, session, found, changed)


def _cleared(options: list[str], changed: dict[str, Any]) -> dict[str, None]:
    for option in options:
        if option not in PATHS:
            raise typer.BadParameter(f"{option!r} is none of {', '.join(PATHS)}.")
        if option in changed:
            raise typer.BadParameter(f"--{option} and --clear {option} exclude each other.")
    return dict.fromkeys(options)


def _update(
    client: "Client", session: Session, found: Memory | Node | Edge, changed: dict[str, Any]
) -> None:
    from concord_client.freshness import settle

    reply: UpdateMemoryResponse | UpdateEdgeResponse | UpdateNodeResponse
    if isinstance(found, Memory):
        _demand_options(changed, OF_MEMORY, "a memory")
        reply = _update_memory(client, found, changed)
        settle(client, reply.token)
    elif isinstance(found, Edge):
        _demand_options(changed, OF_EDGE, "an edge")
        reply = _update_edge(client, found, changed)
    else:
        _demand_options(changed, OF_NODE, "a node")
        reply = _update_node(client, found, changed)
    if session.as_json:
        session.reply(reply)
        return
    if is_claimed(reply):
        show_claims(reply)
        return
    show(text("Updated ").append(found.id, "bold"))
    if not isinstance(reply, UpdateNodeResponse):
        show_gave_way(reply.gave_way)


def _demand_options(changed: dict[str, Any], known: Collection[str], what: str) -> None:
    wrong = [f"--{option}" for option in changed if option not in known]
    if wrong:
        raise typer.BadParameter(f"{', '.join(wrong)}: not for {what}.")


def _update_memory(
    client: "Client", memory: Memory, changed: dict[str, Any]
) -> "UpdateMemoryResponse":
    from concord.graph.v1.memory_pb2 import UpdateMemoryRequest

    request = UpdateMemoryRequest(
        memory=Memory(id=memory.id, etag=memory.etag, **_values(changed)),
        update_mask=_mask(changed),
    )
    words = f"concord propose update {memory.id} TEXT"
    with or_propose(words if [*changed] == ["content"] else BY_FILE):
        return client.memory.UpdateMemory(request)


def _update_edge(client: "Client", edge: Edge, changed: dict[str, Any]) -> UpdateEdgeResponse:
    request = UpdateEdgeRequest(
        edge=Edge(id=edge.id, etag=edge.etag, **_values(changed)), update_mask=_mask(changed)
    )
    own = f"concord propose change {edge.id}"
    with or_propose(own if {*changed} <= {"weight", "property"} else BY_FILE):
        return client.graph.UpdateEdge(request)


def _update_node(client: "Client", node: Node, changed: dict[str, Any]) -> UpdateNodeResponse:
    request = UpdateNodeRequest(
        node=Node(id=node.id, etag=node.etag, **_values(changed)), update_mask=_mask(changed)
    )
    own = f"concord propose rename {node.id} NAME"
    with or_propose(own if [*changed] == ["name"] else BY_FILE):
        return client.graph.UpdateNode(request)


def _values(changed: dict[str, Any]) -> dict[str, Any]:
    return {PATHS[option]: value for option, value in changed.items() if value is not None}


def _mask(changed: dict[str, Any]) -> FieldMask:
    return FieldMask(paths=[PATHS[option] for option in changed])
