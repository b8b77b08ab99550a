"""The tour's first part: a corpus, a search, and a result's history, lineage and neighbours."""

from concord.graph.v1 import graph_pb2, lineage_pb2
from concord.search.v1 import search_pb2
from concord.type.v1 import type_pb2
from google.protobuf.message import Message

from concord_client import corpus
from concord_client.cli.demo.stage import Stage, Step, demand
from concord_client.cli.render.page import plural, show, text
from concord_client.cli.render.search_page import show_results
from concord_client.cli.render.walk_page import show_neighbors

QUERY = "metadata for Python software packages"
CHAIN = ("pep-241", "pep-314", "pep-345", "pep-426", "pep-566")
"""Each of these proposals replaced the one before it; the last is in force."""
HEAD = CHAIN[-1]


def steps() -> list[Step]:
    """The steps, in order."""
    return [
        Step("import", "Remember a corpus: the index of Python Enhancement Proposals", _import),
        Step("search", f'Search: "{QUERY}"', _search),
        Step("history", "Its best match in history mode: what held before", _history),
        Step("lineage", f"Lineage: who replaced {CHAIN[0]}, and who replaced that", _lineage),
        Step("neighbors", f"Neighbors: what {HEAD} hangs together with", _neighbors),
    ]


def _import(stage: Stage) -> Message:
    from importlib.resources import as_file

    from concord_client.cli.render.progress import bar
    from concord_client.freshness import follow
    from concord_client.importers.jsonl import read_jsonl
    from concord_client.importers.upload import Upload

    upload = Upload()
    with as_file(corpus.peps()) as path:
        total = sum(1 for _ in read_jsonl(path))
        with bar("Remembering", total) as advance:
            for done in upload.send(stage.client.memory, read_jsonl(path)):
                advance(done)
    with bar("Indexing") as advance:
        for done, of in follow(stage.client, upload.token, since=0):
            advance(done, of)
    created = upload.counts()["created"]
    demand(created == total, f"all {total} facts of the corpus are new memories")
    demand(not upload.refusals, "no fact of the corpus is refused")
    if stage.shown:
        show(f"{plural(created, 'memory', 'memories')}, found by search from now on.")
    return upload.reply()


def _search(stage: Stage) -> Message:
    reply = stage.client.search.Search(search_pb2.SearchRequest(query=QUERY, page_size=3))
    found = [result.memory.id for result in reply.results]
    demand(HEAD in found[:1], f"{HEAD}, which is in force, comes first")
    demand(not set(CHAIN[:-1]) & set(found), "what was replaced does not come up")
    demand(bool(reply.stac_lines), "the reply says why it surfaced")
    demand(all(r.explanation.signals for r in reply.results), "each result says why")
    if stage.shown:
        show_results(reply)
        show(text(f"{HEAD} answers; the {len(CHAIN) - 1} before it do not come up.", "green"))
    return reply


def _history(stage: Stage) -> Message:
    reply = stage.client.search.Search(
        search_pb2.SearchRequest(
            query=QUERY,
            page_size=1,  # the best match, with the whole of its chain
            superseded=search_pb2.SUPERSEDED_MODE_HISTORY,
        )
    )
    chain = [result.memory.id for result in reply.results]
    demand(chain == list(CHAIN), "history mode returns the one whole chain, oldest first")
    if stage.shown:
        show_results(reply)
    return reply


def _lineage(stage: Stage) -> Message:
    from concord_client.cli.render.lineage_page import timeline

    reply = stage.client.lineage.GetLineage(lineage_pb2.GetLineageRequest(id=CHAIN[0]))
    ids = [item.id for item in reply.items]
    demand([each for each in ids if each in CHAIN] == list(CHAIN), "lineage shows the whole chain")
    heads = [item.id for item in reply.items if item.is_head]
    demand(heads == [HEAD], f"{HEAD} is its only head")
    if stage.shown:
        show(*timeline(reply, CHAIN[0]))
    return reply


def _neighbors(stage: Stage) -> Message:
    reply = stage.client.graph.QueryNeighbors(
        graph_pb2.QueryNeighborsRequest(start=type_pb2.EdgeEnd(id=HEAD), depth=2, page_size=8)
    )
    near = {each.neighbor.id for each in reply.neighbors}
    demand(CHAIN[-2] in near, f"{CHAIN[-2]}, which it replaced, is next to it")
    if stage.shown:
        show_neighbors(reply)
    return reply
