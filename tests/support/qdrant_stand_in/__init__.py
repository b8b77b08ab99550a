"""What stands in for a Qdrant server in tests, where there is none: `QDRANT_URL` names a real one.

    python -m tests.support.qdrant_stand_in DIR PORT

It speaks the calls of Qdrant's gRPC contract that Concord makes, and answers UNIMPLEMENTED to every
other one and to every field that it does not know. The engine below them is the server's own
(qdrant-edge-py): what a query finds and how it is scored, filters, formulas, payload indexes and
the statistics of words are not imitated. What it acknowledged is there after a kill -9.

It is not a server. There are no cluster and no shards, replicas or consistency levels (a collection
says those that it was made with, and is one shard), no optimizer (no HNSW graph, and nothing that
was deleted gives its room back), no HTTP, and one call at a time. A figure measured on it is not a
server's, and after a power cut nothing is promised.
"""
