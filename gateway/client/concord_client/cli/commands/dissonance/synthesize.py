"""`concord synthesize`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from google.protobuf.json_format import ParseDict, ParseError

from concord_client.cli.dialectic import LONG_RUN, result_of, written_out
from concord_client.cli.errors import CommandError
from concord_client.cli.render.page import show
from concord_client.cli.session import Session
from concord_client.cli.values import plain_id, read_stdin

if TYPE_CHECKING:
    from concord.dissonance.v1.dialectic_pb2 import (
        AgentResult,
        ResumeRunResponse,
        SynthesizeResponse,
    )

STDIN = Path("-")


def synthesize(
    session: Session,
    question: Annotated[str, typer.Argument(help="What they answer.", show_default=False)] = "",
    *,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Agents' results: a JSON list of objects with agent, and text or theses (claim, "
            "evidence, confidence, legalBasis, context, region, validFrom, authority). - reads "
            "standard input."
        ),
    ] = None,
    memory: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory; give it several times.")
    ] = None,
    query: Annotated[str, typer.Option(help="Take the memories that a search finds.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many of these.")] = 10,
    language: Annotated[str, typer.Option(help="de or en.", show_default="the question's")] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Add the synthesis as a memory.")] = False,
    amend: Annotated[
        bool, typer.Option("--amend", help="It amends the memories that it comes from.")
    ] = False,
    conflicts: Annotated[
        bool, typer.Option("--conflicts", help="Record what stays open between memories.")
    ] = False,
    review: Annotated[
        bool, typer.Option("--review", help="Have several models review the synthesis.")
    ] = False,
    by_model: Annotated[
        bool,
        typer.Option("--by-model", help="Have the model that is set up for it read and word it."),
    ] = False,
    resume: Annotated[
        str, typer.Option(metavar="RUN", help="Follow a run that has begun, and nothing else.")
    ] = "",
    after: Annotated[int, typer.Option(min=0, help="The last event of it that you have.")] = 0,
) -> None:
    """Bring together what agents or memories say: what stands, what is resolved, what is open."""
    from concord.dissonance.v1.dialectic_pb2 import (
        SYNTHESIS_METHOD_DETERMINISTIC,
        SYNTHESIS_METHOD_MODEL,
        ResumeRunRequest,
        SynthesizeRequest,
    )

    request = SynthesizeRequest(
        question=question,
        results=_results(results),
        memory_ids=map(plain_id, memory or ()),
        query=query,
        query_limit=limit,
        language=language,
        review=review,
        method=SYNTHESIS_METHOD_MODEL if by_model else SYNTHESIS_METHOD_DETERMINISTIC,
    )
    if keep or amend or conflicts:
        request.keep.memory, request.keep.amend_sources = keep or amend, amend
        request.keep.conflicts = conflicts
    with session.client() as client:
        replies: Iterator[SynthesizeResponse] | Iterator[ResumeRunResponse]
        if resume:
            rest = ResumeRunRequest(run_id=resume, after_number=after)
            replies = client.dialectic.ResumeRun(rest, timeout=LONG_RUN)
        else:
            replies = client.dialectic.Synthesize(request, timeout=LONG_RUN)
        if session.as_json:
            written_out(replies)
            return
        found = result_of(replies, "Synthesizing")
    from concord_client.cli.render.review_page import reviewed
    from concord_client.cli.render.synthesis_page import page

    show(*page(found.synthesis))
    if found.HasField("review"):
        show("", *reviewed(found.review))


def _results(path: Path | None) -> "list[AgentResult]":
    """The agents' results in a JSON file. Raises `CommandError` for another file."""
    from concord.dissonance.v1.dialectic_pb2 import AgentResult

    if path is None:
        return []
    try:
        text = read_stdin() if path == STDIN else path.read_text("utf-8")
        said = json.loads(text)
        found = said["results"] if isinstance(said, dict) else said
        return [ParseDict(each, AgentResult()) for each in found]
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, ParseError) as error:
        raise CommandError(f"{path} is no list of results: {error}") from None
