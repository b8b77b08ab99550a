"""Renders the health of memories."""

from concord.search.v1.health_pb2 import AssessHealthResponse, HealthCount
from concord.type.v1 import type_pb2

from concord_client.cli.render.page import plural, shortened, show, show_more, table, text, word

SHOWN_CHARACTERS = 120


def in_words(health: type_pb2.Health) -> str:
    """E.g. "at risk: an open conflict"; empty for an unknown health."""
    if not health.status:
        return ""
    status = _status(health)
    return f"{status}: {', '.join(health.reasons)}" if health.reasons else status


def _status(said: type_pb2.Health | HealthCount) -> str:
    return word(type_pb2.HealthStatus, said.status)


_UNSAID = {0, type_pb2.HEALTH_STATUS_HEALTHY, type_pb2.HEALTH_STATUS_ORPHAN}
"""In a list these say nothing about a memory: one without a link is what most notes are."""


def note(health: type_pb2.Health) -> str:
    """The text after a memory's id in a list; empty for a healthy memory or an orphan."""
    return "" if health.status in _UNSAID else f"  {_status(health)}"


def show_health(reply: AssessHealthResponse) -> None:
    """Prints a sentence of the counts, and the listed memories with their reasons."""
    show(text(_summary(reply)))
    if reply.memories:
        made = table("Memory", "Health")
        for memory in reply.memories:
            said = text(shortened(memory.statement, SHOWN_CHARACTERS))
            head = text(memory.memory_id, "bold").append("\n").append(said)
            made.add_row(head, text(in_words(memory.health), "yellow"))
        show("", made)
    show_more(reply.next_page_token)


def _summary(reply: AssessHealthResponse) -> str:
    """E.g. "Of 451 memories 2 are at risk, 165 are orphans and 284 are healthy."."""
    if not reply.counts:
        return "There are no memories."
    total = sum(each.count for each in reply.counts)
    *former, last = map(_counted, reply.counts)
    said = f"{', '.join(former)} and {last}" if former else last
    part = "the newest " if reply.next_page_token else ""
    return f"Of {part}{plural(total, 'memory', 'memories')} {said}."


def _counted(each: HealthCount) -> str:
    if each.status == type_pb2.HEALTH_STATUS_ORPHAN:
        return plural(each.count, "is an orphan", "are orphans")
    return plural(each.count, f"is {_status(each)}", f"are {_status(each)}")
