"""What Neo4j reads to answer: each statement seeks what it needs, in a store of any size."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import neo4j_at_hand
import pytest
from concord_graph.adapters.neo4j import (
    erased_items,
    fact_edges,
    feed,
    filters,
    flush,
    layers,
    patterns,
    statements,
    store,
    succession,
    views,
    write_reads,
    writes,
)
from concord_graph.adapters.neo4j.patterns import THEN, Known
from concord_graph.adapters.seen import Seen
from concord_graph.domain.items import FOREVER, ItemKind
from concord_graph.domain.spelling import NameKind
from concord_graph.ports import ChangeType, MemoryFilter
from graph_world import Calls, World, fact

ENDS = ("source_id", "target_id")
ITEMS = (ItemKind.NODE, ItemKind.EDGE, ItemKind.MEMORY)
Step = tuple[str, str]


def _reads() -> dict[str, Callable[[Known], str]]:
    def walked(known: Known, seen_as: Seen, *, constitutive: bool = False) -> str:
        return statements.walked(
            known,
            ENDS,
            "",
            hide_superseded=seen_as != Seen.WHOLE,
            seen_as=seen_as,
            constitutive=constitutive,
            standing_only=True,
            facts=seen_as == Seen.WHOLE,
        )

    found: dict[str, Callable[[Known], str]] = {
        "triple": statements.of_triple,
        "external id": statements.of_external_id,
        "kinds": statements.kinds,
        "lineage": statements.lineage,
        "is held": statements.is_pinned,
        "by name": lambda known: statements.found(known, by_name=True),
        "by id": lambda known: statements.found(known, by_name=False),
        "steps": lambda known: walked(known, Seen.STEP),
        "whole steps": lambda known: walked(known, Seen.WHOLE),
        "constitutive steps": lambda known: walked(known, Seen.STEP, constitutive=True),
        "hops": lambda known: walked(known, Seen.HOP),
        "constitutive hops": lambda known: walked(known, Seen.HOP, constitutive=True),
        "degrees": lambda known: statements.degrees(known, ENDS),
        "nodes": statements.listed_nodes,
        "edges": lambda known: statements.listed_edges(
            known, "", stated=True, by_participant=False
        ),
        "edges by participant": lambda known: statements.listed_edges(
            known, "", stated=True, by_participant=True
        ),
        "memories": lambda known: statements.listed_memories(
            known, filters.memory_tests(MemoryFilter(), known)[0]
        ),
        "counts": lambda known: statements.counted(known, stated=True),
        "turns": lambda known: layers._turns(known, stated=True),
        "entries": lambda known: layers._entries(known, ""),
        "entry counts": lambda known: layers._entry_counts(known, stated=True),
        "declared": succession.declared,
        "relations": succession.listed_relations,
        "standings": succession.standings,
        "values around": succession.values_around,
        "exits of": succession.exits_of,
        "items": statements.items,
        "amendments": statements.amendments,
        "facts": fact_edges.facts_of_each,
    }
    for kind in ITEMS:
        found[f"views of {kind.name}"] = lambda known, kind=kind: statements.views(
            kind, known, facts=True
        )  # type: ignore[misc] # the default binds the loop's value
        found[f"all of {kind.name}"] = lambda known, kind=kind: statements.live_items(  # type: ignore[misc] # as above
            kind, known, stated=True
        )
    return found


def _others() -> dict[str, str]:
    return {
        "flush": flush.FLUSH,
        "mark": flush.MARK,
        "lock": writes._LOCK,
        "learnt": write_reads._LEARNT,
        "latest change": views._LATEST_CHANGE,
        "ever functional": succession.EVER_FUNCTIONAL,
        "put standings": succession.PUT,
        "rivals": succession.RIVALS,
        "stating": fact_edges.STATING,
        "first change": layers._FIRST_SEQ,
        "erase": erased_items._ERASE,
        "ever facts": fact_edges.EVER_FACTS,
        "ever stating": fact_edges.EVER_STATING,
        "is named": fact_edges.IS_NAMED,
        "put facts": fact_edges.PUT,
        "feed": store._CHANGES,
        "newly read": store._NEWLY_READ,
        "number": feed.NUMBER,
        "flush and number": feed.numbering(flush.FLUSH),
        "numbers": feed.NUMBERS,
        "spaces": feed.SPACES,
        "commits": feed.COMMITS,
        "changes of commits": feed.CHANGES,
        "numbered": feed.NUMBERED,
        "changes at": feed.AT,
        **{f"names of {kind.name}": layers._names_near(kind) for kind in NameKind},
    }


STATEMENTS = _others() | {
    f"{name}, {'now' if known is None else 'then'}": text(known)
    for name, text in _reads().items()
    for known in (None, THEN)
}


OF_ALL = {
    "put facts": "Space",
    "ever functional": "RelationVersion",  # of relations there are a few
    "lock": "(?:Space|Functional|Amending|EntryVersion)",  # one of each, and of relations a few
    "flush": "Space",
    "flush and number": "Space",
    "numbers": "FeedPartition",
    "changes of commits": "(?:Space|Imported)",  # one of a space
    "erase": "Request",  # receipts that may tell of what is erased
    **{name: r"\w+" for name in STATEMENTS if name.startswith(("counts,", "all of"))},
}
"""The statements that read all of a space by intention, and which label."""


async def _some(home: Calls) -> None:
    """Write a little of each, so that no count is nought and each index seems as good."""
    for ends in (("one", "two"), ("two", "three")):
        await home.put_edge(ends[0], "WROTE", ends[1])
    await home.add("Some words", id="first")
    await home.add("Other words\n\nSupersedes: [[memory:first]]", id="second")


@pytest.mark.parametrize("filled", [False, True], ids=["in an empty store", "in a small one"])
async def test_every_plan_seeks_by_more_than_the_space(
    live: World, home: Calls, filled: bool
) -> None:
    """G9 Nothing goes through all there is of a label, nor through all of it in a space.

    Plans are made while a store is small, and serve it for some time while it grows.
    """
    assert live
    if filled:
        await _some(home)
    plans = _plans(STATEMENTS)
    broad = {name: found for name, steps in plans.items() if (found := _broad(name, steps))}

    assert broad == {}


def _plans(names: Iterable[str]) -> dict[str, list[Step]]:
    """Return the plans that the store makes of statements now."""
    found = {}
    with neo4j_at_hand.driver().session() as session:
        for name in names:
            text = STATEMENTS[name]
            if not text.startswith(patterns.PLANNED_ONCE):  # these name no single space
                text = patterns.scoped(text)
            text = text.removeprefix(patterns.PLANNED_ONCE)
            asked = f"EXPLAIN CYPHER replan=force {text}"
            plan = session.run(asked, given={"space": "home"}).consume().plan
            assert plan is not None
            found[name] = list(_steps(plan))
    return found


def _broad(name: str, steps: list[Step]) -> list[str]:
    """Return the steps of a statement's plan that read all of a label, or all of a space's."""
    meant = rf"\w+:{OF_ALL.get(name, 'nothing')}\("
    return [
        f"{operator} {details}"
        for operator, details in steps
        if ("Scan" in operator or ("Seek" in operator and not _narrow(details)))
        and not re.search(meant, details)
    ]


def _narrow(details: str) -> bool:
    """Whether a seek bounds another property than the space."""
    tests = details.partition(" WHERE ")[2].partition(", cache[")[0].split(" AND ")
    return any("space = " not in test and "IS NOT NULL" not in test for test in tests)


def _steps(plan: dict[str, object]) -> Iterator[Step]:
    """Yield each step's operator and what it says of itself."""
    said, children = plan["args"], plan.get("children", [])
    assert isinstance(said, dict)
    assert isinstance(children, list)
    yield str(plan["operatorType"]), str(said.get("Details", ""))
    for child in children:
        yield from _steps(child)


async def test_pages_are_read_in_the_order_of_an_index(live: World, home: Calls) -> None:
    """G9 G14 A page costs what it holds: nothing sorts all that would come after it."""
    assert live
    await _some(home)
    # not memories: of two, Neo4j now and then sorts them, until there are more and it plans anew
    listed = ("nodes, now", "relations, now", "feed", "latest change", "spaces", "commits")
    sorting = {
        name: found
        for name, steps in _plans(listed).items()
        if (found := [operator for operator, _ in steps if re.match("Top|Sort", operator)])
    }

    assert sorting == {}


async def test_reads_of_memories_with_facts_do_not_pay_for_what_lies_beside(
    live: World, home: Calls
) -> None:
    """G9 M1 T3 Facts are sought by id, rows and pages read by index, now and of a moment ago.

    Neo4j plans a subquery in an expression apart and shows none of it, so hits are counted here.
    """
    assert live
    await home.declare("R0", functional=True)
    for number in range(4):
        said = fact("Ann", f"R{number % 2}", f"v{number}")
        await home.add(f"Words {number}", id=f"m{number}", facts=[said])
    for name in OF_FACTS:
        for known in ("now", "then"):
            _hits(f"{name}, {known}")  # the plan of a young store serves it while it grows
    neo4j_at_hand.run(_OTHERS_EDGES)
    neo4j_at_hand.run(_OLDER)
    hits = {name: (_hits(f"{name}, now"), _hits(f"{name}, then")) for name in OF_FACTS}

    assert {name: found for name, found in hits.items() if max(found) > MOST_HITS} == {}
    assert {name: found for name, found in hits.items() if found[0] > 2 * found[1]} == {}


async def test_the_state_of_a_much_read_memory_costs_no_more(live: World, home: Calls) -> None:
    """S1 G6 Each read is a change, too: what walks them costs more with each search."""
    assert live
    await home.add("Some words", id="m0")
    before = _hits("latest change")
    neo4j_at_hand.run(_READS)

    assert _hits("latest change") == before


_READS = (
    "MATCH (c:Change {space: 'home', item_id: 'm0'}) WITH c LIMIT 1"
    " UNWIND range(1, 1000) AS number CREATE (r:Change)"
    f" SET r = c {{.*, seq: c.seq + number, type: {int(ChangeType.TOUCHED)}}}"
)
_OTHERS_EDGES = (
    "MATCH (e:Edge {space: 'home'}) WITH e LIMIT 1 UNWIND range(1, 1000) AS number"
    " UNWIND ['other', 'home'] AS space CREATE (x:Item:EdgeVersion:Edge)"
    " SET x = e {.*, space: space, relation: 'OTHER', id: toString(number),"
    " target_id: toString(number)}"
)
_OLDER = (
    "MATCH (m:Memory {space: 'home'}) WITH m LIMIT 1 UNWIND range(1, 1000) AS number"
    " CREATE (x:Item:MemoryVersion:Memory)"
    " SET x = m {.*, id: 'older' + number, create_time: m.create_time - number}"
)
MOST_HITS = 600
OF_FACTS = ("memories", "facts", "standings", "views of MEMORY")


def _hits(name: str) -> int:
    """Return how often the store is hit to answer a statement about the memories of `home`."""
    text = patterns.scoped(STATEMENTS[name])
    known = FOREVER - 1
    given = {
        **{"space": "home", "functional": ["R0"], "valid": known, "limit": 4},
        **{"before_time": known, "before_id": "", "tag": "", "kinds": []},
        "asked": [
            {"id": f"m{number}", "place": number, "record": known, "seq": known}
            for number in range(4)
        ],
    }
    if name.startswith("memories"):
        given["asked"] = [{"record": known}]
    with neo4j_at_hand.driver().session() as session:
        profile = session.run(f"PROFILE {text}", given=given).consume().profile
    assert profile is not None
    return _total(profile)


def _total(step: dict[str, Any]) -> int:
    return int(step.get("dbHits", 0)) + sum(map(_total, step.get("children", [])))


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_labelled_node_is_of_the_space(name: str) -> None:
    """G13 The one builder puts the space into each; nothing is bound but by name."""
    text = patterns.scoped(STATEMENTS[name])
    nodes = patterns._NODE.findall(text)

    assert nodes
    assert all(inner.startswith("space: $given.space") for _, inner in nodes)


def test_a_statement_without_a_space_is_refused() -> None:
    """G13 There is none to forget it in."""
    with pytest.raises(ValueError, match="without a node of the space"):
        patterns.scoped("MATCH (n) RETURN n")
