"""Recording, reviewing, resolving and reopening conflicts (D5, D6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from concord_graph.domain.conflicts import (
    Conflict,
    ConflictClass,
    ConflictState,
    Decision,
    Judge,
    Resolution,
    Review,
    check_older,
    conflict_of,
    pair_of,
    recorded,
    resolved,
    reviewed,
)
from concord_graph.domain.digests import etag
from concord_graph.domain.drafts import LineageDraft
from concord_graph.domain.errors import (
    AgentRequired,
    ConstitutiveProtected,
    FieldInvalid,
    ItemNotFound,
    ItemState,
)
from concord_graph.domain.items import (
    FOREVER,
    REPLACING,
    Edge,
    Entry,
    Instant,
    Item,
    ItemKind,
    Relation,
)
from concord_graph.ports import (
    Author,
    ConflictsDismissed,
    ConflictsRecorded,
    EntryFilter,
    FindingOutcome,
    LinkParser,
    Reads,
    Recorded,
    View,
    Written,
)
from concord_graph.usecases.items.lineage import add_lineage, contradiction, refuse_linked
from concord_graph.usecases.read import succession
from concord_graph.usecases.read.conflicts import named_conflict
from concord_graph.usecases.write.conflicts import CONFLICT_ID, as_before
from concord_graph.usecases.write.writer import Writer, claimed_as, written

MOST_DISMISSED = 500
"""Conflicts that one request dismisses or ends."""
_BY_GOVERNANCE = frozenset({"ApplyGovernedChange", "PreviewChange"})
"""RPCs of governance: it calls them with the agent's consent, or for the agent's session."""


async def record_conflicts(writer: Writer, findings: Sequence[Conflict]) -> ConflictsRecorded:
    """Record all of the judges' findings, or none.

    The kinds of the findings' sides are filled in here. A finding is stale if one of its items has
    a newer version, is gone, or was superseded by the other.
    """
    _check(findings)
    judged = await _Judged.of(writer.tx, findings, Instant(writer.now))
    stored = await writer.tx.conflicts_between([found.pair for found in findings])
    outcomes = []
    for place, found in enumerate(findings):
        entry = stored.get(found.pair)
        if judged.is_stale(found, place):
            outcomes.append(_outcome(FindingOutcome.STALE, entry))
            continue
        known = conflict_of(entry) if entry else None
        said = replace(judged.kinded(found), author=writer.author.principal)
        after = recorded(known, said)
        if entry is not None and after == known:
            outcomes.append(_outcome(FindingOutcome.UNCHANGED, entry))
            continue
        became = FindingOutcome.UPDATED if entry else FindingOutcome.CREATED
        outcomes.append(_outcome(became, await writer.put_conflict(entry, after)))
    return ConflictsRecorded(tuple(outcomes))


async def review_conflict(writer: Writer, conflict_id: str, etag: str, review: Review) -> Written:
    """Confirm, dismiss, except or reclassify a conflict that is not resolved."""
    stored, conflict, needs_consent = await _decidable(writer, conflict_id, etag)
    after = reviewed(conflict, review, writer.author.principal, stored.revision.number)
    decided = await _put(writer, stored, after, needs_consent=needs_consent)
    return written(stored, decided)


async def dismiss_conflicts(
    writer: Writer, *, run_id: str, rule: str, group_id: str, context: str
) -> ConflictsDismissed:
    """Dismiss potential conflicts of a run, a rule or a group, at most `MOST_DISMISSED`.

    Two of these are empty. By rule or group only findings of text are dismissed: judges of typed
    facts have rules of the same names. A conflict that takes consent, or the agent, is left: each
    of these is reviewed alone.
    """
    potential = EntryFilter(
        ItemKind.CONFLICT, shelf=None, shelves=(ConflictState.POTENTIAL.name,), run_id=run_id
    )
    found, _ = await writer.tx.entries(potential, Instant(0, FOREVER))
    review = Review(Decision.DISMISS, context)
    dismissed = left = 0
    for entry in found:
        conflict = conflict_of(entry)
        if not run_id and not _is_named(conflict, rule, group_id):
            continue
        if dismissed == MOST_DISMISSED:
            return ConflictsDismissed(dismissed, 0, is_complete=False)
        try:
            needs_consent = await _demand_decidable(writer, entry, conflict)
        except (ConstitutiveProtected, AgentRequired):
            left += 1
            continue
        after = reviewed(conflict, review, writer.author.principal, entry.revision.number)
        await _put(writer, entry, after, needs_consent=needs_consent)
        dismissed += 1
    return ConflictsDismissed(dismissed, left, is_complete=True)


async def end_former_findings(
    writer: Writer, judges_version: int, not_found: Set[str] = frozenset()
) -> ConflictsDismissed:
    """End findings of text of judges before a version, and those of former words that judges do not
    find any more: `not_found`, by id. At most `MOST_DISMISSED`.

    No consent is needed: what judges alone found, they take back. A pair can be found anew.
    """
    potential = EntryFilter(ItemKind.CONFLICT, shelf=None, shelves=(ConflictState.POTENTIAL.name,))
    found, _ = await writer.tx.entries(potential, Instant(0, FOREVER))
    conflicts = [
        (entry, conflict)
        for entry in found
        if (conflict := conflict_of(entry)).is_text_finding and not conflict.reviewed_by
    ]
    named = [conflict for entry, conflict in conflicts if entry.id in not_found]
    judged = await _Judged.of(writer.tx, named, Instant(writer.now))
    former = [
        (entry, conflict)
        for entry, conflict in conflicts
        if conflict.judges_version < judges_version
        or (entry.id in not_found and judged.has_changed(conflict))
    ]
    for entry, conflict in former[:MOST_DISMISSED]:
        await writer.put_conflict(entry, conflict, deleted=True)
    ended = min(len(former), MOST_DISMISSED)
    return ConflictsDismissed(ended, 0, is_complete=ended == len(former))


def _is_named(conflict: Conflict, rule: str, group_id: str) -> bool:
    said, asked = (conflict.group_id, group_id) if group_id else (conflict.rule, rule)
    return conflict.is_text_finding and said == asked


async def resolve_conflict(
    writer: Writer,
    conflict_id: str,
    etag: str,
    *,
    resolution_type: ConflictClass,
    superseded_id: str,
    context: str,
) -> Written:
    """Resolve a conflict, with the lineage that states which side gave way, if one did."""
    stored, conflict, needs_consent = await _decidable(writer, conflict_id, etag)
    principal = writer.author.principal
    asked = Resolution(resolution_type, superseded_id, "", context, writer.now, principal)
    after = resolved(conflict, asked, stored.revision.number)
    resolution = after.resolution
    if resolution is not None and resolution.superseded_id:
        with claimed_as(stored):
            stated = await add_lineage(writer, _record_of(stored.id, resolution))
        resolution = replace(resolution, record_id=stated.ref.id, made_record=stated.is_new)
        after = replace(after, resolution=resolution)
    return written(stored, await writer.put_conflict(stored, after, needs_consent=needs_consent))


async def reopen_conflict(
    writer: Writer, conflict_id: str, etag: str, links: LinkParser
) -> Written:
    """Undo the last review or resolution of a conflict, and delete the lineage that it wrote."""
    stored, conflict, needs_consent = await _decidable(writer, conflict_id, etag)
    if not conflict.reopens_at:
        raise ItemState("there is no review or resolution to take back")
    after = await as_before(writer.tx, stored)
    reopened = await _put(writer, stored, after, needs_consent=needs_consent)
    resolution = conflict.resolution
    if conflict.state == ConflictState.RESOLVED and resolution and resolution.made_record:
        with claimed_as(stored):
            record = await _delete(writer, resolution.record_id)
        if record is not None:
            await refuse_linked(writer, record, links)
    return written(stored, reopened)


class _Judged:
    """The items that findings are about, as they are now."""

    def __init__(
        self,
        views: Mapping[str, View],
        successors: Mapping[str, set[str]],
        replacing: Set[tuple[str, str]],
    ) -> None:
        self._views = views
        self._successors = successors
        self._replacing = replacing

    @classmethod
    async def of(cls, tx: Reads, findings: Sequence[Conflict], at: Instant) -> _Judged:
        """Read the items of all findings, with one query a kind."""
        ids = {item_id for found in findings for item_id in found.pair}
        views: dict[str, View] = {}
        successors: dict[str, set[str]] = {}
        for kind in (ItemKind.EDGE, ItemKind.MEMORY):
            views |= await tx.views(kind, ids, at)
            found = await succession.successors(tx, kind, ids, at)
            successors |= {item_id: set(ones) for item_id, ones in found.items() if ones}
        replacing = {
            pair_of(edge.source.id, edge.target.id)
            for edge in await tx.lineage_edges(ids)
            if edge.relation in REPLACING and not edge.claimed
        }
        return cls(views, successors, replacing)

    def has_changed(self, found: Conflict) -> bool:
        """Return whether a side is gone, or has another version than the judged one."""
        items = [self._views[side.id].item for side in found.sides if side.id in self._views]
        versions = [etag(item) for item in items if not item.deleted]
        return versions != [side.etag for side in found.sides]

    def is_stale(self, found: Conflict, place: int) -> bool:
        """Return whether a side is gone, has another version by now, or superseded the other one.

        Raises:
            ItemNotFound: a side never existed.
            FieldInvalid: the sides are items of two kinds, or lineage edges.
        """
        for side in found.sides:
            if side.id not in self._views:
                raise ItemNotFound(side.id)
        items = [self._views[side.id].item for side in found.sides]
        if items[0].kind != items[1].kind:
            raise FieldInvalid(
                f"findings[{place}].second_id", "must name an item of first_id's kind"
            )
        if any(isinstance(item, Edge) and item.is_lineage for item in items):
            raise FieldInvalid(f"findings[{place}].first_id", "lineage is no side of a conflict")
        versions = [side.etag for side in found.sides]
        gone = any(item.deleted for item in items)
        return gone or [etag(item) for item in items] != versions or self._is_settled(found, items)

    def _is_settled(self, found: Conflict, items: Sequence[Item]) -> bool:
        """Return whether one side has superseded the other.

        Values of a functional relation that state no valid time supersede each other by arrival;
        that order settles no conflict. No order settles a contradiction: of two values that are
        stated of different times judges say it only if the relation is eternal.
        """
        if found.pair in self._replacing:
            return True
        if found.conflict_class == ConflictClass.CONTRADICTION and found.judge == Judge.STRUCTURAL:
            return False
        starts = [item.valid_from for item in items if isinstance(item, Edge)]
        if starts and (None in starts or starts[0] == starts[1]):
            return False
        first, second = found.pair
        replaced = self._successors.get(first, set()) | self._successors.get(second, set())
        return bool({first, second} & replaced)

    def kinded(self, found: Conflict) -> Conflict:
        """Return a finding with the kinds of its sides."""
        first, second = (replace(s, kind=self._views[s.id].item.kind) for s in found.sides)
        return replace(found, first=first, second=second)


def _check(findings: Sequence[Conflict]) -> None:
    seen = set()
    for place, found in enumerate(findings):
        if found.first.id == found.second.id:
            raise FieldInvalid(f"findings[{place}].second_id", "must be another item than first_id")
        if found.pair in seen:
            raise FieldInvalid(f"findings[{place}]", "the pair stands in the batch already")
        seen.add(found.pair)
        check_older(found, f"findings[{place}].older_id")


def _outcome(outcome: FindingOutcome, entry: Entry | None) -> Recorded:
    if entry is None:
        return Recorded(outcome)
    conflict = conflict_of(entry)
    return Recorded(outcome, entry.id, conflict.state, conflict.run_id, entry.rank)


async def _decidable(writer: Writer, conflict_id: str, etag: str) -> tuple[Entry, Conflict, bool]:
    """Return a conflict that the caller may decide about, and whether that needs consent."""
    stored = await named_conflict(writer.tx, conflict_id)
    if stored is None:
        raise ItemNotFound(conflict_id)
    conflict = conflict_of(stored)
    needs_consent = await _demand_decidable(writer, stored, conflict)
    await writer.demand_etag(stored, etag)
    return stored, conflict, needs_consent


async def _demand_decidable(writer: Writer, stored: Entry, conflict: Conflict) -> bool:
    """Refuse what this author may not decide alone; return whether it needs consent."""
    needs_consent = await writer.demand_decidable(stored, conflict)
    if conflict.conflict_class == ConflictClass.NUANCE:
        _demand_agent(writer.author)
    return needs_consent


def _demand_agent(author: Author) -> None:
    if author.kind != "AGENT" and author.method not in _BY_GOVERNANCE:
        raise AgentRequired("whether a tension may stand is the agent's to say")


async def _put(writer: Writer, stored: Entry, after: Conflict, *, needs_consent: bool) -> Entry:
    """Write a reviewed conflict, then create or delete the CONTRADICTS edge between its sides.

    An edge that a content's link made goes, too (D5): that line is not read again. The conflict
    comes first: the write of an edge that it does not name yet would change it again.
    """
    known = conflict_of(stored)
    before, edge = None, None
    if after.is_asserted:
        before, edge = await contradiction(writer, after)
    after = replace(after, contradicts_id=edge.id if edge else "")
    entry = await writer.put_conflict(stored, after, needs_consent=needs_consent)
    with claimed_as(stored):
        if edge is not None and edge != before:
            await writer.put(before, edge)
        if known.contradicts_id and known.contradicts_id != after.contradicts_id:
            await _delete(writer, known.contradicts_id)
    return entry


async def _delete(writer: Writer, edge_id: str) -> Edge | None:
    edge = await writer.tx.edge(edge_id)
    if edge is None or edge.deleted:
        return None
    return await writer.put(edge, replace(edge, deleted=True))


def _record_of(conflict_id: str, resolution: Resolution) -> LineageDraft:
    """Return the lineage that states a resolution (D6)."""
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=resolution.time)
    return LineageDraft(
        newer_id=resolution.superseding_id,
        relation=Relation.SUPERSEDES,
        older_id=resolution.superseded_id,
        context=resolution.context,
        properties={
            CONFLICT_ID: conflict_id,
            "resolution_type": resolution.resolution_type.name,
            "resolved_at": time.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "resolved_by": resolution.by,
        },
    )
