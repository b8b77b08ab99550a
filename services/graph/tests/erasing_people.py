"""Two people in a space, and looks at and erasures of one of them, as tests ask for them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import neo4j_at_hand
from concord.graph.v1 import episode_pb2, erasure_pb2
from concord.type.v1 import type_pb2
from graph_world import Calls, struct

ZORBLAX, BOB = "Zorblax Quuxly", "Bob Kerfuffle"
WORDS = ("Zorblax", "Quuxly", "Plingtown", "Hobnobs", "Snarfled", "Wibbles", "Frobnitz")
OTHERS = ("Kerfuffle", "Bumfuzzle", "Lollygag")


def of_subject(name: str, *also: str) -> erasure_pb2.Selection:
    """Select a subject."""
    return erasure_pb2.Selection(subject=name, also=also)


async def look(
    home: Calls, selection: erasure_pb2.Selection, **options: bool
) -> erasure_pb2.PreviewErasureResponse:
    """Look at what an erasure would take."""
    request = erasure_pb2.PreviewErasureRequest(
        selection=selection, options=erasure_pb2.ErasureOptions(**options)
    )
    return await home.erasure.PreviewErasure(request)


def ids(seen: erasure_pb2.PreviewErasureResponse, part: str) -> set[str]:
    """Return the ids that are erased for a reason."""
    number = erasure_pb2.SelectedPart.Value(f"SELECTED_PART_{part}")
    return {each.id for each in seen.items if each.part == number and not each.kept}


def kept(seen: erasure_pb2.PreviewErasureResponse, why: str) -> set[str]:
    """Return the ids that stay for a reason."""
    number = erasure_pb2.KeptReason.Value(f"KEPT_REASON_{why}")
    return {each.id for each in seen.items if each.kept == number}


async def erase(home: Calls, selection: erasure_pb2.Selection, **options: bool) -> dict[str, Any]:
    """Look, erase what was looked at, and return the receipt."""
    seen = await look(home, selection, **options)
    return await erase_looked_at(home, selection, seen.digest, **options)


async def erase_looked_at(
    home: Calls, selection: erasure_pb2.Selection, digest: str, **options: bool
) -> dict[str, Any]:
    """Erase what the digest names, in as many calls as it takes; return the receipt."""
    request = erasure_pb2.EraseSelectionRequest(
        selection=selection,
        options=erasure_pb2.ErasureOptions(**options),
        digest=digest,
        reason="asked for",
    )
    done = await home.erasure.EraseSelection(request)
    while not done.complete:
        done = await home.erasure.EraseSelection(request)
    asked = erasure_pb2.GetSelectionReceiptRequest(erase_id=done.erase_id)
    found = await home.erasure.GetSelectionReceipt(asked)
    receipt: dict[str, Any] = json.loads(found.receipt)
    return receipt


def found(folder: Path, words: Iterable[str]) -> set[str]:
    """Return the words that stand in a file of a folder, or in any row of a Neo4j, in any case."""
    if neo4j_at_hand.is_chosen():
        rows = neo4j_at_hand.run("MATCH (n) RETURN labels(n), properties(n)")
        contents = [repr(rows).lower().encode()]
    else:
        contents = [path.read_bytes().lower() for path in folder.iterdir()]
    return {word for word in words for each in contents if word.lower().encode() in each}


def says(speaker: str) -> list[type_pb2.Source]:
    """Name who said it."""
    return [type_pb2.Source(speaker=speaker)]


def states(subject: str, relation: str, object_: str) -> list[type_pb2.Fact]:
    """State one fact."""
    return [type_pb2.Fact(subject=subject, relation=relation, object=object_)]


async def episode(home: Calls, query: str, **fields: str) -> str:
    """Store an episode; return its id."""
    request = episode_pb2.AddEpisodeRequest(
        request_id=home.request_id(),
        query=query,
        reward=0.5,
        reflection="Frobnitz went well.",
        session_id=fields.get("session_id", ""),
    )
    return (await home.episode.AddEpisode(request)).episode.id


async def people(home: Calls) -> dict[str, str]:
    """Say things by and about two people, and return the ids by what they are."""
    node = await home.put_node(ZORBLAX, properties=struct({"town": "Plingtown"}))
    said = await home.add("I live in Plingtown.", sources=says("zorblax  quuxly"))
    fact = await home.add(
        "She works at the Hobnobs.", facts=states(ZORBLAX, "WORKS_AT", "Hobnobs"), sources=says(BOB)
    )
    shared = await home.add("Bob and she met.", facts=states(BOB, "KNOWS", ZORBLAX))
    mention = await home.add("The cake of Zorblax Quuxly was Snarfled.")
    both = await home.add("Zorblax Quuxly and Bob Kerfuffle sing.")
    other = await home.add("I like Bumfuzzle.", sources=says(BOB))
    alike = await home.add("Zorblaxa Quxlyne is not her.")
    edge = await home.put_edge(ZORBLAX, "OWNS", "Wibbles")
    summary = await home.add(
        "A summary: she lives there.", sources=[type_pb2.Source(memory_ids=[said.id])]
    )
    return {
        "node": node.id,
        "edge": edge.id,
        "thing": edge.target.id,
        "said": said.id,
        "fact": fact.id,
        "shared": shared.id,
        "mention": mention.id,
        "both": both.id,
        "other": other.id,
        "alike": alike.id,
        "summary": summary.id,
        "episode": await episode(home, "Where is Zorblax Quuxly?"),
        "note": (await home.hold("Ask Zorblax Quuxly.")).entry.id,
    }
