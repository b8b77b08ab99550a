"""Lineage and decisions as a drawing that Graphviz reads."""

import asyncio
import shutil
from asyncio.subprocess import PIPE

from concord.graph.v1 import space_pb2
from concord.type.v1 import type_pb2
from concord_graph.usecases.transfer.drawing import quoted_label
from conflict_world import CONFIRM, DISMISS, EVOLUTION, recorded, review
from dot_language import Graph, parse
from graph_world import AMENDS, CONTRADICTS, DEPRECATES, SUPERSEDES, Calls, World, stamp
from hypothesis import given
from hypothesis import strategies as st
from transfers import export_of, furnish

DOT = space_pb2.EXPORT_FORM_DOT


async def drawn(calls: Calls, as_of: type_pb2.AsOf | None = None) -> Graph:
    """Return what the drawing of a space says."""
    return parse("\n".join(await calls.export(form=DOT, as_of=as_of)))


async def test_potential_conflicts_are_dashed_and_confirmed_ones_solid(home: Calls) -> None:
    """G15 D5 CONTRADICTS stands for what it asserts; what is dismissed or resolved is no line."""
    a, b, c, d = [await home.add(name, id=name) for name in "abcd"]
    await recorded(home, a, b)
    evolved = await recorded(home, b, c, conflict_class=EVOLUTION, older_id="b")
    await review(home, evolved, CONFIRM)
    await review(home, await recorded(home, c, d), CONFIRM)
    await review(home, await recorded(home, a, d), DISMISS)
    arrows = {
        (tail, head): (look["label"], look["style"], look["dir"])
        for tail, head, look in (await drawn(home)).arrows
    }

    assert arrows == {
        ("a", "b"): ("CONTRADICTION", "dashed", "none"),
        ("b", "c"): ("EVOLUTION", "solid", "none"),
        ("c", "d"): ("CONTRADICTS", "solid", "none"),
    }


async def test_each_relation_has_its_arrow(home: Calls) -> None:
    """G15 T1 From newer to older; a contradiction has no direction."""
    for name in ("a", "b", "c", "d", "e"):
        await home.add(f"text of {name}", id=name)
    await home.relate(SUPERSEDES, "b", "a")
    await home.relate(DEPRECATES, "c", "b")
    await home.relate(AMENDS, "d", "c", "one word")
    await home.relate(CONTRADICTS, "e", "d")
    graph = await drawn(home)

    arrows = {(tail, head): look for tail, head, look in graph.arrows}
    labels = {pair: look["label"] for pair, look in arrows.items()}
    assert labels == {
        ("b", "a"): "SUPERSEDES",
        ("c", "b"): "DEPRECATES",
        ("d", "c"): "AMENDS",
        ("d", "e"): "CONTRADICTS",
    }
    assert arrows["d", "e"]["dir"] == "none"
    assert all(look["style"] == "solid" for look in arrows.values())
    assert arrows["d", "c"]["tooltip"] == "one word"
    grey = {name for name, look in graph.nodes.items() if look.get("fillcolor") == "lightgrey"}
    assert grey == {"a", "b"}
    assert graph.nodes["a"]["label"] == "text of a"


async def test_decisions_between_edges_are_drawn(home: Calls) -> None:
    """G15 D6 A resolution connects the edges that it is about, told as sentences."""
    old = await home.put_edge("Ada", "WORKS_AT", "Acme")
    new = await home.put_edge("Ada", "WORKS_AT", "Zeta")
    await home.relate(SUPERSEDES, new.id, old.id)
    graph = await drawn(home)

    assert [(tail, head) for tail, head, _ in graph.arrows] == [(new.id, old.id)]
    assert graph.nodes[old.id]["label"] == "Ada WORKS_AT Acme"
    assert graph.nodes[old.id]["shape"] == "ellipse"
    assert graph.nodes[old.id]["fillcolor"] == "lightgrey"
    assert "fillcolor" not in graph.nodes[new.id]


async def test_ghosts_and_what_was_forgotten(home: Calls) -> None:
    """G15 T5 What nobody declared is dotted, what was forgotten dashed; loose ones are left out."""
    await home.add("loose", id="loose")
    await home.add("Supersedes: [[memory:ghost]]", id="a")
    await home.add("Supersedes: [[memory:b]]", id="c")
    await home.forget(await home.add("b", id="b"))
    graph = await drawn(home)

    assert set(graph.nodes) - {"node"} == {"a", "b", "c", "ghost"}
    assert "dotted" in graph.nodes["ghost"]["style"]
    assert "dashed" in graph.nodes["b"]["style"]


async def test_what_was_known_then(home: Calls, live: World) -> None:
    """G15 T3 Of an instant: the lineage known then, and grey what did not hold then."""
    await home.add("a", id="a")
    before = stamp(live.clock() + 1)
    live.clock.pass_(10)
    await home.add("Supersedes: [[memory:a]]", id="b")

    assert (await drawn(home, type_pb2.AsOf(record_time=before))).arrows == []
    earlier = await drawn(home, type_pb2.AsOf(valid_time=before))
    assert len(earlier.arrows) == 1
    assert "fillcolor" not in earlier.nodes["a"]
    assert earlier.nodes["b"]["fillcolor"] == "lightgrey"
    now = await drawn(home)
    assert now.nodes["a"]["fillcolor"] == "lightgrey"
    assert "fillcolor" not in now.nodes["b"]


async def test_what_ended_by_itself_is_grey(home: Calls, live: World) -> None:
    """G15 T3 Past its stated end nothing holds, superseded or not."""
    end = live.clock() + 100
    await home.add("a", id="a")
    await home.add("Amends: [[memory:a]]", id="b", valid_until=stamp(end))

    assert "fillcolor" not in (await drawn(home)).nodes["b"]
    ended = await drawn(home, type_pb2.AsOf(valid_time=stamp(end)))
    assert ended.nodes["b"]["fillcolor"] == "lightgrey"
    assert "fillcolor" not in ended.nodes["a"]


async def test_the_drawing_of_everything_reads(home: Calls, live: World) -> None:
    """G15 With a strict reader, and with Graphviz's own parser where that is installed."""
    await furnish(home, live.clock)
    text = "\n".join(await export_of(home, DOT))

    assert len(parse(text).arrows) == 9
    if shutil.which("dot") is not None:
        graphviz = await asyncio.create_subprocess_exec("dot", "-Tcanon", stdin=PIPE, stdout=PIPE)
        await graphviz.communicate(text.encode())
        assert graphviz.returncode == 0


@given(st.text(max_size=200))
def test_no_text_escapes_from_its_quotes(text: str) -> None:
    """G15 Quotes, backslashes, line breaks and entities in a content draw as what they are."""
    drawing = f"digraph concord {{ n [label={quoted_label(text)}]; }}"
    label = parse(drawing).nodes["n"]["label"]

    assert len(label.replace("&amp;", "&")) <= 80
    assert "&" not in label.replace("&amp;", "")
    if text.strip().isalnum():
        assert label[:79] == text.strip()[:79]
