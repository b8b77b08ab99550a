"""What gave way by a write, as a line."""

from concord.type.v1 import type_pb2

from concord_client.cli.render.page import show, text

MOST_NAMED = 20
_HOW = {
    type_pb2.LINEAGE_RELATION_DEPRECATES: "deprecated",
    type_pb2.LINEAGE_RELATION_AMENDS: "amended",
}


def show_gave_way(given: type_pb2.GaveWay) -> None:
    """Print what gave way, if anything did: "Gave way: ID, ID (deprecated) and 3 more"."""
    if not given.count:
        return
    named = [each.id + _why(each) for each in given.items[:MOST_NAMED]]
    more = given.count - len(named)
    others = f" and {'at least ' * given.truncated}{more:,} more" if more else ""
    show(text(f"Gave way: {', '.join(named)}{others}", "yellow"))


def _why(given: type_pb2.GivenWay) -> str:
    if given.declared_by:
        return f" ({given.declared_by} declared that its relation has one value at a time)"
    return f" ({_HOW[given.relation]})" if given.relation in _HOW else ""
