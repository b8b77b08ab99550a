"""`concord add --fact`, `relation` and `relations` against a running system."""

from concord.graph.v1.memory_pb2 import AddMemoryResponse
from concord.graph.v1.relation_pb2 import ListRelationsResponse
from concord_testing.command_line import CommandLine, Unique


def test_a_later_value_of_a_functional_relation_takes_over(
    concord: CommandLine, unique: Unique
) -> None:
    """M1 T2 W4 What two memories state of one subject succeeds by time, once that is declared."""
    who, relation = unique("Ada"), unique("LIVES_IN")
    result = concord.done("relation", relation, "--functional")
    for year, town in ((2020, "Rome"), (2024, "Oslo")):
        stated = ("--fact", f"{who}|{relation}|{town}", "--valid-from", f"{year}-01-01T00:00:00Z")
        concord.done("add", f"{who} moved to {town}.", "--id", f"{who}-{town}", *stated)

    now = concord.done("neighbors", who)
    then = concord.done("neighbors", who, "--as-of", "2021-06-01T00:00:00Z")

    assert "one value at a time" in result
    assert "Oslo" in now
    assert "Rome" not in now
    assert "Rome" in then
    assert "Oslo" not in then
    assert f"{who} —{relation}→ Rome" in concord.done("get", f"{who}-Rome")


def test_facts_may_be_several(concord: CommandLine, unique: Unique) -> None:
    """M1 W4 Each becomes an edge of the memory."""
    who = unique("Bo")
    reply = concord.reply(
        AddMemoryResponse,
        *("add", "Bo paints and sings.", "--fact", f"{who} | DOES | painting"),
        *("--fact", f"{who}|DOES|singing"),
    )

    assert [fact.object for fact in reply.memory.facts] == ["painting", "singing"]
    found = concord.done("neighbors", who)
    assert "painting" in found
    assert "singing" in found


def test_a_fact_has_three_parts(concord: CommandLine) -> None:
    """M1 W4 Else the command is not understood, and nothing is written."""
    refused = concord("add", "Bo paints.", "--fact", "Bo|DOES")

    assert refused.exit_code == 2
    assert "SUBJECT|RELATION|OBJECT" in refused.stderr


def test_declared_relations_are_listed(concord: CommandLine, unique: Unique) -> None:
    """T2 W4 With what was declared of each, in pages."""
    names = sorted(unique(name) for name in ("KNOWS", "OWNS"))
    for name in names:
        concord.done("relation", name, "--many")

    listed = concord.reply(ListRelationsResponse, "relations", "--limit", "200")
    shown = concord.done("relations", "--limit", "1")

    assert [each.name for each in listed.relations if each.name in names] == names
    assert not any(each.functional for each in listed.relations if each.name in names)
    assert "any number of values" in shown
    assert "More: --page-token" in shown


def test_what_holds_of_a_relation_is_shown(concord: CommandLine, unique: Unique) -> None:
    """D4 W4 Its class, its containment and its exclusive sets, kept until declared anew."""
    name = unique("IS")
    concord.done("relation", name, "--functional", "--temporal-class", "state", "--transitive")
    concord.done("relation", name, "--functional", "--exclusive", "dead|alive")

    shown = concord.done("relation", name, "--functional")
    cleared = concord.done("relation", name, "--functional", "--exclusive", "")

    assert "alive | dead" in shown
    assert "state" in shown
    assert "yes" in shown
    assert "alive" not in cleared


def test_a_lineage_word_is_no_relation(concord: CommandLine) -> None:
    """T2 W4 What graph keeps to itself is refused with its reason."""
    refused = concord("relation", "SUPERSEDES", "--functional")

    assert refused.exit_code == 1
    assert "SUPERSEDES" in refused.stderr
