"""After an erasure's receipt is complete, no file of the data directory holds a word of it."""

import re
import time
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from concord.graph.v1 import graph_pb2, lineage_pb2, memory_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from concord_client import Client
from concord_client.importers.outcome import Draft
from concord_client.importers.upload import Upload
from concord_testing.up_process import spawned
from google.protobuf.field_mask_pb2 import FieldMask

COMPLETE_WITHIN = 100.0
DOOMED = (
    *("Zorblax", "Plingtöwn", "Quuxly", "Hobnob", "Snarfle", "Wibblesworth", "Frobnitz"),
    *("Mumblecrust", "Flimflamish", "Gribbly", "Skedaddled", "Whatsitdom", "ext-77-Klonk"),
    *(
        "Zibbleton",
        "GROMBULATES",
        "Frimsby",
        "Thwockle",
        "Doodlewhack",
    ),  # of facts, and former ones
    *("Yarbleton", "Grumphish"),
)
EMPTY, EMPTY_SPACE = re.compile(b"\0{64,}"), b"\0" * 64
"""Files that are made long in advance hold hundreds of megabytes of nothing."""
CONTROL = ("Kerfuffle", "Bumfuzzle", "Lollygag")


def forms(word: str) -> set[bytes]:
    """The ways in which a word may be written down."""
    cased = {word, word.lower(), word.upper(), word.casefold(), word.capitalize()}
    return {
        unicodedata.normalize(form, each).encode(coding)
        for each in cased
        for form in ("NFC", "NFD")
        for coding in ("utf-8", "utf-16-le")
    }


def found(data: Path, words: Iterable[str]) -> set[tuple[str, str]]:
    """Where words stand below a directory, in any form: (word, file)."""
    wanted = {word: forms(word) for word in words}
    places = set()
    for path in data.rglob("*"):
        if path.is_file():
            content = EMPTY.sub(EMPTY_SPACE, path.read_bytes())
            places |= {
                (word, str(path.relative_to(data)))
                for word, ways in wanted.items()
                if any(way in content for way in ways)
            }
    return places


def remember(client: Client) -> None:
    """Tells of things in rare words, in every way there is: some to be erased, some to be kept."""
    others = (type_pb2.Memory(id=f"n-{at}", content=f"Note {at}.") for at in range(40))
    for _ in Upload().send(client.memory, [Draft(each, "n", 1) for each in others]):
        pass
    memory = type_pb2.Memory(
        content="Zorblax lives in Plingtöwn. See [[memory:gribbly-place|Gribbly]].",
        id="doomed",
        concepts=["Quuxly"],
        tags=["Hobnob"],
        domain="whatsitdom.frobnitz",
        category="Snarfle",
        surfaces_when=["*/mumblecrust/*"],
        external_id="ext-77-Klonk",
        sources=[type_pb2.Source(speaker="Wibblesworth", file="flimflamish.txt")],
        facts=[
            type_pb2.Fact(subject="Zibbleton", relation="GROMBULATES", object="Frimsby"),
            type_pb2.Fact(subject="Lollygag", relation="SHARES", object="Zibbleton"),
        ],
    )
    memory.facts[1].properties.update({"Thwockle": "Doodlewhack"})
    memory.properties.update({"Yarbleton": ["Grumphish"]})
    control = type_pb2.Memory(id="kept", content="Kerfuffle stays.", tags=["Bumfuzzle"])
    control.facts.add(subject="Lollygag", relation="SHARES", object="Kerfuffle")
    for each in (memory, control):
        client.memory.AddMemory(memory_pb2.AddMemoryRequest(memory=each))
    for content in ("Zorblax left Plingtöwn.", "Zorblax is back. Skedaddled again."):
        stored = read(client, "doomed")
        stored.content = content
        del stored.facts[1:]
        client.memory.UpdateMemory(
            memory_pb2.UpdateMemoryRequest(
                memory=stored, update_mask=FieldMask(paths=["content", "facts"])
            )
        )


def relate(client: Client) -> str:
    """Links the memory to others and asks for it; returns a token that has seen it all."""
    edge = type_pb2.Edge(
        source=type_pb2.EdgeEnd(name="Lollygag"),
        relation="SKEDADDLED",
        target=type_pb2.EdgeEnd(id="doomed"),
    )
    edge.properties.update({"why": "Gribbly", "participants": ["Wibblesworth"]})
    client.graph.UpsertEdge(graph_pb2.UpsertEdgeRequest(edge=edge))
    token = client.lineage.AddLineage(
        lineage_pb2.AddLineageRequest(
            relation=type_pb2.LINEAGE_RELATION_AMENDS,
            newer_id="doomed",
            older_id="kept",
            context="Flimflamish says so",
        )
    ).token
    for query in ("where does Zorblax live", "Quuxly in Plingtöwn"):
        request = search_pb2.SearchRequest(
            query=query, consistency=type_pb2.Consistency(at_least_as_fresh=token)
        )
        assert "doomed" in {r.memory.id for r in client.search.Search(request).results}
    forget = memory_pb2.ForgetMemoryRequest(id="doomed", etag=read(client, "doomed").etag)
    client.memory.ForgetMemory(forget)
    restore = memory_pb2.RestoreMemoryRequest(id="doomed", etag=read(client, "doomed").etag)
    return client.memory.RestoreMemory(restore).token


def read(client: Client, memory_id: str) -> type_pb2.Memory:
    """Reads a memory."""
    return client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=memory_id)).memory


def erase(client: Client) -> None:
    """Erases the memory."""
    etag = read(client, "doomed").etag
    client.memory.EraseMemory(memory_pb2.EraseMemoryRequest(id="doomed", etag=etag, reason="asked"))


def completed(client: Client) -> memory_pb2.EraseReceipt:
    """The receipt, once it is complete."""
    until = time.monotonic() + COMPLETE_WITHIN
    while True:
        request = memory_pb2.GetEraseReceiptRequest(memory_id="doomed")
        receipt = client.memory.GetEraseReceipt(request).receipt
        if receipt.HasField("complete_time"):
            return receipt
        assert time.monotonic() < until, f"the receipt is not complete: {receipt}"
        time.sleep(0.05)


def nothing_is_left(data: Path) -> None:
    """Fails when a file holds a word of what was erased, or none of what was kept."""
    assert found(data, DOOMED) == set()
    assert {word for word, _ in found(data, CONTROL)} == set(CONTROL)


def test_no_byte_of_what_was_erased_is_left(tmp_path: Path) -> None:
    """M4 Must hold: while the system runs, after it has stopped, and after a start from there."""
    data = tmp_path / "data"
    with spawned(data) as system, system.client() as client:
        remember(client)
        relate(client)
        assert {word for word, _ in found(data, DOOMED)} == set(DOOMED), "the search finds words"

        erase(client)
        receipt = completed(client)
        nothing_is_left(data)
        assert [each.confirmer for each in receipt.confirmations] == [
            *("graph", "search", "governance")
        ]
        left = client.memory.GetMemory(memory_pb2.GetMemoryRequest(id="doomed"))
        assert left.status == type_pb2.LOOKUP_STATUS_ERASED
        request = search_pb2.SearchRequest(query="where does Zorblax live")
        assert "doomed" not in {r.memory.id for r in client.search.Search(request).results}
        assert system.stop() == 0
    nothing_is_left(data)

    with spawned(data) as system, system.client() as client:
        assert completed(client).complete_time == receipt.complete_time
        assert read(client, "kept").content == "Kerfuffle stays."
        assert system.stop() == 0
    nothing_is_left(data)


def test_nothing_is_left_after_a_kill(tmp_path: Path) -> None:
    """M4 Must hold: killed right after the receipt was complete, nothing comes back."""
    data = tmp_path / "data"
    with spawned(data) as system, system.client() as client:
        remember(client)
        relate(client)
        erase(client)
        completed(client)
        system.kill()
    nothing_is_left(data)


def test_an_erasure_that_a_kill_interrupted_is_completed(tmp_path: Path) -> None:
    """M4 Must hold: killed before the receipt was complete, the next start completes it."""
    data = tmp_path / "data"
    with spawned(data) as system, system.client() as client:
        remember(client)
        relate(client)
        erase(client)
        system.kill()

    with spawned(data) as system, system.client() as client:
        completed(client)
        nothing_is_left(data)
        assert system.stop() == 0
    nothing_is_left(data)
