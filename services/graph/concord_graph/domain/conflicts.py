"""Conflicts (spec D5): their record, and how findings and decisions change it.

Every function returns the next version of a conflict, or raises why there is none. The sides' texts
are never stored: a conflict holds their ids, the etags of the judged versions, and spans.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from concord_graph.domain.errors import FieldInvalid, ItemState
from concord_graph.domain.items import Entry, ItemKind


class ConflictClass(enum.IntEnum):
    """How two statements disagree; numbers as in the contract."""

    EVOLUTION = 1
    CONTRADICTION = 2
    NUANCE = 3
    UNDECIDED = 4


class ConflictState(enum.IntEnum):
    """The state of a conflict; numbers as in the contract."""

    POTENTIAL = 1
    CONFIRMED = 2
    DISMISSED = 3
    EXCEPTION = 4
    RESOLVED = 5


OPEN = frozenset({ConflictState.POTENTIAL, ConflictState.CONFIRMED})


class ConflictType(enum.IntEnum):
    """What a conflict is about; numbers as in the contract."""

    UNKNOWN = 0
    LEGAL = 1
    FACTUAL = 2
    TEMPORAL = 3
    REGIONAL = 4
    METHODOLOGICAL = 5


class ConflictSeverity(enum.IntEnum):
    """How grave a conflict is; numbers as in the contract."""

    UNKNOWN = 0
    CRITICAL = 1
    MODERATE = 2
    MINOR = 3


class Judge(enum.IntEnum):
    """The kind of judge that found the disagreement; numbers as in the contract."""

    STRUCTURAL = 1
    LEXICAL = 2
    NLI = 3
    LLM = 4
    CALLER = 5
    OVERLAP = 6


OF_TEXT = frozenset({Judge.LEXICAL, Judge.NLI, Judge.LLM, Judge.OVERLAP})
"""The judges that go by words: what they find moves nothing until somebody confirms it."""


def is_text_finding(state: ConflictState, judge: Judge) -> bool:
    """Return whether a conflict was merely found in texts: nobody wrote, confirmed or closed it."""
    return state == ConflictState.POTENTIAL and judge in OF_TEXT


class Decision(enum.IntEnum):
    """What a review decides; numbers as in the contract."""

    CONFIRM = 1
    DISMISS = 2
    EXCEPT = 3
    RECLASSIFY = 4


@dataclass(frozen=True, slots=True)
class Side:
    """One side as it was judged. `spans`: its disagreeing parts, in code points, half-open.

    `etag` is empty for a ghost: a memory that a link named before it existed.
    """

    id: str
    kind: ItemKind
    etag: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a conflict was resolved; `time` in µs.

    `record_id`: the lineage that states the resolution; empty when neither side gave way.
    `made_record`: the resolution made that lineage, so reopening the conflict removes it.
    """

    resolution_type: ConflictClass
    superseded_id: str
    superseding_id: str
    context: str
    time: int
    by: str
    record_id: str = ""
    made_record: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """A disagreement of two items; `first` is the side with the smaller id.

    `reopens_at`: the revision that reopening restores; 0 when there is no decision to take back.
    `consented`: both principals consented to the last decision. `run_id`: the check that recorded
    it; empty if none did. `group_id`: the findings of text that belong together.
    `session_id`: the session at whose end it was found. `judges_version`: 0 if none was stated.
    """

    first: Side
    second: Side
    conflict_class: ConflictClass
    judge: Judge
    author: str
    state: ConflictState = ConflictState.POTENTIAL
    older_id: str = ""
    type: ConflictType = ConflictType.UNKNOWN
    severity: ConflictSeverity = ConflictSeverity.UNKNOWN
    confidence: float = 1.0
    rule: str = ""
    reviewed_by: str = ""
    context: str = ""
    contradicts_id: str = ""
    resolution: Resolution | None = None
    reopens_at: int = 0
    consented: bool = False
    run_id: str = ""
    group_id: str = ""
    session_id: str = ""
    judges_version: int = 0

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.first, self.second

    @property
    def pair(self) -> tuple[str, str]:
        """The ids of the sides, the smaller first."""
        return self.first.id, self.second.id

    @property
    def is_asserted(self) -> bool:
        """Whether the conflict is a confirmed contradiction: a CONTRADICTS edge joins the sides."""
        confirmed = self.state == ConflictState.CONFIRMED
        return confirmed and self.conflict_class == ConflictClass.CONTRADICTION

    @property
    def is_text_finding(self) -> bool:
        """Whether it was merely found in texts."""
        return is_text_finding(self.state, self.judge)

    def other(self, side_id: str) -> str:
        """Return the id of the other side."""
        return self.second.id if side_id == self.first.id else self.first.id


@dataclass(frozen=True, slots=True)
class Review:
    """A decision about a conflict; only RECLASSIFY uses `conflict_class` and `older_id`."""

    decision: Decision
    context: str = ""
    conflict_class: ConflictClass | None = None
    older_id: str = ""


def pair_of(one: str, other: str) -> tuple[str, str]:
    """Return two ids in the order in which a conflict holds them."""
    return (one, other) if one < other else (other, one)


def to_entry(conflict: Conflict, entry: Entry) -> Entry:
    """Return the entry with a conflict as its content; its `words` are erased with a side."""
    body = asdict(conflict)
    del body["state"]
    words = {"context": body.pop("context")}
    for name in ("first", "second"):
        words[name] = [list(span) for span in body[name].pop("spans")]
    if conflict.resolution:
        words["resolution"] = body["resolution"].pop("context")
    said = {name: each for name, each in words.items() if each}
    return replace(entry, body=body, words=said, shelf=conflict.state.name)


def conflict_of(entry: Entry) -> Conflict:
    """Return the conflict that is stored in an entry.

    Raises:
        KeyError, TypeError, ValueError: the entry holds no conflict.
    """
    body, words = dict(entry.body), entry.words
    resolution = body.pop("resolution")
    return Conflict(
        first=_side(body.pop("first"), words.get("first", ())),
        second=_side(body.pop("second"), words.get("second", ())),
        conflict_class=ConflictClass(body.pop("conflict_class")),
        judge=Judge(body.pop("judge")),
        type=ConflictType(body.pop("type")),
        severity=ConflictSeverity(body.pop("severity")),
        state=ConflictState[entry.shelf],
        context=words.get("context", ""),
        resolution=_resolution(resolution, words.get("resolution", "")) if resolution else None,
        **body,
    )


def recorded(stored: Conflict | None, found: Conflict) -> Conflict:
    """Return a pair's conflict after a finding; `stored` itself if the finding adds nothing.

    A decision, and the class of findings of text unless it is UNDECIDED, holds for the judged
    versions: after a change of a side, a finding reopens a conflict that was dismissed, excepted or
    resolved. A confirmed conflict stays until somebody reopens it.
    """
    if stored is None:
        return found
    if stored.state == ConflictState.CONFIRMED:
        return stored
    decided = stored.state != ConflictState.POTENTIAL or bool(stored.reviewed_by)
    if (decided or _keeps_class(stored, found)) and _versions(stored) == _versions(found):
        return stored
    found = replace(found, contradicts_id=stored.contradicts_id)
    same = replace(
        found,
        author=stored.author,
        run_id=stored.run_id,
        group_id=stored.group_id,
        session_id=stored.session_id,
    )
    return stored if same == stored else found


def reviewed(stored: Conflict, review: Review, by: str, revision: int) -> Conflict:
    """Return a conflict after a review; `revision` is that of `stored`.

    Raises:
        ItemState: the conflict is resolved, is in that state already, or has no class yet.
        FieldInvalid: the review lacks a field that its decision needs, or has one too many.
    """
    if stored.state == ConflictState.RESOLVED:
        raise ItemState("the conflict is resolved: reopen it first")
    after = replace(
        stored, reviewed_by=by, context=review.context, reopens_at=revision, consented=False
    )
    if review.decision == Decision.RECLASSIFY:
        return _reclassified(after, review)
    if review.conflict_class is not None or review.older_id:
        raise FieldInvalid("conflict_class", "goes with a reclassification alone")
    if review.decision == Decision.EXCEPT and not review.context.strip():
        raise FieldInvalid("context", "an exception needs its reason")
    after = replace(after, state=_DECIDED[review.decision])
    if after.state == stored.state:
        raise ItemState(f"the conflict is {stored.state.name} already")
    _demand_decided(after)
    return after


def resolved(stored: Conflict, resolution: Resolution, revision: int) -> Conflict:
    """Return a conflict as resolved; `superseded_id` and `superseding_id` are computed here.

    Raises:
        ItemState: the conflict is resolved already.
        FieldInvalid: the side that gives way is missing or no side, or the class is UNDECIDED.
    """
    if stored.state == ConflictState.RESOLVED:
        raise ItemState("the conflict is resolved already")
    if resolution.resolution_type == ConflictClass.UNDECIDED:
        raise FieldInvalid("resolution_type", "must be EVOLUTION, CONTRADICTION or NUANCE")
    gives_way = resolution.superseded_id
    if resolution.resolution_type == ConflictClass.EVOLUTION:
        gives_way = gives_way or stored.older_id
        if not gives_way:
            raise FieldInvalid("superseded_id", "an evolution needs the side that was true earlier")
    if gives_way and gives_way not in stored.pair:
        raise FieldInvalid("superseded_id", "must be a side of the conflict")
    resolution = replace(
        resolution,
        superseded_id=gives_way,
        superseding_id=stored.other(gives_way) if gives_way else "",
    )
    return replace(
        stored,
        state=ConflictState.RESOLVED,
        resolution=resolution,
        reopens_at=revision,
        consented=False,
    )


def asserted(stored: Conflict | None, edge_id: str, opened: Conflict, revision: int) -> Conflict:
    """Return a pair's conflict after a CONTRADICTS edge is written; `opened` if there was none.

    A resolved conflict stays resolved.
    """
    opened = replace(opened, state=ConflictState.CONFIRMED, contradicts_id=edge_id)
    if stored is None:
        return opened
    if stored.state == ConflictState.RESOLVED:
        return replace(stored, contradicts_id=edge_id)
    return replace(
        stored,
        state=ConflictState.CONFIRMED,
        conflict_class=ConflictClass.CONTRADICTION,
        older_id="",
        contradicts_id=edge_id,
        reviewed_by=opened.author,
        context="",
        reopens_at=revision,
        consented=False,
    )


def unasserted(stored: Conflict, by: str, revision: int) -> Conflict:
    """Return a conflict after its CONTRADICTS edge is deleted: no longer confirmed."""
    if stored.state != ConflictState.CONFIRMED:
        return replace(stored, contradicts_id="")
    return replace(
        stored,
        state=ConflictState.POTENTIAL,
        contradicts_id="",
        reviewed_by=by,
        context="",
        reopens_at=revision,
        consented=False,
    )


_DECIDED: Mapping[Decision, ConflictState] = {
    Decision.CONFIRM: ConflictState.CONFIRMED,
    Decision.DISMISS: ConflictState.DISMISSED,
    Decision.EXCEPT: ConflictState.EXCEPTION,
}


def check_older(conflict: Conflict, field: str) -> None:
    """Refuse an evolution without `older_id`, and `older_id` in any other class."""
    if conflict.conflict_class != ConflictClass.EVOLUTION:
        if conflict.older_id:
            raise FieldInvalid(field, "goes with EVOLUTION alone")
    elif conflict.older_id not in conflict.pair:
        raise FieldInvalid(field, "an evolution needs the side that was true earlier")


def _reclassified(after: Conflict, review: Review) -> Conflict:
    if review.conflict_class is None:
        raise FieldInvalid("conflict_class", "a reclassification needs the other class")
    said = (after.conflict_class, after.older_id)
    after = replace(after, conflict_class=review.conflict_class, older_id=review.older_id)
    check_older(after, "older_id")
    if (after.conflict_class, after.older_id) == said:
        raise ItemState(f"the conflict is of the class {after.conflict_class.name} already")
    _demand_decided(after)
    return after


def _demand_decided(conflict: Conflict) -> None:
    if (conflict.state, conflict.conflict_class) == (
        ConflictState.CONFIRMED,
        ConflictClass.UNDECIDED,
    ):
        raise ItemState("nobody could say how the sides disagree: reclassify the conflict first")


def _keeps_class(stored: Conflict, found: Conflict) -> bool:
    differs = (stored.conflict_class, stored.older_id) != (found.conflict_class, found.older_id)
    return differs and stored.is_text_finding and stored.conflict_class != ConflictClass.UNDECIDED


def _versions(conflict: Conflict) -> tuple[str, str]:
    return conflict.first.etag, conflict.second.etag


def _side(body: Mapping[str, Any], spans: Sequence[Sequence[int]]) -> Side:
    places = tuple((start, end) for start, end in spans)
    return Side(body["id"], ItemKind(body["kind"]), body["etag"], places)


def _resolution(body: Mapping[str, Any], context: str) -> Resolution:
    as_class = ConflictClass(body["resolution_type"])
    return Resolution(**{**body, "resolution_type": as_class, "context": context})
