"""Templates: a frame that stands in more than three memories, such as a line of a log (D3).

Whoever wrote the lines filled in a form: that two of them differ shows no disagreement. Of all
findings of one template one is kept, as UNDECIDED.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from concord_reading.frame import Frame

from concord_dissonance.domain.sides import Side
from concord_dissonance.domain.statements import Finding, Statement
from concord_dissonance.domain.verdicts import ConflictClass, Judge, Older, Reason, Verdict

MOST_STATED = 3
"""Memories in which one frame may stand before it is a template."""

Form = tuple[tuple[str, ...], ...]
"""A frame's words, sorted: those that a pair shares by their keys, the others by their kinds."""


def without_templates(
    findings: Sequence[Finding], memories: Iterable[Statement]
) -> tuple[list[Finding], int]:
    """Return the findings with one for each template, and how many were left out."""
    of_text = [each for each in findings if each.verdict and each.verdict.judge is Judge.LEXICAL]
    if not of_text:
        return list(findings), 0
    stating = _frames_by_key(memories)
    kept: dict[str, Finding] = {}
    left_out = 0
    for each in findings:
        template = _template(each, stating)
        if template is None:
            kept[f"{each.first.id} {each.second.id}"] = each
        elif template in kept:
            left_out += 1
        else:
            kept[template] = replace(each, verdict=_undecided(each), group_id=template)
    return [*kept.values()], left_out


_Stating = Mapping[str, Sequence[tuple[str, Frame]]]
"""Frames by the keys of their words, each with the id of its memory."""


def _frames_by_key(memories: Iterable[Statement]) -> _Stating:
    found: dict[str, list[tuple[str, Frame]]] = defaultdict(list)
    for memory in memories:
        for frame in memory.side.frames.asserted:
            for key in {word.key for word in frame.words if word.key}:
                found[key].append((memory.id, frame))
    return found


def _template(finding: Finding, stating: _Stating) -> str | None:
    """Return the name of the template that both sides fill in, if they do."""
    said = finding.verdict
    if said is None or said.judge is not Judge.LEXICAL:
        return None
    one = _frame(finding.first.side, said.first)
    other = _frame(finding.second.side, said.second)
    if one is None or other is None:
        return None
    shared = {word.key for word in one.words} & {word.key for word in other.words} - {""}
    if not shared:
        return None
    forms = {_form(one, shared), _form(other, shared)}
    rarest = min(shared, key=lambda key: (len(stating.get(key, ())), key))
    memories = {
        memory_id for memory_id, frame in stating.get(rarest, ()) if _form(frame, shared) in forms
    }
    if len(memories) <= MOST_STATED:
        return None
    return hashlib.sha256(repr(sorted(forms)).encode()).hexdigest()[:16]


def _frame(side: Side, spans: Sequence[tuple[int, int]]) -> Frame | None:
    """Return the frame of a side that a verdict points at."""
    return next((each for each in side.frames.asserted if each.span in spans), None)


def _form(frame: Frame, shared: Iterable[str]) -> Form:
    return tuple(
        sorted(
            (word.role.value, word.link, word.key if word.key in shared else f"<{word.kind.value}>")
            for word in frame.words
        )
    )


def _undecided(finding: Finding) -> Verdict | None:
    return finding.verdict and replace(
        finding.verdict,
        conflict=ConflictClass.UNDECIDED,
        reason=Reason.TEMPLATE,
        older=Older.NEITHER,
        type=None,
        severity=None,
    )
