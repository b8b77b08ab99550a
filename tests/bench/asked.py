"""What is asked of a store of one size, and the bars that its answers have."""

from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from tests.bench.run import Run
from tests.bench.servers import Served
from tests.bench.sized_graph import Grown
from tests.bench.table import Bar
from tests.bench.timing import Lane

_GRAPH = "/concord.graph.v1.GraphService/"
TIMES_BARE = Bar(3.0)
TIMES_GROWN = Bar(2.0)


@dataclass(frozen=True)
class Asked:
    """What is asked of a store of one size."""

    run: Run
    live: Served
    store: Grown
    nodes: int

    @property
    def label(self) -> str:
        """The size."""
        return f"{self.nodes:,} / {self.nodes * 10:,}"

    def lane(self, method: str, requests: Sequence[Message], reply: type[Message]) -> Lane:
        """Calls of a method of graph."""
        return self.live.lane(f"{_GRAPH}{method}", requests, reply)
