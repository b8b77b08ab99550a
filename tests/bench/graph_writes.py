"""Graph's writes as it grows: edge by edge, and in batches."""

import time
from itertools import islice

from concord.graph.v1 import graph_pb2
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.type.v1 import type_pb2

from tests.bench import empty_rpc, sentences, sized_graph
from tests.bench.bare_sqlite import said
from tests.bench.filling import requests
from tests.bench.servers import agent
from tests.bench.sized_graph import TIMES_BARE, Asked, node_name
from tests.bench.table import Row
from tests.bench.timing import NONE, Lane, timed

BATCH = 200
"""How many memories a batch has; the CLI's importers send as many."""


async def writes(asked: Asked) -> Row:
    """Edges one by one."""
    total = 25 * (asked.run.rounds + 5) * 2
    requests = [
        graph_pb2.UpsertEdgeRequest(
            request_id=f"write-{number}",
            edge=type_pb2.Edge(
                source=type_pb2.EdgeEnd(name=node_name(number)),
                relation="WROTE",
                target=type_pb2.EdgeEnd(name=node_name(number + 1)),
            ),
        )
        for number in range(total)
    ]
    lane = asked.lane("UpsertEdge", requests, graph_pb2.UpsertEdgeResponse)
    by_hand, calls = asked.store.bare.write, 20
    found, bare, empty = NONE, NONE, NONE
    for turn in range(asked.run.rounds):
        fresh = Lane(
            lane.address, lane.metadata, lane.method, lane.requests[turn * 25 :], lane.reply
        )
        some = await asked.run.caller.alternate(
            [fresh, asked.live.empty_lane()], rounds=1, calls=calls, warm_up=2
        )
        found, empty = found + some[0], empty + some[1]
        bare += await timed(by_hand, range(turn * calls, (turn + 1) * calls))
    seconds = sum(bare.ms) + (0 if sized_graph.is_neo4j() else sum(empty.ms))
    figure, floor = len(found.ms) * 1000 / sum(found.ms), len(bare.ms) * 1000 / seconds
    return Row(
        f"edges written one by one, {asked.label}",
        "per s",
        (figure,),
        floor=(floor,),
        floor_is=f"{asked.store.bare.is_called}: edge, change and receipt in a transaction each;"
        " ratio of times",
        ratio=floor / figure,
        bar=TIMES_BARE,
    )


async def imports(asked: Asked) -> Row:
    """Memories in batches."""
    texts = sentences.endless(seed=6)
    channel = asked.live.serving.channel(agent(), cap=None)
    stub = MemoryServiceStub(channel)
    found = bare = 0.0
    rounds = asked.run.rounds * 2
    for turn in range(rounds + 1):
        batch = [type_pb2.Memory(content=text) for text in islice(texts, BATCH)]
        by_hand = list(islice(texts, BATCH))
        began = time.perf_counter()
        reply = await stub.BatchAddMemories(requests(f"import-{turn}", batch))
        between = time.perf_counter()
        if not sized_graph.is_neo4j():
            await empty_rpc.stream(channel, by_hand)
        await asked.store.bare.add([said(text) for text in by_hand])
        ended = time.perf_counter()
        if reply.errors or len(reply.results) != BATCH:
            raise ValueError(f"{len(reply.results)} of {BATCH} memories were imported")
        if turn:  # the first only warms
            found, bare = found + between - began, bare + ended - between
    total = rounds * BATCH
    return Row(
        f"memories imported in batches of {BATCH}, {asked.label}",
        "per s",
        (total / found,),
        floor=(total / bare,),
        floor_is=f"{asked.store.bare.is_called}: in a transaction what is there already is looked"
        " for by text, and memories, changes and a receipt are written; the same words taken from"
        " the texts; ratio of times",
        ratio=found / bare,
        bar=TIMES_BARE,
        note="the index beside it is another bench: ingest",
    )
