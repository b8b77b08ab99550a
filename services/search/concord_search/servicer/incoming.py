"""Translates requests into queries."""

from collections.abc import Iterable
from dataclasses import replace
from unicodedata import normalize

from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call import opaque
from concord_chassis.call.identity import caller
from concord_concepts import normalise
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from concord_search.domain.errors import (
    FilterUnsupported,
    FreshnessTokenInvalid,
    PageTokenInvalid,
    VersionServes,
)
from concord_search.domain.filters import MemoryFilter, Superseded
from concord_search.domain.instants import AsOf, Micros
from concord_search.domain.memory import property_of
from concord_search.domain.stac import MAX_LINES, StacOptions
from concord_search.ports.index import Version
from concord_search.usecases.find_similar import SimilarQuery
from concord_search.usecases.progress import Demand
from concord_search.usecases.search_context import SearchQuery

DEFAULT_PAGE = 10
DEFAULT_PARKED_PAGE = 50
MAX_FILTER_DEPTH = 5

_MODES = {
    search_pb2.SUPERSEDED_MODE_UNSPECIFIED: Superseded.EXCLUDE,
    search_pb2.SUPERSEDED_MODE_EXCLUDE: Superseded.EXCLUDE,
    search_pb2.SUPERSEDED_MODE_INCLUDE: Superseded.INCLUDE,
    search_pb2.SUPERSEDED_MODE_HISTORY: Superseded.HISTORY,
}


def text(value: str) -> str:
    """A word in Unicode NFC, the form in which graph stores and compares words."""
    return normalize("NFC", value)


def query(request: search_pb2.SearchRequest) -> SearchQuery:
    """A search request. Raises the errors of its tokens and filters."""
    offset, now = _cursor(request)
    return SearchQuery(
        text=request.query,
        filter=memory_filter(request.filter, "filter"),
        domain=text(request.domain),
        concepts=tuple(request.concepts),
        superseded=_MODES[request.superseded],
        min_score=request.min_score,
        demand=demand(request.consistency),
        page_size=request.page_size or DEFAULT_PAGE,
        offset=offset,
        now=now,
        peek=request.peek,
        principal=caller().principal,
        session_id=request.session_id,
        stac=StacOptions(
            max_lines=request.stac.max_lines or MAX_LINES,
            show_why=not request.stac.hide_why,
            show_next=not request.stac.hide_next,
        ),
        as_of=as_of(request.as_of),
        with_companions=request.pack_tokens > 0,
        today=_micros(request.today) if request.HasField("today") else None,
        no_window=request.no_window,
        include_edges=request.include_edges,
    )


def integrative_query(request: search_pb2.IntegrativeSearchRequest) -> SearchQuery:
    """An integrative search request but for its node. Raises as `query` does."""
    return SearchQuery(
        text=request.query,
        filter=memory_filter(request.filter, "filter"),
        superseded=Superseded.INCLUDE if request.include_superseded else Superseded.EXCLUDE,
        demand=demand(request.consistency),
        page_size=request.limit or DEFAULT_PAGE,
        peek=request.peek,
        principal=caller().principal,
        session_id=request.session_id,
        as_of=as_of(request.as_of),
        names_times=False,
    )


def near_query(
    request: search_pb2.FindSimilarRequest | search_pb2.BatchFindSimilarRequest,
) -> SimilarQuery:
    """What both find-similar requests ask: about one memory or text, or about each of many."""
    return SimilarQuery(
        filter=memory_filter(request.filter, "filter"),
        min_similarity=request.min_similarity if request.HasField("min_similarity") else -1.0,
        demand=demand(request.consistency),
        limit=request.limit or DEFAULT_PAGE,
    )


def similar_query(request: search_pb2.FindSimilarRequest) -> SimilarQuery:
    """A find-similar request about one memory or text."""
    return replace(
        near_query(request),
        memory_id=request.memory_id,
        text=request.text,
        include_superseded=request.include_superseded,
        as_of=as_of(request.as_of),
    )


def first_parked(request: search_pb2.ListParkedChangesRequest) -> int:
    """The sequence number from which parked changes are listed."""
    cursor = opaque.page_cursor(request, (int,))
    return 0 if cursor is None else cursor[0]


def spare_version(request: search_pb2.DropIndexVersionRequest) -> Version:
    """A version that does not serve. Raises `VersionServes`."""
    if request.role == search_pb2.INDEX_VERSION_ROLE_SERVING:
        raise VersionServes("the version that serves cannot be dropped")
    return Version.NEXT if request.role == search_pb2.INDEX_VERSION_ROLE_NEXT else Version.FORMER


def as_of(asked: type_pb2.AsOf) -> AsOf:
    """The instant of a request's read."""
    valid, record = (
        _micros(getattr(asked, name)) if asked.HasField(name) else None
        for name in ("valid_time", "record_time")
    )
    return AsOf(valid, record)


def _cursor(request: search_pb2.SearchRequest) -> tuple[int, Micros | None]:
    cursor = opaque.page_cursor(request, (int, int))
    if cursor is None:
        return 0, None
    offset, now = cursor
    if offset < 0:
        raise PageTokenInvalid("the page token is damaged")
    return offset, now


def demand(consistency: type_pb2.Consistency) -> Demand | None:
    """The freshness that a token demands; None without one. Raises `FreshnessTokenInvalid`."""
    if not consistency.at_least_as_fresh:
        return None
    try:
        data = opaque.unseal(consistency.at_least_as_fresh)
        token = type_pb2.FreshnessToken.FromString(data)
    except (opaque.Damaged, DecodeError) as error:
        raise FreshnessTokenInvalid("the token is damaged") from error
    return Demand(token.space, token.epoch, token.seq)


def memory_filter(wanted: search_pb2.SearchFilter, path: str, depth: int = 0) -> MemoryFilter:
    """A filter with all its parts. Raises `FilterUnsupported`, naming the part at fault."""
    if depth > MAX_FILTER_DEPTH:
        raise FilterUnsupported(path, f"is nested more than {MAX_FILTER_DEPTH} deep")
    if not wanted.ByteSize():  # most requests have none
        return MemoryFilter()
    inner = depth + 1
    return MemoryFilter(
        kinds=numbers(wanted.kinds, f"{path}.kinds"),
        tags_any=tuple(map(text, wanted.tags_any)),
        tags_all=tuple(map(text, wanted.tags_all)),
        tags_none=tuple(map(text, wanted.tags_none)),
        domain=text(wanted.domain),
        concepts=_concepts(wanted.concepts, f"{path}.concepts"),
        source=text(wanted.source),
        min_trust=wanted.min_trust,
        session_id=wanted.session_id,
        edge_types=numbers(wanted.edge_types, f"{path}.edge_types"),
        importances=numbers(wanted.importances, f"{path}.importances"),
        origins=numbers(wanted.origins, f"{path}.origins"),
        words_origins=numbers(wanted.words_origins, f"{path}.words_origins"),
        principal=wanted.principal,
        created_since=_instant(wanted, "created_since"),
        created_before=_instant(wanted, "created_before"),
        valid_since=_instant(wanted, "valid_since"),
        valid_before=_instant(wanted, "valid_before"),
        category=text(wanted.category),
        properties=_properties(wanted.properties, f"{path}.properties"),
        node=text(wanted.node),
        all_of=_parts(wanted.all_of, f"{path}.all_of", inner),
        any_of=_parts(wanted.any_of, f"{path}.any_of", inner),
        none_of=_parts(wanted.none_of, f"{path}.none_of", inner),
    )


def _parts(
    wanted: Iterable[search_pb2.SearchFilter], path: str, depth: int
) -> tuple[MemoryFilter, ...]:
    parts = tuple(memory_filter(part, f"{path}[{at}]", depth) for at, part in enumerate(wanted))
    if MemoryFilter() in parts:
        raise FilterUnsupported(path, "holds a filter that demands nothing")
    return parts


def numbers(values: Iterable[int], path: str) -> tuple[int, ...]:
    """Values of an enum. Raises `FilterUnsupported` for UNSPECIFIED."""
    found = tuple(values)
    if 0 in found:
        raise FilterUnsupported(path, "holds UNSPECIFIED, which no memory has")
    return found


def _properties(wanted: Struct, path: str) -> tuple[str, ...]:
    found = []
    for name, value in wanted.items():
        if not isinstance(value, (str, float, bool)):
            raise FilterUnsupported(f"{path}.{name}", "is no string, number or bool")
        found.append(property_of(text(name), text(value) if isinstance(value, str) else value))
    return tuple(found)


def _concepts(values: Iterable[str], path: str) -> tuple[str, ...]:
    found = tuple(normalise(value) for value in values)
    if not all(found):
        raise FilterUnsupported(path, "holds a concept without a letter or digit")
    return found


def _instant(wanted: search_pb2.SearchFilter, field: str) -> Micros | None:
    if not wanted.HasField(field):  # type: ignore[arg-type] # the four names above are fields
        return None
    return _micros(getattr(wanted, field))


def _micros(stamp: Timestamp) -> Micros:
    return stamp.seconds * 1_000_000 + stamp.nanos // 1_000
