"""`concord extract`."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import Fact, Memory
from google.protobuf.struct_pb2 import Struct

from concord_client.cli.errors import CommandError
from concord_client.cli.options import DerivedFromOption, SpeakerOption
from concord_client.cli.render.page import plural, show, text, when
from concord_client.cli.session import Session
from concord_client.cli.values import instant, read_stdin, stated_sources

if TYPE_CHECKING:
    from concord.dissonance.v1.dissonance_pb2 import (
        ExtractFactsResponse,
        FactCandidate,
        SaidText,
    )

    from concord_client.client import Client

STDIN = Path("-")
AT_ONCE = 32
"""Texts of one call."""
_LONGEST = 20_000
_LONG = 120.0
"""Seconds for a call."""
_TURN = re.compile(r"\s*([^:\n]{1,60}):\s+(\S.*)")


def extract(
    session: Session,
    file: Annotated[Path, typer.Argument(help="A file of plain text; - reads standard input.")],
    *,
    speaker: SpeakerOption = None,
    time: Annotated[
        str | None, typer.Option(help='When it was said: what "yesterday" is counted from.')
    ] = None,
    turns: Annotated[
        bool, typer.Option("--dialogue", help="Each line is a turn: NAME: what they say.")
    ] = False,
    rules_only: Annotated[
        bool, typer.Option("--rules-only", help="Ask no model, whatever is set up.")
    ] = False,
    take: Annotated[
        bool, typer.Option("--take", help="Remember the facts that are sure, with their words.")
    ] = False,
    derived_from: DerivedFromOption = None,
) -> None:
    """Show the facts that a text states, each with the words that state it."""
    from concord.dissonance.v1.dissonance_pb2 import ExtractFactsRequest

    words = _read(file)
    said = [*(_turns(words) if turns else _parts(words, speaker or ""))]
    if not said:
        raise CommandError("There is no text in it.")
    for each in said:
        if stamp := instant(time):
            each.time.CopyFrom(stamp)
    with session.client() as client:
        for begin in range(0, len(said), AT_ONCE):
            batch = said[begin : begin + AT_ONCE]
            request = ExtractFactsRequest(texts=batch, rules_only=rules_only)
            reply = client.dissonance.ExtractFacts(request, timeout=_LONG)
            if session.as_json:
                session.reply(reply)
            else:
                _show(reply)
            if take:
                _take(client, session, reply, batch, derived_from)


def _read(file: Path) -> str:
    if file == STDIN:
        return read_stdin()
    try:
        return file.read_text("utf-8")
    except UnicodeError as error:
        raise CommandError(f"{file} is not UTF-8: convert it to UTF-8 first.") from error


def _turns(words: str) -> "Iterator[SaidText]":
    """Yield the turns of a dialogue; a line without a name goes on with the turn before."""
    from concord.dissonance.v1.dissonance_pb2 import SaidText

    turn: SaidText | None = None
    for line in words.splitlines():
        if match := _TURN.fullmatch(line):
            if turn is not None:
                yield turn
            turn = SaidText(speaker=match[1].strip(), text=match[2][:_LONGEST])
        elif turn is not None and line.strip() and len(turn.text) + len(line) < _LONGEST:
            turn.text += f"\n{line}"
    if turn is not None:
        yield turn


def _parts(words: str, speaker: str) -> "Iterator[SaidText]":
    """Yield a text in parts of whole paragraphs, where these are not too long."""
    from concord.dissonance.v1.dissonance_pb2 import SaidText

    part = ""
    for paragraph in re.split(r"(?<=\n)(?=\s*\n)", words):
        for begin in range(0, len(paragraph), _LONGEST):
            piece = paragraph[begin : begin + _LONGEST]
            if len(part) + len(piece) > _LONGEST:
                yield SaidText(text=part, speaker=speaker)
                part = ""
            part += piece
    if part.strip():
        yield SaidText(text=part, speaker=speaker)


def _show(reply: "ExtractFactsResponse") -> None:
    from concord.dissonance.v1 import dissonance_pb2

    for each in reply.candidates:
        fact = each.fact
        line = text("  " if each.sure else "? ").append(
            f"{fact.subject} —{fact.relation}→ {fact.object}", "bold" if each.sure else ""
        )
        show(line.append(_period(each)), text(f'    "{each.quote}"', "dim"))
    sure = sum(each.sure for each in reply.candidates)
    counts = reply.counts
    read = plural(counts.texts, "text")
    said = f"{plural(len(reply.candidates), 'fact')} in {read}, {sure} sure."
    if reply.outcome == dissonance_pb2.EXTRACTION_OUTCOME_NO_FACTS:
        said = f"No facts in {read}."
    show(text(said))
    for count, why in (
        (counts.texts_left, "not read: no time was left, or no parser is installed"),
        (counts.budget_spent, "not shown to the model: its budget is spent"),
        (counts.invalid_replies, "without a usable reply of the model"),
    ):
        if count:
            show(text(f"{plural(count, 'text')} {why}.", "bold red"))


def _period(each: "FactCandidate") -> str:
    since = f" from {when(each.valid_from)}" if each.HasField("valid_from") else ""
    until = f" until {when(each.valid_until)}" if each.HasField("valid_until") else ""
    return f"{since}{until}"


def _take(
    client: "Client",
    session: Session,
    reply: "ExtractFactsResponse",
    said: "Sequence[SaidText]",
    derived_from: list[str] | None,
) -> None:
    """Remember the sure facts: a memory for each quote, which states them."""
    from concord.graph.v1.memory_pb2 import AddMemoryRequest

    from concord_client.freshness import settle

    single = _single_valued(client)
    sure = [each for each in reply.candidates if each.sure]
    taken = [each for each in sure if each.fact.relation not in single]
    token = ""
    count = 0
    for _, group in groupby(taken, key=_quoted):
        facts = [*group]
        first = facts[0]
        memory = Memory(
            content=first.quote,
            facts=[_marked(each) for each in facts],
            valid_from=first.valid_from if first.HasField("valid_from") else None,
            valid_until=first.valid_until if first.HasField("valid_until") else None,
            sources=stated_sources(said[first.text].speaker, derived_from),
            properties=_marks(first),
        )
        added = client.memory.AddMemory(AddMemoryRequest(memory=memory, extracted=True))
        token, count = added.token, count + added.created
    if token:
        settle(client, token)
    if not session.as_json:
        known = len({_quoted(each) for each in taken}) - count
        show(text(f"Remembered {plural(count, 'sentence')}; known already: {known}."))
        if left := len(sure) - len(taken):
            why = f"{plural(left, 'fact')} left: each could end the present value of a relation"
            show(text(f"{why} that has one at a time. State them with: concord add", "yellow"))


def _single_valued(client: "Client") -> set[str]:
    """The relations that have one value at a time: what was extracted ends no value of them."""
    from concord.graph.v1.relation_pb2 import ListRelationsRequest

    found: set[str] = set()
    request = ListRelationsRequest(page_size=200)
    while True:
        page = client.relation.ListRelations(request)
        found |= {each.name for each in page.relations if each.functional}
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def _quoted(each: "FactCandidate") -> tuple[int, int, int, bytes, bytes]:
    """What facts of one memory share: their words and their time."""
    times = (each.valid_from.SerializeToString(), each.valid_until.SerializeToString())
    return (each.text, each.span.start, each.span.end, *times)


def _marked(each: "FactCandidate") -> Fact:
    fact = Fact()
    fact.CopyFrom(each.fact)
    fact.properties.CopyFrom(_marks(each))
    return fact


def _marks(each: "FactCandidate") -> Struct:
    """The properties by which a taken fact is known as extracted."""
    from concord.dissonance.v1.dissonance_pb2 import ExtractionArm

    arm = ExtractionArm.Name(each.arm).removeprefix("EXTRACTION_ARM_").lower()
    marks = Struct()
    marks.update({"extracted": arm})
    return marks
