"""The verbs, each a step: a request and a function that reads the reply.

The server checks the arguments. Ids and etags are texts of up to 128 characters. An instant is an
aware `datetime`; a naive one counts as UTC. Taking a step raises `Refused` or one of its kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import graph_pb2, lineage_pb2, memory_pb2, relation_pb2
from concord.search.v1 import search_pb2, suggestion_pb2
from concord.type.v1 import type_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from concord_client.facts import said_in, take_facts
from concord_client.links import with_links
from concord_client.verbs import read_reply, things
from concord_client.verbs.arguments import instant, stamp, struct, value_of
from concord_client.verbs.things import Direction, Fact, Importance, Kind, Lineage, Origin

T = TypeVar("T")


@dataclass(frozen=True)
class Step(Generic[T]):
    """A call: its request, which one method alone takes, and the function that reads its reply."""

    request: Message
    read: Callable[..., T]
    timeout: float | None = None

    @property
    def path(self) -> str:
        """The method, as "/package.Service/Method"."""
        method = _method(self.request.DESCRIPTOR)
        return f"/{method.containing_service.full_name}/{method.name}"

    @property
    def reply(self) -> type[Message]:
        """The class of its reply."""
        return GetMessageClass(_method(self.request.DESCRIPTOR).output_type)


@cache
def _method(request: Descriptor) -> MethodDescriptor:
    """The method that takes such a request: its service stands in the request's file."""
    services = request.file.services_by_name.values()
    methods = (method for service in services for method in service.methods)
    return next(method for method in methods if method.input_type == request)


Steps: TypeAlias = Generator[Step[Any], Any, T]
"""Several calls in a row: it yields each step and gets its result; it returns the verb's."""


def taken(step: Step[T]) -> Steps[T]:
    """One of several steps, with its result's type: `result = yield from taken(step)`."""
    result: T = yield step
    return result


def add(
    content: str,
    *,
    id: str = "",  # noqa: A002 - what it is
    kind: Kind | None = None,
    importance: Importance | None = None,
    domain: str = "",
    tags: Sequence[str] = (),
    concepts: Sequence[str] = (),
    surfaces_when: Sequence[str] = (),
    facts: Sequence[Fact] = (),
    speaker: str = "",
    supersedes: Sequence[str] = (),
    amends: Sequence[str] = (),
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    external_id: str = "",
    session_id: str = "",
    properties: Mapping[str, object] | None = None,
    extract: bool = False,
) -> Steps[things.Added]:
    """Add a memory of up to 20,000 characters; the same text of the same source is added once.

    `supersedes` and `amends`: ids of memories that it replaces or amends. `surfaces_when`: up to 20
    triggers (`file:GLOB`, `error:REGEX`, or words) at which it is suggested unasked. `extract`: it
    also states the sure facts of its text that have no time of their own, up to 10 facts in all.
    """
    links = {"Supersedes": list(supersedes), "Amends": list(amends)}
    memory = type_pb2.Memory(
        id=id,
        content=with_links(content, links),
        kind=value_of(type_pb2.MemoryKind, kind, "kind"),
        importance=value_of(type_pb2.Importance, importance, "importance"),
        domain=domain,
        tags=tags,
        concepts=concepts,
        surfaces_when=surfaces_when,
        facts=[
            type_pb2.Fact(
                subject=each.subject,
                relation=each.relation,
                object=each.object,
                extracted=each.extracted,
            )
            for each in facts
        ],
        sources=[type_pb2.Source(speaker=speaker)] if speaker else [],
        valid_from=stamp(valid_from),
        valid_until=stamp(valid_until),
        external_id=external_id,
        session_id=session_id,
        properties=struct(properties),
    )
    found = None
    if extract:
        asked = dissonance_pb2.ExtractFactsRequest(texts=[said_in(memory, content)])
        reply = yield from taken(Step(asked, lambda reply: reply))
        take_facts(memory, reply)
        found = read_reply.extraction(reply)
    request = memory_pb2.AddMemoryRequest(memory=memory)
    added = yield from taken(Step(request, read_reply.added))
    return replace(added, extraction=found)


def search(
    query: str,
    *,
    limit: int = 10,
    domain: str = "",
    kinds: Sequence[Kind] = (),
    tags: Sequence[str] = (),
    node: str = "",
    include_superseded: bool = False,
    history: bool = False,
    min_score: float = 0.0,
    as_of: datetime | None = None,
    session_id: str = "",
    pack_tokens: int = 0,
    today: datetime | None = None,
    no_window: bool = False,
    include_edges: bool = False,
) -> Step[things.Answer]:
    """Find memories by meaning and by words. `limit`: 1 to 100; `tags`: all must match.

    `node`: only what is stated about or linked with this node, by name or id; raises `NotFound` for
    an unknown one. `history`: the whole chains of the results, by valid time. `pack_tokens`, at
    most 8,000: `context` is no longer than that, and holds what makes the results usable, too: the
    question before, the answer after, what replaces or amends them, and sister facts. `today`: by
    which "last week" is read; `no_window`: do not rank by the times that the query names.
    `include_edges`: find edges between nodes, too, which no memory may state.
    """
    mode = "HISTORY" if history else "INCLUDE" if include_superseded else "EXCLUDE"
    request = search_pb2.SearchRequest(
        query=query,
        page_size=limit,
        superseded=search_pb2.SupersededMode.Value(f"SUPERSEDED_MODE_{mode}"),
        min_score=min_score,
        as_of=instant(as_of),
        session_id=session_id,
        include_context=True,
        pack_tokens=pack_tokens,
        today=stamp(today),
        no_window=no_window,
        include_edges=include_edges,
    )
    if domain or kinds or tags or node:
        request.filter.domain = domain
        request.filter.node = node
        request.filter.tags_all.extend(tags)
        request.filter.kinds.extend(value_of(type_pb2.MemoryKind, each, "kinds") for each in kinds)
    return Step(request, read_reply.answer)


def suggest(
    text: str = "",
    *,
    file: str = "",
    error: str = "",
    session_id: str = "",
    limit: int = 3,
    repeat: bool = False,
) -> Step[tuple[things.Suggestion, ...]]:
    """Suggest the few memories that matter at a file, an error or a text; none rather than noise.

    `limit`: 1 to 10. A session gets no memory twice unless `repeat` is set.
    """
    request = suggestion_pb2.SuggestProactivelyRequest(
        snippet=text,
        file_path=file,
        error_message=error,
        session_id=session_id,
        limit=limit,
        repeat=repeat,
    )
    return Step(request, read_reply.suggestions)


def get(id: str, *, as_of: datetime | None = None) -> Step[things.Memory | None]:  # noqa: A002
    """The memory with this id, or None. A forgotten one is `forgotten`, an erased one `erased`."""
    request = memory_pb2.GetMemoryRequest(id=id, as_of=instant(as_of))

    def read(reply: memory_pb2.GetMemoryResponse) -> things.Memory | None:
        return read_reply.memory(reply.memory) if reply.HasField("memory") else None

    return Step(request, read)


def list_(
    *,
    kinds: Sequence[Kind] = (),
    tag: str = "",
    domain: str = "",
    origins: Sequence[Origin] = (),
    words_origins: Sequence[Origin] = (),
    principal: str = "",
    session_id: str = "",
    properties: Mapping[str, object] | None = None,
    include_superseded: bool = False,
    limit: int = 50,
    page_token: str = "",
    as_of: datetime | None = None,
) -> Step[things.Page[things.Memory]]:
    """A page of the memories, the newest first. Nothing counts as read. `limit`: 1 to 200.

    `principal`: who first wrote them; `domain`: this one and those below it; `properties`: all must
    be equal. `page_token`: the `next_page_token` of the page before, with the same other arguments.
    """
    request = memory_pb2.ListMemoriesRequest(
        filter=memory_pb2.MemoryFilter(
            kinds=[value_of(type_pb2.MemoryKind, each, "kinds") for each in kinds],
            tag=tag,
            domain=domain,
            origins=[value_of(type_pb2.Origin, each, "origins") for each in origins],
            words_origins=[
                value_of(type_pb2.Origin, each, "words_origins") for each in words_origins
            ],
            principal=principal,
            session_id=session_id,
            properties=struct(properties),
        ),
        include_superseded=include_superseded,
        page_size=limit,
        page_token=page_token,
        as_of=instant(as_of),
    )

    def read(reply: memory_pb2.ListMemoriesResponse) -> things.Page[things.Memory]:
        return things.Page(
            tuple(read_reply.memory(each) for each in reply.memories), reply.next_page_token
        )

    return Step(request, read)


def history(id: str, *, limit: int = 50) -> Step[tuple[things.Version, ...]]:  # noqa: A002
    """A memory's versions, the newest first. `limit`: 1 to 200."""
    request = memory_pb2.GetMemoryHistoryRequest(id=id, page_size=limit)

    def read(reply: memory_pb2.GetMemoryHistoryResponse) -> tuple[things.Version, ...]:
        return tuple(read_reply.version(each) for each in reply.versions)

    return Step(request, read)


def relate(newer_id: str, relation: Lineage, older_id: str) -> Step[things.WrittenEdge]:
    """Add lineage from an item to an older one."""
    request = lineage_pb2.AddLineageRequest(
        newer_id=newer_id,
        relation=value_of(type_pb2.LineageRelation, relation, "relation"),
        older_id=older_id,
    )

    def read(reply: lineage_pb2.AddLineageResponse) -> things.WrittenEdge:
        return read_reply.written_edge(reply)

    return Step(request, read)


def lineage(id: str, *, as_of: datetime | None = None) -> Step[things.Chain | None]:  # noqa: A002
    """What replaced what around a memory or an edge, the oldest first; None if there is none."""
    request = lineage_pb2.GetLineageRequest(id=id, as_of=instant(as_of))

    def read(reply: lineage_pb2.GetLineageResponse) -> things.Chain | None:
        found = reply.status == type_pb2.LOOKUP_STATUS_FOUND
        return read_reply.chain(reply) if found else None

    return Step(request, read)


def link(
    source: str,
    relation: str,
    target: str,
    *,
    weight: float | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    properties: Mapping[str, object] | None = None,
) -> Step[things.WrittenEdge]:
    """Add an edge between two nodes, by their names; missing nodes are created."""
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name=source),
        relation=relation,
        target=type_pb2.EdgeEnd(name=target),
        weight=weight,
        valid_from=stamp(valid_from),
        valid_until=stamp(valid_until),
        properties=struct(properties),
    )
    request = graph_pb2.UpsertEdgeRequest(edge=edge)

    def read(reply: graph_pb2.UpsertEdgeResponse) -> things.WrittenEdge:
        return read_reply.written_edge(reply)

    return Step(request, read)


def neighbors(
    node: str,
    *,
    depth: int = 1,
    direction: Direction = "BOTH",
    relations: Sequence[str] = (),
    limit: int = 20,
    as_of: datetime | None = None,
) -> Step[tuple[things.Neighbor, ...]]:
    """The neighbours of a node. `depth`: 1 to 5 hops; `limit`: 1 to 200."""
    request = graph_pb2.QueryNeighborsRequest(
        start=type_pb2.EdgeEnd(name=node),
        depth=depth,
        direction=value_of(type_pb2.Direction, direction, "direction"),
        page_size=limit,
        as_of=instant(as_of),
    )
    if relations:
        request.filter.relations.extend(relations)

    def read(reply: graph_pb2.QueryNeighborsResponse) -> tuple[things.Neighbor, ...]:
        return tuple(read_reply.neighbor(each) for each in reply.neighbors)

    return Step(request, read)


def follow(
    node: str, *relations: str, as_of: datetime | None = None
) -> Step[things.Followed | None]:
    """Follow 1 to 6 relations from a node, hop by hop; None if there is no such node."""
    request = relation_pb2.FollowRelationsRequest(
        start=type_pb2.EdgeEnd(name=node), relations=relations, as_of=instant(as_of)
    )

    def read(reply: relation_pb2.FollowRelationsResponse) -> things.Followed | None:
        found = reply.status == type_pb2.LOOKUP_STATUS_FOUND
        return read_reply.followed(reply) if found else None

    return Step(request, read)
