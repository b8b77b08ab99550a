"""How the command line names an end of an edge: a name, `memory:ID`, `node:ID` or `edge:ID`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concord.type.v1.type_pb2 import EdgeEnd

ID_PREFIXES = ("memory:", "node:", "edge:")
END_HELP = "A node's name, memory:ID or node:ID."


def item_id(given: str) -> str | None:
    """The id that `given` names by a prefix; None for a plain name."""
    for prefix in ID_PREFIXES:
        if given.lower().startswith(prefix):
            return given[len(prefix) :]
    return None


def edge_end(given: str) -> "EdgeEnd":
    """The end that `given` names."""
    from concord.type.v1.type_pb2 import EdgeEnd

    found = item_id(given)
    return EdgeEnd(name=given) if found is None else EdgeEnd(id=found)
