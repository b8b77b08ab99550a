"""How neighbors and paths look on a page."""

from concord.graph.v1.graph_pb2 import FindPathResponse, Path, QueryNeighborsResponse

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
            text(_route(each)),
        )
    show(made)
    if reply.truncated:
        show(text("The search stopped at its bound before it had seen all.", "yellow"))


def _route(found: Path) -> str:
    """The edges in walking order, each as it points."""
    return "\n".join(statement(edge) for edge in found.edges)
