"""The provenance of results in words, and results as one text for a prompt (W8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from google.protobuf.timestamp_pb2 import Timestamp

from concord_search.usecases.companions import Companions

SHOWN_CHARACTERS = 2_000
BREAK = "\n\n"

TOKEN_BYTES = 3
"""A token counts as so many bytes of UTF-8, fewer than models' tokens of prose have."""

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
    return BREAK.join("\n".join(_lines(each)) for each in results)


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


def packed(
    results: Sequence[search_pb2.SearchResult], companions: Sequence[Companions], tokens: int
) -> str:
    """Results with what stands beside them as one text of at most `tokens`, the surest first.

    A result that does not fit with its companions stands alone; one that does not fit is left out
    for those that do. No memory stands there twice.
    """
    found = {
        each.memory.id: "\n".join(_told(each.memory, _in_short(each.memory), _disputes(each)))
        for each in results
    }
    left, told = tokens * TOKEN_BYTES, dict[str, str]()
    ranked = sorted(zip(results, companions, strict=True), key=lambda each: -each[0].confidence)
    for result, beside in ranked:
        hit = result.memory.id
        alone = {} if hit in told else {hit: found[hit]}
        whole = alone | {
            name: said
            for name, said in _beside(hit, beside, found)
            if name not in told and name not in alone
        }
        for block in (whole, alone):
            size = sum(len(said.encode()) + len(BREAK) for said in block.values())
            if size <= left:
                told |= block
                left -= size
                break
    return BREAK.join(told.values())


def _beside(
    hit: str, companions: Companions, found: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """What stands beside a result, by id, each as text that says so."""
    for part, item in companions.memories:
        memory = cast(type_pb2.Memory, item.shown)
        said = found.get(memory.id) or "\n".join(_told(memory, _in_short(memory)))
        head, _, rest = said.partition("\n")
        yield memory.id, f"{head}\n({part}: memory:{hit})\n{rest}"
    for each in companions.facts:
        stated = ", ".join(f"memory:{name}" for name in each.memory_ids)
        named = " ".join(" ".join(each.fact).split())
        yield (
            each.edge_id,
            f"[edge:{each.edge_id}] also {named}" + (f"; {stated}" if stated else ""),
        )


def _in_short(memory: type_pb2.Memory) -> str:
    """When a memory held, who said it, and that it was imported or written by a tool."""
    names = dict.fromkeys(each.speaker for each in memory.sources if each.speaker)
    said = [_held(memory.supersession).removeprefix("since "), *names]
    if memory.origin in {type_pb2.ORIGIN_TOOL, type_pb2.ORIGIN_IMPORT}:
        said.append(_WRITTEN[memory.origin])
    return " ".join("; ".join(said).split())


def _lines(result: search_pb2.SearchResult) -> Iterator[str]:
    return _told(result.memory, result.provenance, _disputes(result))


def _disputes(result: search_pb2.SearchResult) -> list[str]:
    return [
        f"(memory:{each.other_id} {'may say' if each.is_text_finding else 'says'} otherwise:"
        f" conflict {each.conflict_id})"
        for each in result.potential_conflicts
    ]


_CLAIMED = {
    type_pb2.CLAIM_ACTION_SUPERSEDE: "replaced",
    type_pb2.CLAIM_ACTION_DEPRECATE: "deprecated",
    type_pb2.CLAIM_ACTION_AMEND: "amended",
    type_pb2.CLAIM_ACTION_FOLLOW: "followed",
}


def _claims(memory: type_pb2.Memory) -> Iterator[str]:
    """Who says that another memory takes its place, or that it takes another's: not accepted."""
    for each in memory.claims:
        if each.action not in _CLAIMED:
            continue
        who, how = " ".join(each.claimant.split()), _CLAIMED[each.action]
        what = "this is" if each.item_id == memory.id else f"memory:{each.item_id} is"
        by = "this" if each.by_id == memory.id else f"memory:{each.by_id}"
        yield f"({who} says that {what} {how} by {by}; not accepted: claim {each.number})"


def _told(memory: type_pb2.Memory, source: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """A memory's lines: id and provenance, what replaced it, notes, its text, indented."""
    yield f"[memory:{memory.id}] {source}"
    if memory.supersession.is_superseded:
        heads = ", ".join(f"memory:{head}" for head in memory.supersession.head_ids)
        yield f"(superseded by {heads})" if heads else "(superseded)"
    yield from _claims(memory)
    yield from notes
    content = memory.content.strip()
    cut = "…" if len(content) > SHOWN_CHARACTERS else ""
    for line in (content[:SHOWN_CHARACTERS] + cut).splitlines():
        yield f"  {line}"
