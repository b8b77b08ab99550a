"""What stands beside a turn in its session, as the index tells it."""

from concord.type.v1 import type_pb2
from concord_search.ports.index import Batch
from search_lab import NOW, SPACE, Lab, plain_state


async def held_around(lab: Lab, memory_id: str) -> int:
    """How many of the words red, green and blue a turn holds together with its neighbours."""
    found = await lab.ask("red green blue")
    row = lab.ids(found).index(memory_id)
    return int(found.talk.window[row].sum())


async def test_neighbours_follow_what_becomes_of_them(lab: Lab) -> None:
    """S1 A changed neighbour counts as it is, an erased one no more, another session's never."""
    turn = {"kind": type_pb2.MEMORY_KIND_TURN, "session_id": "talk"}
    await lab.write(
        plain_state("a", 1, "red", **turn),
        plain_state("b", 2, "green", **turn),
        plain_state("other", 3, "blue", kind=type_pb2.MEMORY_KIND_TURN, session_id="else"),
    )
    assert await held_around(lab, "b") == 2

    await lab.write(plain_state("c", 4, "blue", **turn))
    assert await held_around(lab, "b") == 3
    assert await held_around(lab, "other") == 1

    await lab.write(plain_state("a", 5, "red", tags=("kept",), **turn))
    assert await held_around(lab, "b") == 3

    await lab.index.apply(SPACE, Batch(6, NOW, erased=["c"]))
    assert await held_around(lab, "b") == 2
