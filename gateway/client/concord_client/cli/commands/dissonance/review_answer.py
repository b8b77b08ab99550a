"""`concord review-answer`."""

from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.choices import CriteriaSet
from concord_client.cli.dialectic import LONG_RUN, result_of, written_out
from concord_client.cli.render.page import show
from concord_client.cli.session import Session
from concord_client.cli.values import STDIN, read_stdin

if TYPE_CHECKING:
    from concord.dissonance.v1 import review_pb2


def review_answer(
    session: Session,
    question: Annotated[str, typer.Argument(help="What was asked.")],
    answer: Annotated[str, typer.Argument(help="The answer; - reads it from standard input.")],
    *,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="TEXT", help="A text that the answer may rest on."),
    ] = None,
    criteria: Annotated[
        CriteriaSet, typer.Option(case_sensitive=False, help="What the answer is scored by.")
    ] = CriteriaSet.GENERAL,
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            metavar="NAME=WEIGHT",
            help="A criterion of your own instead; the weights sum to 1.",
        ),
    ] = None,
    reviewers: Annotated[
        list[str] | None,
        typer.Option("--reviewer", metavar="NAME", help="One of those set up.", show_default="all"),
    ] = None,
    quorum: Annotated[
        int, typer.Option(min=0, max=20, help="Reviews that a verdict needs.", show_default="3")
    ] = 0,
    revisions: Annotated[
        int, typer.Option(min=0, max=2, help="How often an answer that is not approved is revised.")
    ] = 0,
    critical: Annotated[
        int, typer.Option(min=0, help="Critical contradictions that the answer leaves unresolved.")
    ] = 0,
    language: Annotated[
        str, typer.Option(metavar="de|en", help="Of the review.", show_default="the question's")
    ] = "",
) -> None:
    """Have several different models review an answer, and count what they say."""
    from concord.dissonance.v1.review_pb2 import ReviewAnswerRequest

    request = ReviewAnswerRequest(
        question=question,
        answer=read_stdin() if answer == STDIN else answer,
        sources=sources or (),
        criteria_set=criteria.value_of(),
        criteria=map(_criterion, own or ()),
        reviewers=reviewers or (),
        quorum=quorum,
        max_revisions=revisions,
        critical_contradictions=critical,
        language=language,
    )
    with session.client() as client:
        replies = client.dialectic.ReviewAnswer(request, timeout=LONG_RUN)
        if session.as_json:
            written_out(replies)
            return
        found = result_of(replies, "Reviewing")
    from concord_client.cli.render.review_page import reviewed

    show(*reviewed(found.review))


def _criterion(said: str) -> "review_pb2.Criterion":
    from concord.dissonance.v1.review_pb2 import Criterion

    name, _, weight = said.rpartition("=")
    try:
        return Criterion(name=name, weight=float(weight))
    except ValueError:
        raise typer.BadParameter(f"{said} is not NAME=WEIGHT.") from None
