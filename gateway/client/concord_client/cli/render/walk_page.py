"""Renders neighbors, paths and followed relations."""

from concord.graph.v1.graph_pb2 import FindPathResponse, QueryNeighborsResponse
from concord.graph.v1.relation_pb2 import FollowRelationsResponse

from concord_client.cli.render.item_page import end, statement
from concord_client.cli.render.page import show, table, text


def show_neighbors(reply: QueryNeighborsResponse) -> None:
    """Prints the neighbors."""
    if not reply.neighbors:
        show("No edges.")
        return
    made = table("#Hop", "#Relevance", "Neighbor", "Edge")
    for each in reply.neighbors:
        style = "dim" if each.edge.supersession.is_superseded else ""
        edge = text(statement(each.edge), style)
        if each.edge.supersession.is_superseded:
            edge.append("  (superseded)", "yellow")
        made.add_row(
            str(each.distance),
            f"{each.edge.relevance_score:.3f}",
            text(end(each.neighbor), "bold"),
            edge.append(f"\n{each.edge.id}", "dim"),
        )
    show(made)
    if reply.next_page_token:
        show(text(f"There are more; this is the first {len(reply.neighbors)}.", "dim"))
    if reply.truncated:
        show(text("The walk stopped at its bound before it had seen all.", "yellow"))


def show_paths(reply: FindPathResponse) -> None:
    """Prints the paths."""
    if not reply.paths:
        show("No path.")
        return
    made = table("#Hops", "#Weight", "#Relevance", "Path")
    for each in reply.paths:
        made.add_row(
            str(len(each.edges)),
            f"{each.weight:.3f}",
            f"{each.path_relevance:.3f}",
            text("\n".join(map(statement, each.edges))),  # each edge as it points
        )
    show(made)
    if reply.truncated:
        show(text("The search stopped at its bound before it had seen all.", "yellow"))


def show_following(reply: FollowRelationsResponse) -> None:
    """Prints the hops, and the ends that they lead to."""
    made = table("#Hop", "Edges")
    for number, hop in enumerate(reply.hops, 1):
        made.add_row(str(number), text("\n".join(map(statement, hop.edges)) or "–"))
    show(made)
    if reply.unheld_hop:
        last = reply.hops[-1]
        held = f" What does: {', '.join(last.held_relations)}." if last.held_relations else ""
        show(text(f"Nothing holds {last.relation} at hop {reply.unheld_hop}.{held}", "yellow"))
    else:
        show(text(", ".join(map(end, reply.ends)), "bold"))
    if any(hop.truncated for hop in reply.hops):
        show(text("A hop led to more than 100 ends; the heaviest were followed.", "yellow"))
