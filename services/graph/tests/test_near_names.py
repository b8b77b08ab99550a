"""A miss is an answer that says what may have been meant (G13)."""

from collections.abc import Sequence

from concord.graph.v1 import episode_pb2, graph_pb2, memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from concord_graph.domain.spelling import MOST_CHARACTERS, backwards, folded, nearest
from graph_world import FOUND, NOT_FOUND, Calls, World, by_id, edge_of, named
from hypothesis import given
from hypothesis import strategies as st


async def near_node(home: Calls, name: str) -> list[str]:
    """Return what the miss of a node's name suggests."""
    reply = await home.graph.GetNode(graph_pb2.GetNodeRequest(name=name))
    assert reply.status == NOT_FOUND
    return list(reply.near_names)


async def near_edge(
    home: Calls, source: str | type_pb2.EdgeEnd, relation: str, target: str | type_pb2.EdgeEnd
) -> list[str]:
    """Return what the miss of a triple suggests."""
    edge = edge_of(source, relation, target)
    triple = graph_pb2.Triple(source=edge.source, relation=relation, target=edge.target)
    reply = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(triple=triple))
    assert reply.status == NOT_FOUND
    return list(reply.near_names)


async def near_memory(home: Calls, **by: str) -> list[str]:
    """Return what the miss of a memory's id or key suggests."""
    reply = await home.memory.GetMemory(memory_pb2.GetMemoryRequest(**by))  # type: ignore[arg-type]
    assert reply.status == NOT_FOUND
    return list(reply.near_names)


async def test_a_name_that_is_spelt_alike_is_suggested(home: Calls) -> None:
    """G13 Case, white space, diacritics, and typos at the start, in the middle and at the end; the
    stored name may be the one that has diacritics, and shows them."""
    for name in ("Ada Lovelace", "Charles Babbage", "Zürich", "Tea", "Straße"):
        await home.put_node(name)
    spellings = [
        *("ada lovelace", "ADA LOVELACE", "Ada  Lovelace", "Ada Lovelacé", "Åda Lovelace"),
        *("Da Lovelace", "Adda Lovelace", "Ada Lovlace", "Ada Lovelcae", "Ada Lovelac"),
        *("Lovelace", "Ada", "Ida Lovelaze"),
    ]

    for asked in spellings:
        assert await near_node(home, asked) == ["Ada Lovelace"], asked
    assert await near_node(home, "ZURICH") == ["Zürich"]
    assert await near_node(home, "strasse") == ["Straße"]


async def test_at_most_five_the_nearest_first(home: Calls) -> None:
    """G13 Equal ones by name: the same names give the same answer."""
    for name in ("Anna B", "Anna D", "Anna C", "Anna A", "Anna E", "Anna F", "Hannah"):
        await home.put_node(name)

    assert await near_node(home, "Anna") == [f"Anna {letter}" for letter in "ABCDE"]
    assert (await near_node(home, "Annah"))[0] == "Hannah"


async def test_what_is_far_is_not_suggested(home: Calls) -> None:
    """G13 Nothing rather than noise; an id is no name."""
    node = await home.put_node("Ada Lovelace")
    by_number = await home.graph.GetNode(graph_pb2.GetNodeRequest(id=node.id[:-1] + "x"))

    assert await near_node(home, "Quicksilver") == []
    assert (by_number.status, list(by_number.near_names)) == (NOT_FOUND, [])


async def test_only_live_names_are_suggested(home: Calls) -> None:
    """G13 A deleted node is not, a renamed one by its new name; what is found is no miss."""
    node = await home.put_node("Charles Babbage")
    node.name = "Charles Darwin"
    node = await home.update_node(node, "name")
    renamed = await near_node(home, "Charles Babbage")
    found = await home.graph.GetNode(graph_pb2.GetNodeRequest(name="Charles Darwin"))
    node.label = "Person"
    node = await home.update_node(node, "label")
    labelled = await near_node(home, "Charles Darwn")
    await home.delete_node(node)

    assert renamed == labelled == ["Charles Darwin"]
    assert (found.status, list(found.near_names)) == (FOUND, [])
    assert await near_node(home, "Charles Darwin") == []


async def test_an_unknown_end_of_a_triple(home: Calls) -> None:
    """G13 Suggestions for the end that is unknown; for two, in turn."""
    for name in ("Ada Lovelace", "Ada Loveless", "Charles Babbage"):
        await home.put_node(name)

    assert await near_edge(home, "Ada Lovelacy", "KNOWS", "Charles Babbage") == [
        "Ada Lovelace",
        "Ada Loveless",
    ]
    assert await near_edge(home, "Ada Lovelace", "KNOWS", "charles") == ["Charles Babbage"]
    assert await near_edge(home, "ada lovelacy", "KNOWS", "charles") == [
        "Ada Lovelace",
        "Charles Babbage",
        "Ada Loveless",
    ]
    assert await near_edge(home, by_id("nowhere"), "KNOWS", "Ada Lovelace") == []


async def test_a_relation_that_is_spelt_alike(home: Calls) -> None:
    """G13 Between ends that are known, of the edges that lead from the one to the other."""
    await home.put_edge("Ada", "WORKS_AT", "Acme")
    await home.put_edge("Ada", "LIKES", "Acme")
    await home.put_edge("Ada", "WORK_FOR", "Zeta")
    await home.put_edge("Acme", "WORKS_WITH", "Ada")

    assert await near_edge(home, "Ada", "WORK_AT", "Acme") == ["WORKS_AT"]
    assert await near_edge(home, "Ada", "SUES", "Acme") == []
    reply = await home.graph.GetEdge(graph_pb2.GetEdgeRequest(id="nowhere"))
    assert (reply.status, list(reply.near_names)) == (NOT_FOUND, [])


async def test_no_relations_of_a_hub(home: Calls) -> None:
    """G13 A source with more than 100 edges is not read through for a suggestion."""
    await home.put_edge("Hub", "WORKS_AT", "Acme")
    for number in range(100):
        await home.put_edge("Hub", "R", f"n{number}")

    assert await near_edge(home, "Hub", "WORK_AT", "Acme") == []


async def test_a_memory_that_is_named_alike(home: Calls) -> None:
    """G13 Ids that callers chose, and keys when a key was asked for; never a generated id."""
    memory = await home.add("text", id="who-i-am", external_id="vault:identity")
    without = await home.add("other text")

    assert await near_memory(home, id="Who-I-m") == ["who-i-am"]
    assert await near_memory(home, external_id="vault:identiy") == ["vault:identity"]
    assert await near_memory(home, id="vault:identity") == []
    assert await near_memory(home, id=without.id[:-1] + "x") == []
    memory.external_id = "vault:self"
    memory = await home.update(memory, "external_id")
    assert await near_memory(home, external_id="vault:selv") == ["vault:self"]
    assert await near_memory(home, external_id="vault:identity") == []
    gone = await home.forget(memory)
    assert await near_memory(home, id="who-i-a") == []
    await home.restore(gone)
    assert await near_memory(home, id="who-i-a") == ["who-i-am"]


async def episode(home: Calls, session_id: str) -> None:
    """Add an episode of a session."""
    request = episode_pb2.AddEpisodeRequest(
        request_id=home.request_id(), query="q", reward=0, session_id=session_id
    )
    await home.episode.AddEpisode(request)


async def episodes(home: Calls, session_id: str) -> episode_pb2.ListEpisodesResponse:
    """List the episodes of a session."""
    return await home.episode.ListEpisodes(episode_pb2.ListEpisodesRequest(session_id=session_id))


async def test_a_session_that_is_named_alike(home: Calls) -> None:
    """G13 Sessions with episodes; one that is there suggests nothing, nor does asking for none."""
    for session in ("monday", "monday", "tuesday", ""):
        await episode(home, session)
    late = episode_pb2.ListEpisodesRequest()
    late.since.FromMilliseconds(2**42)

    assert (await episodes(home, "mondy")).near_names == ["monday"]
    assert (await episodes(home, "monday")).near_names == []
    reply = await home.episode.ListEpisodes(late)
    assert (reply.status, list(reply.near_names)) == (NOT_FOUND, [])


async def test_the_counts_of_a_space_that_never_was(live: World, home: Calls) -> None:
    """G12 G13 Zeros, and that there is nothing; a space where all is gone is there."""
    request = space_pb2.CountByTypeRequest()
    empty = await live.calls("never").space_service.CountByType(request)
    node = await home.put_node("Ada")
    full = await home.space_service.CountByType(request)
    await home.delete_node(node)
    gone = await home.space_service.CountByType(request)

    assert empty == space_pb2.CountByTypeResponse(status=NOT_FOUND)
    assert (full.status, full.nodes) == (FOUND, 1)
    assert (gone.status, gone.nodes, gone.deleted) == (FOUND, 0, 1)


async def test_a_write_is_suggested_by_the_next_read(home: Calls) -> None:
    """G13 Names are kept in the transaction of their write."""
    assert await near_node(home, "Adda") == []
    await home.put_edge("Ada", "KNOWS", "Bob")

    assert await near_node(home, "Adda") == ["Ada"]


def typo(name: str, place: int, kind: int, letter: str) -> str:
    """Return a name with one letter dropped, doubled, exchanged or swapped with the next."""
    place %= len(name) - 1
    head, one, rest = name[:place], name[place], name[place + 1 :]
    swapped = head + rest[:1] + one + rest[1:]
    return (head + rest, head + one + one + rest, head + letter + rest, swapped)[kind]


NAMES = st.lists(st.text("abcdefgh ", min_size=5, max_size=20), min_size=1, max_size=30)


@given(NAMES, st.integers(0, 99), st.integers(0, 99), st.integers(0, 3), st.sampled_from("abxyz"))
def test_a_name_with_one_typo_is_near(
    names: Sequence[str], which: int, place: int, kind: int, letter: str
) -> None:
    """G13 One typo anywhere, unless five others are nearer."""
    meant = names[which % len(names)]
    asked = typo(meant, place, kind, letter)
    found = nearest(asked, names)

    assert meant in found or len(found) == 5 or len(folded(meant)) < 4
    assert list(found) == list(nearest(asked, names[::-1]))


@given(st.text(max_size=200))
def test_folding_is_stable_and_bounded(name: str) -> None:
    """G13 What is compared has at most 64 characters, from either end, folded once and for all."""
    assert len(folded(name)) <= MOST_CHARACTERS
    assert folded(folded(name).strip()) == folded(name).strip()
    if len(folded(name)) < MOST_CHARACTERS:
        assert backwards(name) == folded(name)[::-1]


def test_nothing_is_near_to_nothing() -> None:
    """G13 A name of marks only folds to nothing, and everything begins with that."""
    assert nearest("\u0301", ["Ada", "Bob"]) == ()


async def test_an_edge_end_by_name_of_marks_only(home: Calls) -> None:
    """G13 It is looked for as any name."""
    await home.put_node("Ada")

    assert await near_edge(home, named("\u0301"), "KNOWS", "Ada") == []


async def test_a_name_of_nothing_but_diacritics_is_found_without(home: Calls) -> None:
    """G13 Unfolded, the two would have no letter in common."""
    await home.put_node("Čšžđ ťňř")

    assert await near_node(home, "Cszđ tnr") == ["Čšžđ ťňř"]
