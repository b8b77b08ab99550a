"""Finds, in every revision of a space, what an erasure by selection takes (M4)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from concord_graph.domain.claims import claim_of
from concord_graph.domain.items import (
    DeclaredRelation,
    Edge,
    EdgeType,
    End,
    Entry,
    ItemKind,
    Memory,
    MemoryOrigin,
    Node,
    Origin,
    Record,
    is_erased,
)
from concord_graph.domain.protection import is_reserved
from concord_graph.domain.selection import (
    By,
    Found,
    Kept,
    Names,
    Options,
    Part,
    Selected,
    Selection,
    Why,
    texts_in,
)
from concord_graph.domain.spelling import fold

_WORD = re.compile(r"[^\W_]+")
_LONGEST_NAME = 4
"""Words of another's name that is looked for in texts."""
_LABEL = 80


@dataclass(slots=True)
class _Trace:
    """An item over its revisions, the newest of them last."""

    newest: Record
    part: Part | None = None
    others: set[str] = field(default_factory=set)
    constitutive: bool = False

    def is_in(self, part: Part) -> None:
        self.part = part if self.part is None else min(self.part, part)


_ORDER = (
    *(ItemKind.MEMORY, ItemKind.EDGE, ItemKind.EPISODE, ItemKind.WORKING_MEMORY),
    *(ItemKind.CONFLICT, ItemKind.CLAIM, ItemKind.NODE),
)
"""The order of an erasure: what memories state goes with them, nodes when nothing names them."""


class Scan:
    """Takes every revision of a space, the older first; `selected` then says what is found."""

    def __init__(self, selection: Selection) -> None:
        self._by = selection.by
        self._own = selection.folded
        self._exact = frozenset(selection.names)
        self._names = Names(self._own)
        self._traces: dict[str, _Trace] = {}
        self._node_names: dict[str, set[str]] = {}
        self._parties: set[str] = set()
        self._ids: set[str] = set()

    def take(self, record: Record) -> None:
        """Take the next revision of an item."""
        self._note_ids(record)
        if is_erased(record):
            self._traces.pop(record.id, None)
            return
        trace = self._traces.setdefault(record.id, _Trace(record))
        trace.newest = record
        match record:
            case Node():
                self._node_names.setdefault(record.id, set()).add(fold(record.name))
                self._take_node(trace, record)
            case Memory():
                self._take_memory(trace, record)
            case Entry():
                self._take_entry(trace, record)
            case Edge():
                trace.constitutive = record.edge_type == EdgeType.CONSTITUTIVE or record.governed
                self._take_edge(trace, record)
            case DeclaredRelation():
                if self._mentions(record):
                    trace.is_in(Part.MENTION)

    def _note_ids(self, record: Record) -> None:
        for each in (record.id, record.revision.principal, getattr(record, "session_id", "")):
            held = each in self._exact or (
                self._by in (By.SUBJECT, By.SPEAKER) and each and self._names.are_in(each)
            )
            if held:
                self._ids.add(each)

    def _mentions(self, record: Record) -> bool:
        return self._by == By.SUBJECT and self._names.are_in(*texts_of(record))

    def _is_own_work(self, record: Record) -> bool:
        """Return whether the selected principal made the item, or the selected session has it."""
        if self._by == By.PRINCIPAL:
            return record.revision.number == 1 and record.revision.principal in self._exact
        return self._by == By.SESSION and getattr(record, "session_id", "") in self._exact

    def _note_work(self, trace: _Trace, record: Record) -> None:
        if self._is_own_work(record):
            trace.is_in(Part.SAID)
        elif self._by == By.PRINCIPAL and record.revision.principal not in self._exact:
            trace.others.add(record.revision.principal)  # somebody else changed it

    def _take_node(self, trace: _Trace, node: Node) -> None:
        if not node.of_facts:
            self._note_work(trace, node)
        if self._by != By.SUBJECT:
            return
        if fold(node.name) in self._own:
            trace.is_in(Part.FACTS)
        elif self._mentions(node):
            trace.is_in(Part.MENTION)
            trace.others.add(fold(node.name))

    def _take_memory(self, trace: _Trace, memory: Memory) -> None:
        trace.constitutive = memory.edge_type == EdgeType.CONSTITUTIVE
        self._note_work(trace, memory)
        speakers = {fold(source.speaker) for source in memory.sources if source.speaker}
        subjects = {fold(fact.subject) for fact in memory.facts}
        objects = {fold(fact.object) for fact in memory.facts}
        self._parties |= speakers | subjects
        if self._by == By.SPEAKER and speakers & self._own:
            trace.is_in(Part.SAID)
            trace.others |= speakers - self._own
        if self._by != By.SUBJECT:
            return
        if speakers & self._own:
            trace.is_in(Part.SAID)
            trace.others |= (speakers | subjects) - self._own
        elif (subjects | objects) & self._own:
            trace.is_in(Part.FACTS)
            trace.others |= subjects - self._own
        elif self._mentions(memory):
            trace.is_in(Part.MENTION)
            trace.others |= (speakers | subjects) - self._own

    def _take_entry(self, trace: _Trace, entry: Entry) -> None:
        if entry.kind != ItemKind.CONFLICT or self._by == By.PRINCIPAL:
            self._note_work(trace, entry)
        if self._mentions(entry):
            trace.is_in(Part.MENTION)

    def _take_edge(self, trace: _Trace, edge: Edge) -> None:
        """Only edges that callers wrote: others go with the memories that make them."""
        source = self._node_names.get(edge.source.id, set())
        self._parties |= source
        if edge.origin != Origin.EXPLICIT:
            return
        self._note_work(trace, edge)
        if self._by != By.SUBJECT:
            return
        named = edge.properties.get("participants")
        joined = {fold(str(name)) for name in named} if isinstance(named, list) else set()
        ends = source | self._node_names.get(edge.target.id, set())
        if (ends | joined) & self._own:
            trace.is_in(Part.FACTS)
            trace.others |= (joined | (source if not source & self._own else set())) - self._own
        elif self._mentions(edge):
            trace.is_in(Part.MENTION)
            trace.others |= source

    def selected(self, options: Options, pinned: Mapping[str, bool]) -> Selected:
        """Return what an erasure takes and what stays. `pinned`: ids that a consent depends on."""
        self._find_parties()
        self._take_made_ends()
        erased: dict[str, Found] = {}
        kept: list[Kept] = []
        for item_id, trace in self._traces.items():
            if trace.part is None:
                continue
            found = self._found(trace, trace.part)
            why = self._why_kept(trace, found, options, pinned)
            if why is None:
                erased[item_id] = found
            else:
                kept.append(Kept(found, why))
        self._derive(erased, kept, options, pinned)
        ordered = sorted(erased.values(), key=lambda each: (_ORDER.index(each.kind), each.id))
        kept.sort(key=lambda each: (each.why, each.found.kind, each.found.id))
        return Selected(tuple(ordered), tuple(kept), tuple(sorted(self._ids)))

    def candidates(self) -> Sequence[str]:
        """Return the ids of the selected nodes, edges and memories, which consents may pin."""
        return [
            item_id
            for item_id, trace in self._traces.items()
            if trace.part is not None and isinstance(trace.newest, (Node, Edge, Memory))
        ]

    def _why_kept(
        self, trace: _Trace, found: Found, options: Options, pinned: Mapping[str, bool]
    ) -> Why | None:
        newest = trace.newest
        reserved = isinstance(newest, (Node, Edge)) and is_reserved(newest)
        if trace.constitutive or reserved or pinned.get(found.id):
            return Why.CONSTITUTIVE
        if isinstance(newest, DeclaredRelation):
            return Why.DECLARATION
        if found.part == Part.MENTION and not options.mentions:
            return Why.MENTION
        return Why.SHARED if found.others and not options.shared else None

    def _found(self, trace: _Trace, part: Part) -> Found:
        newest = trace.newest
        return Found(
            newest.kind,
            newest.id,
            newest.revision.number,
            part,
            label_of(newest, self._node_names),
            tuple(sorted(trace.others)),
        )

    def _find_parties(self) -> None:
        """Note whom else the texts that mention the selected one name: who speaks or is a subject.

        A name of more words than `_LONGEST_NAME` is not looked for.
        """
        others = {tuple(_WORD.findall(name)) for name in self._parties - self._own}
        for trace in self._traces.values():
            if trace.part == Part.MENTION and isinstance(trace.newest, (Memory, Entry)):
                trace.others |= set(_named_in(" ".join(texts_of(trace.newest)), others))
                trace.others -= self._own

    def _take_made_ends(self) -> None:
        """Take the nodes that were made as an end of a selected edge, and never written since."""
        for trace in list(self._traces.values()):
            edge = trace.newest
            if trace.part is None or not isinstance(edge, Edge):
                continue
            for end in _ends(edge):
                other = self._traces.get(end.id)
                if other is None or not isinstance(other.newest, Node) or other.part is not None:
                    continue
                node = other.newest
                if node.create_time == edge.create_time and node.revision.number == 1:
                    other.is_in(trace.part)
                    other.others |= trace.others

    def _derive(
        self,
        erased: dict[str, Found],
        kept: list[Kept],
        options: Options,
        pinned: Mapping[str, bool],
    ) -> None:
        """Add what was derived from what is erased, and so on from that.

        What a person wrote by their own key is theirs as well, whatever it names as its source: it
        counts as shared.
        """
        staying = {each.found.id for each in kept}
        memories = [t for t in self._traces.values() if isinstance(t.newest, Memory)]
        grows = True
        while grows:
            grows = False
            for trace in memories:
                memory = trace.newest
                if not isinstance(memory, Memory) or memory.id in staying or memory.id in erased:
                    continue
                turns = [i for source in memory.sources for i in source.turn_ids]
                if not any(source in erased for source in (*memory.derived_from, *turns)):
                    continue
                if memory.origin == MemoryOrigin.HUMAN:
                    trace.others.add(memory.revision.principal)
                found = self._found(trace, Part.DERIVED)
                why = self._why_kept(trace, found, options, pinned)
                if why is None:
                    erased[memory.id], grows = found, True
                else:
                    kept.append(Kept(found, why))
                    staying.add(memory.id)


def texts_of(record: Record) -> Iterator[str]:
    """Yield every text of a record's content."""
    match record:
        case Node():
            yield from (record.name, record.label, record.vector_id)
            yield from _texts(record.properties)
        case Edge():
            yield record.relation
            yield from _texts(record.properties)
        case Memory():
            yield from (record.content, record.domain, record.external_id, record.category)
            yield from (*record.concepts, *record.tags, *record.surfaces_when)
            for source in record.sources:
                yield from (source.speaker, source.file)
            for fact in record.facts:
                yield from fact.triple
                yield from _texts(fact.properties)
            yield from _texts(record.properties)
        case Entry(kind=ItemKind.CONFLICT):
            yield from _texts(record.words)
        case Entry(kind=ItemKind.CLAIM):
            yield from texts_in(b64decode(claim_of(record).request))
        case Entry():
            yield from _texts({k: v for k, v in record.body.items() if k != "memory_ids"})
        case DeclaredRelation():
            yield from (record.name, *(name for names in record.exclusive_sets for name in names))


def label_of(record: Record, names: Mapping[str, set[str]]) -> str:
    """Return the beginning of what a record says, for people, up to 80 characters."""
    match record:
        case Node():
            text = record.name
        case Edge():
            ends = (" ".join(sorted(names.get(end.id, {end.id}))) for end in _ends(record))
            text = f" {record.relation} ".join(ends)
        case Memory():
            text = record.content
        case DeclaredRelation():
            text = record.name
        case Entry(kind=ItemKind.CLAIM):
            claim = claim_of(record)
            text = f"{claim.action.name.lower()} {claim.item.id}, {claim.state.name.lower()}"
        case _:
            text = " ".join(texts_of(record))
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LABEL else f"{one_line[: _LABEL - 1]}…"


def _ends(edge: Edge) -> tuple[End, End]:
    return edge.source, edge.target


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def _named_in(text: str, names: set[tuple[str, ...]]) -> Iterator[str]:
    words = _WORD.findall(fold(text))
    for start in range(len(words)):
        for length in range(1, _LONGEST_NAME + 1):
            name = tuple(words[start : start + length])
            if len(name) == length and name in names:
                yield " ".join(name)
