"""Which findings of text are looked at, and dismissed, as one, and which are not decided."""

from collections.abc import Mapping

from concord_dissonance.domain.groups import grouped
from concord_dissonance.domain.judges.judging import judge
from concord_dissonance.domain.judges.uncompared import uncompared
from concord_dissonance.domain.sides import Kind, Rules, Side
from concord_dissonance.domain.statements import Finding, Statement
from concord_dissonance.domain.templates import without_templates
from concord_dissonance.domain.verdicts import ConflictClass, Judge, Reason, Verdict


def found(pair: str, reason: Reason | None = Reason.NEGATION, by: Judge = Judge.LEXICAL) -> Finding:
    """Return a finding about two memories, each named by a letter."""
    one, other = (Statement(Side(each, Kind.FACT), "1") for each in pair)
    if reason is None:
        return Finding(one, other, None, 0.7)
    return Finding(one, other, Verdict(ConflictClass.CONTRADICTION, by, reason, 1.0))


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


def memories(*texts: str) -> list[Statement]:
    """Return memories, each with its text as its id."""
    return [Statement(Side(text, Kind.FACT, text), "1") for text in texts]


def findings(*texts: str) -> list[Finding]:
    """Return what the judges find among memories of these texts, each with each."""
    found = []
    there = memories(*texts)
    for place, one in enumerate(there):
        for other in there[place + 1 :]:
            said = judge(one.side, other.side, Rules())
            if isinstance(said, Verdict) and said.is_finding:
                found.append(Finding(one, other, said))
    return found


def flagged(one: str, other: str) -> bool:
    """Whether two texts are flagged as what nobody can compare."""
    first, second = (each.side for each in memories(one, other))
    there, back = uncompared(first, second), uncompared(second, first)
    assert (there.swapped() if there else None) == back
    return there is not None and there.conflict is ConflictClass.UNDECIDED


def test_amounts_of_two_units_are_flagged() -> None:
    """D4 Where frames match in all else; English and German."""
    assert flagged("The fee is 5 EUR.", "The fee is 7 USD.")
    assert flagged("Die Geb\u00fchr betr\u00e4gt 5 EUR.", "Die Geb\u00fchr betr\u00e4gt 7 USD.")


def test_what_can_be_compared_or_is_of_other_things_is_not_flagged() -> None:
    """D4 Nor what is denied, or happened once."""
    assert not flagged("The fee is 5 EUR.", "The fee is 7 EUR.")
    assert not flagged("The fee is 5 EUR.", "The deposit is 7 USD.")
    assert not flagged("The fee is 5 EUR.", "The fee is not 7 USD.")
    assert not flagged("The fee is 5 EUR.", "The fee is now 7 USD.")
    assert not flagged("Ada paid 5 EUR.", "Ada paid 7 USD.")
    assert not flagged("The fee is high.", "The fee is low.")


LINES = [f"The backup of the store is {size} GB large." for size in (3, 5, 8, 9)]


def test_a_frame_of_four_memories_is_one_finding() -> None:
    """D3 UNDECIDED, in one group, with what differs; of three memories each pair is judged."""
    found = findings(*LINES)
    kept, left_out = without_templates(found, memories(*LINES))
    of_three, none_out = without_templates(findings(*LINES[:3]), memories(*LINES[:3]))

    assert (len(found), len(kept), left_out) == (6, 1, 5)
    assert kept[0].verdict is not None
    said = (kept[0].verdict.conflict, kept[0].verdict.reason)
    assert said == (ConflictClass.UNDECIDED, Reason.TEMPLATE)
    assert kept[0].verdict.first == found[0].verdict.first if found[0].verdict else False
    assert kept[0].group_id
    assert grouped(kept, {})[0].group_id == kept[0].group_id
    assert (of_three, none_out) == (findings(*LINES[:3]), 0)


def test_a_later_line_joins_the_group() -> None:
    """D3 However many stand there; what is of another thing is no line of it."""
    more = [*LINES, "The backup of the store is 12 GB large."]
    other = ["The backup of the mail is 1 GB large.", "The backup of the mail is 2 GB large."]
    (before,), _ = without_templates(findings(*LINES), memories(*LINES))
    (later, alone), _ = without_templates(findings(*more[1:], *other), memories(*more, *other))

    assert later.group_id == before.group_id
    assert alone == findings(*other)[0]
