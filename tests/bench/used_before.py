"""A store that is used while it is small, and grows then, as every store in the world does.

Neo4j plans a statement by what the store holds at that time, and keeps the plan for a while
(services/decisions/0006). A bench whose first question finds a full store would never see what
became of the plans that an empty one made.
"""

from itertools import pairwise

from concord.graph.v1 import graph_pb2
from concord.graph.v1.graph_pb2_grpc import GraphServiceStub
from concord.graph.v1.memory_pb2 import ListMemoriesRequest
from concord.graph.v1.memory_pb2_grpc import MemoryServiceStub
from concord.type.v1 import type_pb2
from concord_graph.bootstrap import GraphApp

from tests.bench.filling import requests
from tests.bench.servers import agent, served

SPACE = "earlier"


async def use(app: GraphApp) -> None:
    """Call everything once that is measured later, in another space."""
    async with served(app.registrations) as live:
        channel = live.serving.channel(agent(SPACE), cap=None)
        graph, memories = GraphServiceStub(channel), MemoryServiceStub(channel)
        ends = [type_pb2.EdgeEnd(name=name) for name in ("one", "two", "three")]
        for number, (source, target) in enumerate(pairwise(ends)):
            edge = type_pb2.Edge(source=source, relation="WROTE", target=target)
            await graph.UpsertEdge(
                graph_pb2.UpsertEdgeRequest(request_id=f"edge-{number}", edge=edge)
            )
        for depth in (1, 3):
            around = graph_pb2.QueryNeighborsRequest(start=ends[0], depth=depth, page_size=20)
            await graph.QueryNeighbors(around)
        path = graph_pb2.FindPathRequest(start=ends[0], end=ends[-1], max_depth=5)
        await graph.FindPath(path)
        batch = [type_pb2.Memory(content=f"A first word of ours {number}.") for number in range(2)]
        await memories.BatchAddMemories(requests("batch", batch))
        await memories.ListMemories(ListMemoriesRequest())
