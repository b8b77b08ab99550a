"""Renders the health of memories."""

from concord.search.v1.health_pb2 import AssessHealthResponse, HealthCount
from concord.type.v1 import type_pb2

from concord_client.cli.render.page import shortened, show, show_more, table, text, word

SHOWN_CHARACTERS = 120


def in_words(health: type_pb2.Health) -> str:
    """E.g. "at risk: an open conflict"; empty for an unknown health."""
    if not health.status:
        return ""
    status = _status(health)
    return f"{status}: {', '.join(health.reasons)}" if health.reasons else status


def _status(said: type_pb2.Health | HealthCount) -> str:
    return word(type_pb2.HealthStatus.Name(said.status), "HEALTH_STATUS_").replace("_", " ")


def note(health: type_pb2.Health) -> str:
    """The text after a memory's id; empty for a healthy memory."""
    healthy = health.status in {0, type_pb2.HEALTH_STATUS_HEALTHY}
    return "" if healthy else f"  {_status(health)}"


def show_health(reply: AssessHealthResponse) -> None:
    """Prints the counts, and the listed memories with their reasons."""
    if reply.next_page_token:
        show("Of the newest memories, as far as they were looked at:")
    for each in reply.counts:
        show(text(f"{each.count:>8,}  {_status(each)}"))
    if reply.memories:
        made = table("Memory", "Health")
        for memory in reply.memories:
            said = text(shortened(memory.statement, SHOWN_CHARACTERS))
            head = text(memory.memory_id, "bold").append("\n").append(said)
            made.add_row(head, text(in_words(memory.health), "yellow"))
        show("", made)
    show_more(reply.next_page_token)
