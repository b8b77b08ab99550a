"""How a conflict is shown to whoever reviews it."""

import io

from concord.graph.v1.conflict_pb2 import Conflict, ConflictSide, Span
from concord_client.cli.render.conflict_page import whole
from rich.console import Console


def test_a_review_quotes_both_sides_and_marks_what_differs() -> None:
    """W4 D5 Bold where they disagree; underlined the words that the other side lacks."""
    said = ("Yes. The tower is 300 m high.", "The tower is 320 m high.")
    sides = [
        ConflictSide(id=each, statement=each, spans=[Span(start=len(each) - 24, end=len(each))])
        for each in said
    ]
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=200, color_system="standard")
    for part in whole(Conflict(id="c", number=7, first=sides[0], second=sides[1])):
        console.print(part)

    shown = out.getvalue()
    assert "\x1b[1;4m300\x1b[0m" in shown
    assert "\x1b[1;4m320\x1b[0m" in shown
    assert "\x1b[1;4mtower" not in shown
