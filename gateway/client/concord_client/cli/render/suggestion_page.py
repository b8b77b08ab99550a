"""Renders suggestions."""

from concord.search.v1.suggestion_pb2 import Suggestion, SuggestProactivelyResponse

from concord_client.cli.render.page import shortened, show, text

SHOWN_CHARACTERS = 280


def show_suggestions(reply: SuggestProactivelyResponse) -> None:
    """Prints the suggested memories, each with the reason."""
    if not reply.suggestions:
        show("Nothing to suggest.")
    for each in reply.suggestions:
        show(text(each.memory.id, "bold").append(f"  {_why(each)}", "dim"))
        show(text(shortened(each.memory.content, SHOWN_CHARACTERS)))
    if not reply.all_triggers_tried:
        show(text("The time for triggers was over before all were tried.", "yellow"))


def _why(suggestion: Suggestion) -> str:
    if suggestion.trigger:
        return f"surfaces when {suggestion.trigger}"
    return f"is about {', '.join(suggestion.shared_concepts)}"
