"""`concord extract`, and the verb, against a running system."""

from datetime import UTC, datetime
from pathlib import Path

from concord.dissonance.v1.dissonance_pb2 import (
    EXTRACTION_OUTCOME_FOUND,
    EXTRACTION_OUTCOME_NO_FACTS,
    ExtractFactsResponse,
)
from concord.graph.v1.memory_pb2 import ListMemoriesResponse
from concord.type.v1.type_pb2 import EDGE_TYPE_DESCRIPTIVE
from concord_client import Concord, Fact, Text
from concord_testing.command_line import CommandLine, Unique


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
    assert kept.facts[0].properties["extracted"] == "reading"
    assert kept.properties["extracted"] == "reading"
    assert kept.edge_type == EDGE_TYPE_DESCRIPTIVE
    assert [each.speaker for each in kept.sources] == [who]


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
    """D13 W4 What is wanted of it is added."""
    import concord_client

    time = datetime(2024, 5, 15, tzinfo=UTC)
    with concord_client.embedded(tmp_path / "data") as concord:
        assert isinstance(concord, Concord)
        found = concord.extract([Text("I sold my boat yesterday.", "Ada", time)])

    (sold,) = found.candidates
    assert found.outcome == "FOUND"
    assert sold.fact == Fact("Ada", "SELL", "Ada's boat")
    assert sold.valid_from == datetime(2024, 5, 14, tzinfo=UTC)
    assert sold.valid_until == time
    assert (sold.quote, sold.arm, sold.sure) == ("I sold my boat yesterday", "READING", True)


def _memories(concord: CommandLine, who: str) -> ListMemoriesResponse:
    found = concord.reply(ListMemoriesResponse, "list", "--limit", "200")
    kept = [each for each in found.memories if any(f.subject == who for f in each.facts)]
    return ListMemoriesResponse(memories=kept)
