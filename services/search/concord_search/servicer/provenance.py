"""The provenance of results in words, and results as one text for a prompt (W8).

What the server says stands in its own words, before what callers said: that is quoted and cut, and
no character of it can end the quotation, the line or the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_attestation.visible import NAMED, cut, named, quoted, visible
from google.protobuf.timestamp_pb2 import Timestamp

from concord_search.ports.graph import Hydrated, Statement
from concord_search.usecases.companions import Companions
from concord_search.usecases.paths import FactPath

SHOWN_CHARACTERS = 2_000
"""Most characters that are shown of a content."""
FACT_CHARACTERS = 1_200
CLAIMED_CHARACTERS = 200
"""Most characters of a fact: two names and a relation of the greatest lengths."""
BREAK = "\n\n"

TOKEN_BYTES = 3
"""A token counts as so many bytes of UTF-8, fewer than models' tokens of prose have."""

_WRITTEN = {
    type_pb2.ORIGIN_HUMAN: "written by a person",
    type_pb2.ORIGIN_AGENT: "written by an agent",
    type_pb2.ORIGIN_TOOL: "written by a tool",
    type_pb2.ORIGIN_IMPORT: "imported",
}
_WHOSE = {
    type_pb2.ORIGIN_HUMAN: "a person",
    type_pb2.ORIGIN_AGENT: "an agent",
    type_pb2.ORIGIN_TOOL: "a tool",
    type_pb2.ORIGIN_IMPORT: "an import",
}
_LOW = frozenset({type_pb2.ORIGIN_TOOL, type_pb2.ORIGIN_IMPORT})
_CLAIMED = {
    type_pb2.TRUST_LEVEL_DOUBTFUL: "doubtful",
    type_pb2.TRUST_LEVEL_VERIFIED: "verified",
}
"""What a writer claims of a source beyond that somebody said so."""


def provenance(memory: type_pb2.Memory) -> str:
    """A memory's kind, time and writer, then what its writer claims of it, in one line."""
    return "; ".join(_parts(memory))


def provenance_of_edge(edge: type_pb2.Edge) -> str:
    """When an edge held, and the memories that state it, in one line."""
    stated = ", ".join(f"memory:{each}" for each in edge.sources)
    said = f"edge; {_held(edge.supersession)}"
    return f"{said}; stated by {stated}" if stated else said


def context(results: Iterable[search_pb2.SearchResult]) -> str:
    """Results as one text, each under a line with its id and provenance."""
    return BREAK.join(_block(each, each.provenance) for each in results)


def _parts(memory: type_pb2.Memory) -> Iterator[str]:
    yield type_pb2.MemoryKind.Name(memory.kind).removeprefix("MEMORY_KIND_").lower()
    yield _held(memory.supersession)
    yield from _writers(memory)
    sources = list(memory.sources)
    for word, names in (
        ("said by", [quoted(each.speaker) for each in sources if each.speaker]),
        ("from", [quoted(each.file) for each in sources if each.file]),
        ("from turns", [named(turn) for each in sources for turn in each.turn_ids]),
        ("drawn from", [f"memory:{named(i)}" for each in sources for i in each.memory_ids]),
        ("claims to be", [_CLAIMED[each.trust] for each in sources if each.trust in _CLAIMED]),
    ):
        if names:
            yield f"{word} {_listed(names)}"
    if memory.session_id:
        place = f"turn {memory.turn_order} of" if memory.turn_order else "in"
        yield f"{place} session {named(memory.session_id)}"


def _writers(memory: type_pb2.Memory) -> Iterator[str]:
    """Who wrote it first, and whose words stand now if they are another's."""
    if memory.origin in _WRITTEN:
        yield _WRITTEN[memory.origin]
    if memory.words_origin in {memory.origin, type_pb2.ORIGIN_UNSPECIFIED}:
        return
    whose = _WHOSE[memory.words_origin]
    if memory.words_origin < memory.origin:
        yield f"said by {whose}, too"
    elif any(each.memory_ids for each in memory.sources):
        yield f"drawn from the words of {whose}"
    else:
        yield f"reworded by {whose}"


def _listed(names: Iterable[str]) -> str:
    """The first of the names, and how many there are beside them."""
    once = list(dict.fromkeys(names))
    more = f" and {len(once) - NAMED} more" if len(once) > NAMED else ""
    return ", ".join(once[:NAMED]) + more


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
    results: Sequence[search_pb2.SearchResult],
    companions: Sequence[Companions],
    paths: Sequence[FactPath],
    tokens: int,
) -> tuple[str, list[str]]:
    """Paths of facts, and results with what stands beside them, as one text of at most `tokens`.

    And the ids of the results that are not in it.

    The surest result comes first. What does not fit with what stands beside it stands alone; what
    does not fit is left out for what does. No memory stands there twice.
    """
    found = {
        _id(each): _block(each, _in_short(each.memory) if each.HasField("memory") else "")
        for each in results
    }
    ranked = sorted(zip(results, companions, strict=True), key=lambda each: -each[0].confidence)
    parts = [(_along(each), each.memories) for each in paths]
    left, told = tokens * TOKEN_BYTES, dict[str, str]()
    for (name, said), memories in parts:
        beside = {each.state.id: _as_found(each, found) for each in memories}
        left -= _put(told, {name: said}, beside, left)
    for result, beside_it in ranked:
        hit = _id(result)
        beside = dict(_beside(hit, beside_it, found))
        left -= _put(told, {hit: found[hit]}, beside, left)
    return BREAK.join(told.values()), [name for name in found if name not in told]


def _put(told: dict[str, str], alone: dict[str, str], beside: dict[str, str], left: int) -> int:
    """Adds a part with what stands beside it, else alone, if that fits; the bytes that it takes."""
    for block in (alone | beside, alone):
        new = {name: said for name, said in block.items() if name not in told}
        size = sum(len(said.encode()) + len(BREAK) for said in new.values())
        if size <= left:
            told |= new
            return size
    return 0


def _along(path: FactPath) -> tuple[str, str]:
    """A name for a path, and its line: `"Ada SISTER Bea"; "Bea LIVES_IN Bremen"`."""
    edges = ", ".join(f"edge:{each.edge_id}" for each in path.steps)
    said = "; ".join(
        quoted(" ".join(each.fact), FACT_CHARACTERS) + _limits(each) for each in path.steps
    )
    stating = dict.fromkeys(f"memory:{name}" for each in path.steps for name in each.memory_ids[:1])
    line = f"[{edges}] path: {said}"
    return edges, "; stated by ".join([line, ", ".join(stating)]) if stating else line


def _limits(step: Statement) -> str:
    """Until when it holds, if it ends, and which conflicts dispute it, in brackets."""
    said = []
    if step.until is not None:
        said.append(f"until {_day(Timestamp(seconds=step.until // 1_000_000))}")
    said += [f"disputed: conflict {each}" for each in step.conflict_ids]
    return f" ({', '.join(said)})" if said else ""


def _as_found(item: Hydrated, found: Mapping[str, str]) -> str:
    """A memory as the result that it is, else its lines."""
    memory = cast(type_pb2.Memory, item.shown)
    return found.get(memory.id) or "\n".join(_told(memory, _in_short(memory)))


def _beside(
    hit: str, companions: Companions, found: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """What stands beside a result, by id, each as text that says so."""
    for part, item in companions.memories:
        head, _, rest = _as_found(item, found).partition("\n")
        yield item.state.id, f"{head}\n({part}: memory:{hit})\n{rest}"
    for each in companions.facts:
        stated = ", ".join(f"memory:{name}" for name in each.memory_ids)
        fact = quoted(" ".join(each.fact), FACT_CHARACTERS)
        yield (
            each.edge_id,
            f"[edge:{each.edge_id}] also {fact}" + (f"; {stated}" if stated else ""),
        )


def _in_short(memory: type_pb2.Memory) -> str:
    """When a memory held, that a tool or an import had its words, and who said it."""
    said = [_held(memory.supersession).removeprefix("since ")]
    if {memory.origin, memory.words_origin} & _LOW:
        said += _writers(memory)
    if names := [quoted(each.speaker) for each in memory.sources if each.speaker]:
        said.append(_listed(names))
    return "; ".join(said)


def _id(result: search_pb2.SearchResult) -> str:
    return result.memory.id or result.edge.id


def _block(result: search_pb2.SearchResult, source: str) -> str:
    """A result's lines; an edge under its own provenance."""
    if result.HasField("memory"):
        return "\n".join(_told(result.memory, source, _notes(result)))
    edge = result.edge
    said = " ".join(f"{edge.source.name} {edge.relation} {edge.target.name}".split())
    said = visible(cut(said, FACT_CHARACTERS))
    replaced = _replaced(edge.supersession, "edge")
    return "\n".join(
        [f"[edge:{edge.id}] {result.provenance}", *replaced, *_disputes(result), f"  {said}"]
    )


def _replaced(span: type_pb2.Supersession, kind: str) -> Iterator[str]:
    if span.is_superseded:
        heads = ", ".join(f"{kind}:{head}" for head in span.head_ids)
        yield f"(superseded by {heads})" if heads else "(superseded)"


def _notes(result: search_pb2.SearchResult) -> list[str]:
    """The fact of a result that matched, and what disputes it."""
    fact = result.matched_fact
    said = f"{fact.subject} {fact.relation} {fact.object}"
    stated = [f"(states {quoted(said, FACT_CHARACTERS)})"] if said.strip() else []
    return [*stated, *_disputes(result)]


def _disputes(result: search_pb2.SearchResult) -> list[str]:
    return [
        f"(memory:{each.other_id} {'may say' if each.is_text_finding else 'says'} otherwise:"
        f" conflict {each.conflict_id})"
        for each in result.potential_conflicts
    ]


_GIVES_WAY = {
    type_pb2.CLAIM_ACTION_SUPERSEDE: "replaced",
    type_pb2.CLAIM_ACTION_DEPRECATE: "deprecated",
    type_pb2.CLAIM_ACTION_AMEND: "amended",
    type_pb2.CLAIM_ACTION_FOLLOW: "followed",
}


def _claims(memory: type_pb2.Memory) -> Iterator[str]:
    """Who says that another memory takes its place, or that it takes another's: not accepted."""
    for each in memory.claims:
        if each.action not in _GIVES_WAY:
            continue
        who, how = named(each.claimant), _GIVES_WAY[each.action]
        what = "this is" if each.item_id == memory.id else f"memory:{each.item_id} is"
        by = "this" if each.by_id == memory.id else f"memory:{each.by_id}"
        if each.by_statement:
            by += f" {quoted(each.by_statement, CLAIMED_CHARACTERS)}"
        yield f"({who} says that {what} {how} by {by}; not accepted: claim {each.number})"


def _told(memory: type_pb2.Memory, source: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """A memory's lines: id and provenance, what replaced it, notes, its text, indented."""
    yield f"[memory:{memory.id}] {source}"
    yield from _replaced(memory.supersession, "memory")
    yield from _claims(memory)
    yield from notes
    content = cut(memory.content.strip(), SHOWN_CHARACTERS)
    for line in visible(content.replace("\r\n", "\n")).split("\n"):
        yield f"  {line}"
