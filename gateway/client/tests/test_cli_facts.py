"""`concord add --fact`, `extract`, `relation` and `relations` against a running system."""

from datetime import UTC, datetime
from pathlib import Path

import concord_client
import pytest
from concord.dissonance.v1.dissonance_pb2 import (
    EXTRACTION_OUTCOME_FOUND,
    EXTRACTION_OUTCOME_NO_FACTS,
    ExtractFactsResponse,
)
from concord.graph.v1.memory_pb2 import AddMemoryResponse, ListMemoriesResponse
from concord.graph.v1.relation_pb2 import ListRelationsResponse
from concord.type.v1.type_pb2 import EDGE_TYPE_DESCRIPTIVE
from concord_client import Concord, Fact, Text
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


def test_facts_are_shown_with_their_words_and_nothing_is_stored(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """D13 W4 Sure ones, others with a question mark, each with its quote."""
    who, talk = unique("Ada"), tmp_path / "talk.txt"
    talk.write_text(f"{who}: I work for Airbus. Do you?\nBob: I sold my boat yesterday.\n")

    shown = concord.done("extract", str(talk), "--dialogue", "--time", "2024-05-15")
    said = concord.reply(ExtractFactsResponse, "extract", str(talk), "--dialogue")

    assert f"{who} —EMPLOYER→ Airbus" in shown
    assert '"I work for Airbus"' in shown
    assert "Bob —SELL→ Bob's boat from 2024-05-14" in shown
    assert "2 facts in 2 texts, 2 sure." in shown
    assert said.outcome == EXTRACTION_OUTCOME_FOUND
    assert not said.candidates[1].HasField("valid_from")
    assert not _memories(concord, who).memories


@pytest.mark.parametrize(
    "talk",
    [
        "Ada: Hi, who is there?\n10:01 Bo: I live in Kiel.\n",
        "[2026-03-01 10:00] Ada: I am here.\n[2026-03-01 10:02] Dora: I live in Kiel.\n",
        "01.03.26, 10:00 - Ada: I am here.\n01.03.26, 10:02 - Dora: I live in Kiel.\n",
        "**Ada**: I am here.\n- Dora (tired): I live in Kiel.\n",
        "Ada: I am here.\n| Dora: I live in Kiel.\n",
    ],
)
def test_no_turn_is_given_to_another_speaker(
    concord: CommandLine, tmp_path: Path, talk: str
) -> None:
    """D13 The forms that an import reads; a line that may be another's is left out, and counted."""
    file = tmp_path / "talk.txt"
    file.write_text(talk)

    shown = concord.done("extract", str(file), "--dialogue")

    assert "Ada —HOME→ Kiel" not in shown
    assert ("Dora —HOME→ Kiel" in shown) != ("not sure who speaks: 1 line" in shown)


def test_what_cannot_be_read_is_refused_by_name(concord: CommandLine, tmp_path: Path) -> None:
    """D13 A file that is not there, a folder, and a dialogue without a turn."""
    prose = tmp_path / "prose.txt"
    prose.write_text("just words\n")

    for said in (["extract", "nowhere.txt"], ["extract", str(tmp_path)]):
        assert "cannot be read" in concord(*said).stderr
    assert "No line is a turn" in concord("extract", str(prose), "--dialogue").stderr


def test_taken_facts_are_memories_of_their_words(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """D13 W8 Each sure fact is an edge of its quote's memory, marked, descriptive, taken once."""
    who, talk = unique("Ada"), tmp_path / "talk.txt"
    talk.write_text("I work for Airbus. I could sing. Do I live in Rome?")

    first = concord.done("extract", str(talk), "--take", "--speaker", who)
    again = concord.done("extract", str(talk), "--take", "--speaker", who)

    (kept,) = _memories(concord, who).memories
    assert "Remembered 1 sentence; known already: 0." in first
    assert "Remembered 0 sentences; known already: 1." in again
    assert kept.content == "I work for Airbus"
    assert [(each.subject, each.relation, each.object) for each in kept.facts] == [
        (who, "EMPLOYER", "Airbus")
    ]
    assert kept.facts[0].extracted
    assert kept.edge_type == EDGE_TYPE_DESCRIPTIVE
    assert [each.speaker for each in kept.sources] == [who]


def test_a_taken_fact_ends_no_value(concord: CommandLine, unique: Unique, tmp_path: Path) -> None:
    """D13 It stands beside what was stated, until somebody states it."""
    who, talk = unique("Ada"), tmp_path / "talk.txt"
    concord.done("relation", "COLLECT", "--functional")
    concord.done("add", f"{who} has stamps.", "--fact", f"{who}|COLLECT|stamps")
    talk.write_text("I collect coins.")

    concord.done("extract", str(talk), "--take", "--speaker", who)
    beside = concord.done("neighbors", who)
    concord.done("add", f"{who} has coins.", "--fact", f"{who}|COLLECT|coins")
    after = concord.done("neighbors", who)

    assert "stamps" in beside
    assert "coins" in beside
    assert "stamps" not in after


def test_a_memory_states_the_facts_of_its_text(concord: CommandLine, unique: Unique) -> None:
    """D13 W4 The sure ones that have no time of their own, marked; the outcome is said."""
    who = unique("Ada")
    words = "I work for Airbus. I sold my boat in 2019."

    shown = concord.done("add", words, "--extract", "--source", who)
    none = concord.done("add", f"How is {who}?", "--extract")

    (kept,) = [each for each in _memories(concord, who).memories if each.facts]
    assert f"{who} —EMPLOYER→ Airbus" in shown
    assert "1 fact left" in shown
    assert [(each.object, each.extracted) for each in kept.facts] == [("Airbus", True)]
    assert "No facts in 1 text." in none


def test_facts_of_a_text_are_one_proposal(
    concord: CommandLine, unique: Unique, tmp_path: Path
) -> None:
    """D13 V1 On request; nothing is stored, and the proposal's memory states them all."""
    who, talk = unique("Ada"), tmp_path / "talk.txt"
    talk.write_text("I work for Airbus. I own a boat.")

    shown = concord.done("extract", str(talk), "--propose", "--speaker", who)

    assert "Airbus" in shown
    assert "boat" in shown
    assert shown.count("Look at it: concord review") == 1
    assert not _memories(concord, who).memories


def test_no_facts_is_a_named_outcome(concord: CommandLine, tmp_path: Path) -> None:
    """D13 Nothing to take is said, and is no error."""
    talk = tmp_path / "talk.txt"
    talk.write_text("Hello! How are you?")

    shown = concord.done("extract", str(talk))
    said = concord.reply(ExtractFactsResponse, "extract", str(talk))

    assert "No facts in 1 text." in shown
    assert said.outcome == EXTRACTION_OUTCOME_NO_FACTS


def test_an_empty_file_is_refused(concord: CommandLine, tmp_path: Path) -> None:
    """W4 There is nothing to read in it."""
    talk = tmp_path / "talk.txt"
    talk.write_text(" \n")

    refused = concord("extract", str(talk))

    assert refused.exit_code == 1
    assert "There is no text in it." in refused.stderr


def test_the_verb_gives_plain_data(tmp_path: Path) -> None:
    """D13 W4 What is wanted of it is added, or `add(extract=True)` does both."""
    time = datetime(2024, 5, 15, tzinfo=UTC)
    with concord_client.embedded(tmp_path / "data") as concord:
        assert isinstance(concord, Concord)
        found = concord.extract([Text("I sold my boat yesterday.", "Ada", time)])
        added = concord.add("I work for Airbus. Do you?", speaker="Ada", extract=True)

    (sold,) = found.candidates
    assert found.outcome == "FOUND"
    assert sold.fact == Fact("Ada", "SELL", "Ada's boat", extracted=True)
    assert added.memory.facts == (Fact("Ada", "EMPLOYER", "Airbus", extracted=True),)
    assert added.extraction is not None
    assert added.extraction.outcome == "FOUND"
    assert sold.valid_from == datetime(2024, 5, 14, tzinfo=UTC)
    assert sold.valid_until == time
    assert (sold.quote, sold.arm, sold.sure) == ("I sold my boat yesterday", "READING", True)


def _memories(concord: CommandLine, who: str) -> ListMemoriesResponse:
    found = concord.reply(ListMemoriesResponse, "list", "--limit", "200")
    kept = [each for each in found.memories if any(f.subject == who for f in each.facts)]
    return ListMemoriesResponse(memories=kept)
