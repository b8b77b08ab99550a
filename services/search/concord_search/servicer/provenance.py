"""The provenance of results in words, and results as one text for a prompt (W8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from google.protobuf.timestamp_pb2 import Timestamp

SHOWN_CHARACTERS = 2_000

_WRITTEN = {
    type_pb2.ORIGIN_HUMAN: "written by a person",
    type_pb2.ORIGIN_AGENT: "written by an agent",
    type_pb2.ORIGIN_TOOL: "written by a tool",
    type_pb2.ORIGIN_IMPORT: "imported",
}


def provenance(memory: type_pb2.Memory) -> str:
    """A memory's kind, time and sources in one line, even if a source's name has line breaks."""
    return " ".join("; ".join(_parts(memory)).split())


def context(results: Iterable[search_pb2.SearchResult]) -> str:
    """Results as one text, each under a line with its id and provenance."""
    return "\n\n".join("\n".join(_lines(each)) for each in results)


def _parts(memory: type_pb2.Memory) -> Iterator[str]:
    yield type_pb2.MemoryKind.Name(memory.kind).removeprefix("MEMORY_KIND_").lower()
    yield _held(memory.supersession)
    sources = list(memory.sources)
    for word, names in (
        ("said by", [each.speaker for each in sources]),
        ("from", [each.file for each in sources]),
        ("from turns", [turn for each in sources for turn in each.turn_ids]),
        ("drawn from", [f"memory:{i}" for each in sources for i in each.memory_ids]),
    ):
        if named := list(dict.fromkeys(filter(None, names))):
            yield f"{word} {', '.join(named)}"
    if memory.session_id:
        place = f"turn {memory.turn_order} of" if memory.turn_order else "in"
        yield f"{place} session {memory.session_id}"
    if memory.origin in _WRITTEN:
        yield _WRITTEN[memory.origin]


def _held(span: type_pb2.Supersession) -> str:
    begin = _day(span.effective_valid_from)
    if not span.HasField("effective_valid_until"):
        return f"since {begin}"
    return f"from {begin} until {_day(span.effective_valid_until)}"


def _day(time: Timestamp) -> str:
    """An instant in UTC to the minute; to the day at midnight."""
    said = datetime.fromtimestamp(time.seconds, UTC).isoformat(" ", "minutes")
    return said.removesuffix("+00:00").removesuffix(" 00:00")


def _lines(result: search_pb2.SearchResult) -> Iterator[str]:
    memory = result.memory
    yield f"[memory:{memory.id}] {result.provenance}"
    if memory.supersession.is_superseded:
        heads = ", ".join(f"memory:{head}" for head in memory.supersession.head_ids)
        yield f"(superseded by {heads})" if heads else "(superseded)"
    for each in result.potential_conflicts:
        says = "may say" if each.is_text_finding else "says"
        yield f"(memory:{each.other_id} {says} otherwise: conflict {each.conflict_id})"
    content = memory.content.strip()
    cut = "…" if len(content) > SHOWN_CHARACTERS else ""
    for line in (content[:SHOWN_CHARACTERS] + cut).splitlines():
        yield f"  {line}"
