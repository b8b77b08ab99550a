"""Renders the results of a search."""

from concord.search.v1.search_pb2 import (
    ConfidenceBand,
    PotentialConflict,
    SearchResponse,
    SearchResult,
    TimePhrase,
    TimeUse,
)
from rich.text import Text

from concord_client.cli.render.claim_page import marks
from concord_client.cli.render.health_page import note
from concord_client.cli.render.item_page import amended
from concord_client.cli.render.page import lines, plural, shortened, show, table, text, when, word

SHOWN_CHARACTERS = 280


def show_results(reply: SearchResponse, *, explain: bool = False, behind: int = 0) -> None:
    """Prints the STAC lines and the results, or that there are none.

    `behind`: changes that are not indexed yet, for which an empty result is no proof of absence.
    """
    for line in reply.stac_lines:
        show(text(line, "italic"))
    for phrase in reply.times:
        show(text(_time(phrase), "dim"))
    if reply.index_incomplete:
        show(text("The disk of the index has no room: there may be more than it knows.", "yellow"))
    if not reply.results:
        if behind > 0:
            lag = f"The index is {plural(behind, 'change')} behind"
            show(text(f"{lag}: it finds what was written last later.", "yellow"))
        show("Nothing was found.")
        return
    has_edges = any(result.HasField("edge") for result in reply.results)
    made = table("#Score", "Memory or edge" if has_edges else "Memory")
    for result in reply.results:
        band = word(ConfidenceBand, result.confidence)
        score = text(f"{result.composite_score:.3f}", "bold")
        made.add_row(score.append(f"\n{band}", "dim"), _result(result, explain))
    show("", made)
    if reply.next_page_token:
        show(text("There are more: ask with a larger --limit.", "dim"))


def _time(phrase: TimePhrase) -> str:
    """A line on a time that the query names, and what was made of it."""
    begin, end = (
        when(getattr(phrase, side)) if phrase.HasField(side) else "" for side in ("since", "before")
    )
    span = " ".join(
        part for part in (begin and f"from {begin}", end and f"until before {end}") if part
    )
    said = {
        TimeUse.TIME_USE_RANKED: f"{span}; --no-window ranks without it",
        TimeUse.TIME_USE_PAST: "what no longer holds ranks first; --no-window ranks without it",
        TimeUse.TIME_USE_NOT_USED: f"{span or 'seen'}, but not used",
    }.get(phrase.use, "a time, but which one is not known: it changes nothing")
    by = f" (by memory:{phrase.dated_by_memory_id})" if phrase.dated_by_memory_id else ""
    return f'"{phrase.phrase}": {said}{by}'


def _result(result: SearchResult, explain: bool) -> Text:
    is_edge = result.HasField("edge")
    item = result.edge if is_edge else result.memory
    head = text(item.id, "bold")
    if item.supersession.is_superseded:
        since = when(item.supersession.superseded_from)
        head.append(f"  superseded from {since}", "yellow")
    head.append(amended(item.supersession), "yellow")
    if is_edge:
        edge = result.edge
        said = f"{edge.source.name} {edge.relation} {edge.target.name}"
    else:
        head.append(note(result.memory.health), "yellow")
        said = result.memory.content
    parts = [head, text(shortened(said, SHOWN_CHARACTERS))]
    if result.HasField("matched_fact") and not is_edge:
        fact = result.matched_fact
        parts.append(text(f"states {fact.subject} {fact.relation} {fact.object}", "dim"))
    parts.append(text(result.provenance, "dim"))
    parts.append(text(result.explanation.relevance_reason, "dim"))
    if item.claims:
        parts.append(text(f"claimed: {marks(item.claims, item.id)}", "yellow"))
    parts += map(disputed, result.potential_conflicts)
    if explain:
        parts += [
            text(
                f"  {each.signal_name} {each.score:.2f} × {each.weight:.2f}"
                f" = {each.contribution:.3f}  {each.reason}",
                "dim",
            )
            for each in result.explanation.signals
        ]
        parts += [
            text(f"  {each.signal_name}: no data, {each.reason}", "dim")
            for each in result.explanation.dropped
        ]
    return lines(*parts)


def disputed(conflict: PotentialConflict) -> Text:
    """A line on what says otherwise than a result, with the command that shows the conflict."""
    says = "may say" if conflict.is_text_finding else "says"
    command = f"concord conflict {conflict.conflict_id}"
    return text(f"Review conflict? {conflict.other_id} {says} otherwise: {command}", "yellow")
