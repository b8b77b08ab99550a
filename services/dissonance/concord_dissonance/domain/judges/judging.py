"""Asks the judges that need no model, the exact one first."""

from dataclasses import replace

from concord_dissonance.domain.judges.structural import judge_facts
from concord_dissonance.domain.judges.text import judge_texts
from concord_dissonance.domain.sides import Rules, Side
from concord_dissonance.domain.verdicts import (
    Abstained,
    Abstention,
    ConflictClass,
    Severity,
    Verdict,
)


def judge(first: Side, second: Side, rules: Rules) -> Verdict | Abstention:
    """Judge a pair.

    The result depends on the two sides alone: `judge(a, b)` is `judge(b, a).swapped()`, and ids,
    the order of arrival and other pairs change nothing.
    """
    if _order(second) < _order(first):
        said = judge(second, first, rules)
        return said.swapped() if isinstance(said, Verdict) else said
    said = _judged(first, second, rules)
    if isinstance(said, Verdict) and said.conflict is not ConflictClass.NONE:
        return replace(said, severity=_severity(first, second, said))
    return said


def _judged(first: Side, second: Side, rules: Rules) -> Verdict | Abstention:
    if first.scope != second.scope:
        return Abstention(Abstained.OTHER_SCOPE)
    exact = judge_facts(first, second, rules)
    if isinstance(exact, Verdict) or not (first.text and second.text):
        return exact
    return judge_texts(first, second, rules)


def _order(side: Side) -> tuple[str, str, int, str]:
    """Return a sort key of a side's content, so that ids and the arguments' order do not matter."""
    return side.text, str(side.fact), side.written, str(sorted(side.sources))


def _severity(first: Side, second: Side, verdict: Verdict) -> Severity:
    if first.is_constitutive or second.is_constitutive:
        return Severity.CRITICAL
    minor = verdict.conflict is ConflictClass.NUANCE
    return Severity.MINOR if minor else Severity.MODERATE
