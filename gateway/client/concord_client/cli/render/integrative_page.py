"""Renders the results of an integrative search."""

from concord.graph.v1.conflict_pb2 import ConflictClass
from concord.search.v1 import search_pb2
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND
from rich.text import Text

from concord_client.cli.render.page import lines, plural, shortened, show, table, text, word
from concord_client.cli.render.search_page import SHOWN_CHARACTERS, disputed


def show_integrative(reply: search_pb2.IntegrativeSearchResponse, node: str) -> None:
    """Prints the node's constitutive statements, the results, and the number of unjudged pairs."""
    if reply.context_status != LOOKUP_STATUS_FOUND:
        show(text(f"There is no node {node}: nothing constitutive stands at it.", "yellow"))
    for each in reply.constitutive_statements:
        show(text(f"Constitutive: {each.statement}", "bold"))
    if reply.index_incomplete:
        show(text("The disk of the index has no room: there may be more than it knows.", "yellow"))
    if not reply.results:
        show("Nothing was found.")
        return
    made = table("#Score", "Memory or edge")
    for result in reply.results:
        made.add_row(text(f"{result.ief_score:.3f}", "bold"), _result(result))
    show("", made)
    if reply.HasField("feedback_request"):
        query_id = reply.feedback_request.query_id
        asked = f"{reply.feedback_request.question} concord feedback {query_id} --helpful"
        show(text(asked, "dim"))
    if unjudged := reply.check.unjudged_pair_count:
        ended = word(search_pb2.StatementCheckStatus, reply.check.status)
        of = plural(reply.check.pair_count, "pair")
        show(text(f"Not judged against the values: {unjudged} of {of} ({ended}).", "dim"))


def _result(result: search_pb2.IntegrativeResult) -> Text:
    is_edge = result.WhichOneof("item") == "edge"
    head = text(result.edge.id if is_edge else result.memory.id, "bold")
    head.append("  constitutive" if result.constitutive_factor > 1 else "", "green")
    parts = [head, text(shortened(result.statement, SHOWN_CHARACTERS))]
    parts.append(text(result.explanation.relevance_reason, "dim"))
    parts += [
        text(
            f"{'May clash' if each.is_text_finding else 'Clashes'} with {each.statement}:"
            f" {word(ConflictClass, each.conflict_class)}"
            f" ({each.confidence:.2f})",
            "yellow",
        )
        for each in result.clashes
    ]
    parts += map(disputed, result.potential_conflicts)
    return lines(*parts)
