"""Which findings of text are looked at, and dismissed, as one."""

from collections.abc import Mapping

from concord_dissonance.domain.groups import grouped
from concord_dissonance.domain.sides import Kind, Side
from concord_dissonance.domain.statements import Finding, Statement
from concord_dissonance.domain.verdicts import ConflictClass, Judge, Reason, Verdict


def found(
    pair: str, reason: Reason | None = Reason.NEGATION, judge: Judge = Judge.LEXICAL
) -> Finding:
    """Return a finding about two memories, each named by a letter."""
    one, other = (Statement(Side(each, Kind.FACT), "1") for each in pair)
    if reason is None:
        return Finding(one, other, None, 0.7)
    return Finding(one, other, Verdict(ConflictClass.CONTRADICTION, judge, reason, 1.0))


def groups(*findings: Finding, known: Mapping[tuple[str, str], str] | None = None) -> list[str]:
    """Return the groups of findings, in order."""
    return [each.group_id for each in grouped(findings, known or {})]


def test_findings_of_a_rule_that_share_statements_are_a_group() -> None:
    """D3 Also by a chain; what shares none is a group of its own."""
    chain, link, end, apart = groups(found("ab"), found("cd"), found("bc"), found("xy"))

    assert chain == link == end
    assert apart not in {chain, ""}


def test_each_rule_has_its_own() -> None:
    """D3 D4 Also what no judge could decide; typed facts have none."""
    negation, number, overlap, typed = groups(
        found("ab"),
        found("ab", Reason.NUMBER),
        found("ab", None),
        found("ab", Reason.NUMBER, Judge.STRUCTURAL),
    )

    assert len({negation, number, overlap, ""}) == 4
    assert typed == ""


def test_a_repeated_run_names_them_alike() -> None:
    """D1 In any order, and with others beside them."""
    assert groups(found("bc"), found("ab")) == groups(found("ab"), found("bc"), found("xy"))[:2]


def test_a_finding_joins_the_group_of_an_open_one() -> None:
    """D3 That of its rule; of two it takes one, whatever their order."""
    known = {("negation", "b"): "g2", ("negation", "c"): "g1", ("number", "x"): "g3"}

    assert groups(found("ab"), found("bc"), known=known) == ["g1", "g1"]
    assert groups(found("xy"), known=known) == groups(found("xy"))
