"""`concord extract`."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import Memory

from concord_client.cli.errors import CommandError
from concord_client.cli.governance.action_file import salt
from concord_client.cli.governance.actions import put_forward
from concord_client.cli.governance.session import governance_session
from concord_client.cli.options import DerivedFromOption, SpeakerOption
from concord_client.cli.render.extraction import show_candidates
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.session import Session
from concord_client.cli.values import instant, read_stdin, stated_sources
from concord_client.facts import take_facts

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
_MARKED = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(\*\*|__|)([^*_:\n]{1,60})(?:\1:|:\1)(?=\s)", re.MULTILINE
)
"""A name in bold, or in a list, before its turn."""
_MAY_NAME = re.compile(r"\S[^:\n]{0,60}(?::\d\d[^:\n]{0,60})?:\s")
"""A line that may begin another's turn."""
_ASIDE = re.compile(r"\s*\([^)]*\)$")


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
    propose: Annotated[
        bool,
        typer.Option("--propose", help="Propose the sure facts of each text together, to be kept."),
    ] = False,
    derived_from: DerivedFromOption = None,
) -> None:
    """Show the facts that a text states, each with the words that state it."""
    from concord.dissonance.v1.dissonance_pb2 import ExtractFactsRequest

    words = _read(file)
    said, unread = _turns(words) if turns else ([*_parts(words, speaker or "")], 0)
    if not said:
        raise CommandError(
            "No line is a turn: write NAME: what they say." if unread else "There is no text in it."
        )
    if unread and not session.as_json:
        show(text(f"Not read, as it is not sure who speaks: {plural(unread, 'line')}.", "yellow"))
    for each in said:
        if (stamp := instant(time)) and not each.HasField("time"):
            each.time.CopyFrom(stamp)
    with session.client() as client:
        for begin in range(0, len(said), AT_ONCE):
            batch = said[begin : begin + AT_ONCE]
            request = ExtractFactsRequest(texts=batch, rules_only=rules_only)
            reply = client.dissonance.ExtractFacts(request, timeout=_LONG)
            if session.as_json:
                session.reply(reply)
            else:
                show_candidates(reply)
            if take:
                _take(client, session, reply, batch, derived_from)
            if propose:
                _propose(session, reply, batch, derived_from)


def _read(file: Path) -> str:
    if file == STDIN:
        return read_stdin()
    try:
        return file.read_text("utf-8")
    except UnicodeError as error:
        raise CommandError(f"{file} is not UTF-8: convert it to UTF-8 first.") from error
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error


def _turns(words: str) -> "tuple[list[SaidText], int]":
    """The turns of a dialogue in the forms that `concord import` reads, and how many lines are left
    out: those without a sure speaker."""
    from concord.dissonance.v1.dissonance_pb2 import SaidText

    from concord_client.importers.chat.plain import lines_of, paragraphs
    from concord_client.importers.outcome import ItemUnreadable

    turns: list[SaidText] = []
    unread = 0
    for paragraph in paragraphs(lines_of(_MARKED.sub(r"\2:", words))):
        try:
            turn = paragraph.turn("", [])
        except ItemUnreadable:
            turn, unread = None, unread + sum(map(bool, map(str.strip, paragraph.lines)))
        if turn is None:
            continue
        first, *more = turn.text.splitlines() or [""]
        sure = [*takewhile(lambda line: not _MAY_NAME.match(line), more)]
        unread += len(more) - len(sure)
        said = "\n".join([first, *sure])[:_LONGEST]
        if said.strip():
            turns.append(SaidText(speaker=_ASIDE.sub("", turn.speaker), text=said))
            if turn.time is not None:
                turns[-1].time.FromDatetime(turn.time)
    return turns, unread


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

    taken = [each for each in reply.candidates if each.sure]
    token = ""
    count = 0
    for _, group in groupby(taken, key=_quoted):
        facts = [*group]
        first = facts[0]
        memory = Memory(
            content=first.quote,
            facts=[each.fact for each in facts],
            valid_from=first.valid_from if first.HasField("valid_from") else None,
            valid_until=first.valid_until if first.HasField("valid_until") else None,
            sources=stated_sources(said[first.text].speaker, derived_from),
        )
        added = client.memory.AddMemory(AddMemoryRequest(memory=memory, extracted=True))
        token, count = added.token, count + added.created
    if token:
        settle(client, token)
    if not session.as_json:
        known = len({_quoted(each) for each in taken}) - count
        show(text(f"Remembered {plural(count, 'sentence')}; known already: {known}."))


def _propose(
    session: Session,
    reply: "ExtractFactsResponse",
    said: "Sequence[SaidText]",
    derived_from: list[str] | None,
) -> None:
    """Make one proposal a text: a memory that states its sure facts; approval confirms them."""
    from concord.dissonance.v1.dissonance_pb2 import ExtractFactsResponse
    from concord.graph.v1.governed_pb2 import GovernedAction
    from concord.graph.v1.memory_pb2 import AddMemoryRequest

    for number, each in enumerate(said):
        of_it = [found for found in reply.candidates if found.text == number]
        sources = stated_sources(each.speaker, derived_from)
        memory = Memory(content=each.text, sources=sources)
        take_facts(memory, ExtractFactsResponse(candidates=of_it))
        for fact in memory.facts:
            fact.extracted = False
        if memory.facts:
            request = AddMemoryRequest(request_id=salt(), memory=memory, extracted=True)
            with governance_session(session) as governance:
                put_forward(governance, GovernedAction(add_memory=request))


def _quoted(each: "FactCandidate") -> tuple[int, int, int, bytes, bytes]:
    """What facts of one memory share: their words and their time."""
    times = (each.valid_from.SerializeToString(), each.valid_until.SerializeToString())
    return (each.text, each.span.start, each.span.end, *times)
