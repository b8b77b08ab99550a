"""Renders conflicts and checks."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from concord.dissonance.v1 import dissonance_pb2
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_attestation.visible import named, quoted
from rich.console import RenderableType

from concord_client.cli.render.page import (
    fields,
    lines,
    plural,
    shortened,
    table,
    text,
    when,
    word,
)

_MOST_SHOWN = 200
"""The most characters of a side in a list."""
_WORD = re.compile(r"\w+(?:[.,:'\u2019-]\w+)*")
_WORD_OR_REST = re.compile(r"\w+(?:[.,:'\u2019-]\w+)*|\W+|\w+")
_SAMPLE = 3
"""The most findings of a rule that are shown though they are not recorded, and groups of it."""

Reply = dissonance_pb2.ReviewConflictResponse | dissonance_pb2.ResolveDissonanceResponse


def checked(
    status: "dissonance_pb2.CheckStatus.ValueType", coverage: dissonance_pb2.Coverage
) -> list[RenderableType]:
    """A check's status and coverage."""
    if status == dissonance_pb2.CHECK_STATUS_INSUFFICIENT_DATA:
        return [text("There are fewer than two statements to compare.", "dim")]
    said = (
        f"{plural(coverage.statements, 'statement')}, "
        f"{plural(coverage.candidates, 'pair')} to compare: {coverage.judged:,} judged, "
        f"{sum(coverage.abstained.values()):,} left undecided, "
        f"{sum(coverage.skipped.values()):,} not looked at; {coverage.recorded:,} recorded."
    )
    parts: list[RenderableType] = [text(said)]
    if status == dissonance_pb2.CHECK_STATUS_DEGRADED:
        what = _counted(coverage.skipped) or "a judge did not answer"
        parts.append(text(f"The check is incomplete: {what}.", "bold red"))
    elif coverage.skipped:
        parts.append(text(f"Not looked at: {_counted(coverage.skipped)}", "dim"))
    if coverage.abstained:
        parts.append(text(f"Undecided: {_counted(coverage.abstained)}", "dim"))
    if coverage.model_calls:
        said = (
            f"Language model: {plural(coverage.model_calls, 'call')}, "
            f"{plural(coverage.model_tokens, 'token')}, {coverage.model_micros / 1e6:.2f} of money"
        )
        parts.append(text(said, "dim"))
    return parts


def by_rule(
    conflicts: Sequence[conflict_pb2.Conflict], rules: Sequence[dissonance_pb2.RuleFindings]
) -> list[RenderableType]:
    """What a check found, a table for each rule; of what is not recorded, a few of each."""
    parts: list[RenderableType] = []
    for each in rules:
        found = [conflict for conflict in conflicts if conflict.rule == each.rule]
        left_out = [conflict for conflict in found if not conflict.id]
        count = f"{plural(each.found_count, 'finding')}, {each.recorded_count:,} recorded"
        parts += [
            text(f"{each.rule}: {count}", "bold"),
            listed([*(conflict for conflict in found if conflict.id), *left_out[:_SAMPLE]]),
        ]
        if len(left_out) > _SAMPLE:
            parts.append(text(f"... and {len(left_out) - _SAMPLE:,} more that are not recorded."))
        groups = Counter(conflict.group_id for conflict in found if conflict.group_id)
        parts += [
            text(f"{count:,} of these hang together: concord dismiss --group {group}", "dim")
            for group, count in groups.most_common(_SAMPLE)
            if count > 1
        ]
        if sum(groups.values()) > 1:
            parts.append(text(f"To dismiss them all: concord dismiss --rule {each.rule}", "dim"))
    return parts


def recurring(
    facts: Sequence[dissonance_pb2.RecurringFact],
) -> list[RenderableType]:
    """The recurring facts, each with the proposal to make it constitutive."""
    return [
        text(
            f"{each.item_id} was stated in each of the last five sessions. "
            f"Should it define the agent? concord review {each.proposal_number}"
        )
        for each in facts
    ]


def listed(
    conflicts: Sequence[conflict_pb2.Conflict],
    proposals: Mapping[str, int] | None = None,
    none: str = "No conflicts.",
) -> RenderableType:
    """A table of conflicts. `proposals`: the numbers of pending proposals, by conflict id."""
    if not conflicts:
        return text(none, "dim")
    made = table("=Conflict", "Sides")
    for each in conflicts:
        number = (proposals or {}).get(each.id, 0)
        sides = [shortened(side.statement, _MOST_SHOWN) for side in _in_time(each)]
        parts = [
            text(str(each.number or "not recorded"), "bold"),
            *((text(each.id, "dim"),) if each.id else ()),
            text(f"{state_of(each)} {_class(each.conflict_class)}, {each.confidence:.2f} sure"),
            *((text(f"proposal {number}"),) if number else ()),
        ]
        made.add_row(lines(*parts), lines(*map(text, sides)))
    return made


def whole(conflict: conflict_pb2.Conflict) -> list[RenderableType]:
    """A conflict with both sides, its judge, and its resolution."""
    judge = word(conflict_pb2.Judge, conflict.judge)
    pairs = [
        ("conflict", f"{conflict.number}"),
        ("id", conflict.id),
        ("state", state_of(conflict)),
        ("class", _class(conflict.conflict_class)),
        ("about", word(conflict_pb2.ConflictType, conflict.type)),
        ("severity", word(conflict_pb2.ConflictSeverity, conflict.severity)),
        ("judged by", f"{judge} ({conflict.rule})" if conflict.rule else judge),
        ("sure", f"{conflict.confidence:.2f}"),
        ("recorded", f"{when(conflict.create_time)} by {conflict.author}"),
        ("run", conflict.run_id),
        ("group", conflict.group_id),
        ("session", conflict.session_id),
        ("reviewed by", conflict.reviewed_by),
        ("because", conflict.context),
        ("etag", conflict.etag),
    ]
    parts: list[RenderableType] = [fields(pairs), ""]
    for side in _in_time(conflict):
        parts += [*_side(side, conflict), ""]
    if conflict.HasField("resolution"):
        parts.append(_resolution(conflict.resolution))
    elif conflict.state == conflict_pb2.CONFLICT_STATE_POTENTIAL:
        hint = f"Review conflict? concord confirm|dismiss|except|resolve {conflict.number}"
        parts.append(text(hint, "dim"))
    return parts


def decided(reply: Reply) -> list[RenderableType]:
    """The result of a review or resolution: the conflict's new state, or a proposal."""
    if reply.proposal_id:
        said = (
            f"It touches what defines the agent: proposal {reply.proposal_number} waits for both. "
            f"Look at it: concord review {reply.proposal_number}"
        )
        return [text(said)]
    line = text(f"{state_of(reply.conflict).capitalize()} ").append(
        str(reply.conflict.number), "bold"
    )
    parts: list[RenderableType] = [line]
    if gone := reply.conflict.resolution.superseded_id:
        parts.append(text(f"{gone} gave way to {reply.conflict.resolution.superseding_id}."))
    if reply.dependent_ids:
        parts.append(text(f"These may need a look: {', '.join(reply.dependent_ids)}", "dim"))
    return parts


def _side(side: conflict_pb2.ConflictSide, conflict: conflict_pb2.Conflict) -> list[RenderableType]:
    title = "Earlier" if side.id == conflict.older_id else "Side"
    held = side.supersession
    until = when(held.effective_valid_until) if held.HasField("effective_valid_until") else "open"
    names = {
        name
        for source in side.sources
        for name in (
            *(quoted(each) for each in (source.speaker, source.file) if each),
            *(f"memory:{named(i)}" for i in source.memory_ids),
        )
    }
    pairs = [
        ("id", f"{word(type_pb2.ItemKind, side.kind)}:{side.id}"),
        ("held", f"{when(held.effective_valid_from)} to {until}"),
        ("is", "superseded" if held.is_superseded else ""),
        ("gone", "deleted, forgotten or erased" if side.is_deleted else ""),
        ("defines", "the agent" if side.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE else ""),
        ("says so", ", ".join(sorted(names))),
    ]
    other = conflict.second if side.id == conflict.first.id else conflict.first
    return [text(title, "bold"), _marked(side, _words_of(other)), fields(pairs)]


def _words_of(side: conflict_pb2.ConflictSide) -> set[str]:
    """The words that a side's spans quote."""
    quoted = (side.statement[span.start : span.end] for span in side.spans)
    return {word.casefold() for words in quoted for word in _WORD.findall(words)}


def _marked(side: conflict_pb2.ConflictSide, others: set[str]) -> RenderableType:
    """The statement, with what disagrees in bold, and words underlined that are not `others`."""
    made, at = text(""), 0
    for span in sorted(side.spans, key=lambda span: span.start):
        if span.start < at:
            continue
        made.append_text(text(side.statement[at : span.start]))
        for part in _WORD_OR_REST.findall(side.statement[span.start : span.end]):
            differs = _WORD.fullmatch(part) and part.casefold() not in others
            made.append_text(text(part, "bold underline" if differs else "bold"))
        at = span.end
    return made.append_text(text(side.statement[at:]))


def _resolution(resolution: conflict_pb2.Resolution) -> RenderableType:
    pairs = [
        ("resolved as", _class(resolution.resolution_type)),
        ("gave way", resolution.superseded_id or "neither side"),
        ("because", resolution.context),
        ("resolved", f"{when(resolution.resolve_time)} by {resolution.resolved_by}"),
        ("record", resolution.record_id),
    ]
    return fields(pairs)


def _in_time(conflict: conflict_pb2.Conflict) -> Sequence[conflict_pb2.ConflictSide]:
    """Both sides, the earlier one first if the order is known."""
    sides = (conflict.first, conflict.second)
    return sides[::-1] if conflict.older_id == conflict.second.id else sides


def _counted(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count:,} {name.lower().replace('_', ' ')}" for name, count in ordered)


def state_of(conflict: conflict_pb2.Conflict) -> str:
    """Its state as a word."""
    return word(conflict_pb2.ConflictState, conflict.state)


def _class(value: "conflict_pb2.ConflictClass.ValueType") -> str:
    return word(conflict_pb2.ConflictClass, value)
