"""The facts that texts state, and how their extraction ended."""

from typing import TYPE_CHECKING

from concord_client.cli.render.page import plural, show, text, when

if TYPE_CHECKING:
    from concord.dissonance.v1.dissonance_pb2 import ExtractFactsResponse, FactCandidate


def show_candidates(reply: "ExtractFactsResponse") -> None:
    """Prints each fact with its words, and the outcome."""
    for each in reply.candidates:
        fact = each.fact
        line = text("  " if each.sure else "? ").append(
            f"{fact.subject} —{fact.relation}→ {fact.object}", "bold" if each.sure else ""
        )
        show(line.append(_period(each)), text(f'    "{each.quote}"', "dim"))
    show_outcome(reply)


def show_outcome(reply: "ExtractFactsResponse") -> None:
    """Prints how many facts were found, and what was not read or not answered."""
    from concord.dissonance.v1 import dissonance_pb2

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
    if counts.dropped:
        show(text(f"{plural(counts.dropped, 'fact')} of the model dropped: not in the text."))


def _period(each: "FactCandidate") -> str:
    since = f" from {when(each.valid_from)}" if each.HasField("valid_from") else ""
    until = f" until {when(each.valid_until)}" if each.HasField("valid_until") else ""
    return f"{since}{until}"
