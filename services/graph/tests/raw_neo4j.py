"""Writing past graph into its Neo4j database. The `path` is only SQLite's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import neo4j_at_hand
import pytest
from concord_graph.adapters.neo4j import flush

_AS_EDGE = "CREATE (x:Item:EdgeVersion:Edge)"


def grow_hub(path: Path, name: str, count: int) -> None:  # noqa: ARG001 - see above
    """Give the node of a name `count` more edges, to nowhere in particular."""
    neo4j_at_hand.run(
        "MATCH (h:Entity {name: $name}) UNWIND range(1, $count) AS i CALL (h, i) {"
        f" {_AS_EDGE} SET x = {{space: h.space, id: 'hub-' + i, kind: 2, revision: 1, seq: h.seq,"
        " record_from: h.record_from, record_until: h.record_until, deleted: false,"
        " principal: 'p', salt: h.salt, create_time: h.create_time, source_id: h.id,"
        " source_kind: 1, relation: 'R', target_id: 'leaf-' + i, target_kind: 1, weight: 0.5,"
        " properties: '{}', stated: [], participants: [], edge_type: 1, importance: 0,"
        " effective_from: h.create_time, origin: 1, governed: false,"
        " erase_time: 0}"
        " } IN TRANSACTIONS OF 5000 ROWS",
        name=name,
        count=count,
    )


def join(path: Path, pairs: Sequence[tuple[str, str]], *, like: str) -> None:  # noqa: ARG001
    """Join pairs of nodes by edges like the one of an id."""
    neo4j_at_hand.run(
        "MATCH (e:Edge {id: $like}) UNWIND range(0, size($pairs) - 1) AS i"
        f" {_AS_EDGE} SET x = e {{.*, weight: 0.5, id: 'joined-' + i, source_id: $pairs[i][0],"
        " target_id: $pairs[i][1]}",
        like=like,
        pairs=[list(pair) for pair in pairs],
    )


def pile_up_history(path: Path, edge_id: str, count: int) -> None:  # noqa: ARG001
    """Give an edge `count` more revisions, long closed."""
    neo4j_at_hand.run(
        "MATCH (e:Edge {id: $id}) UNWIND range(2, $count + 1) AS i CALL (e, i) {"
        " CREATE (x:EdgeVersion) SET x = e {.*, revision: i, record_until: e.record_from}"
        " } IN TRANSACTIONS OF 5000 ROWS",
        id=edge_id,
        count=count,
    )


def records(path: Path) -> str:  # noqa: ARG001
    """Return all that the outbox and the receipts hold."""
    found = neo4j_at_hand.run("MATCH (r:Change|Request) RETURN properties(r)")
    return "\n".join(repr(row) for row in found)


@contextmanager
def blocked(path: Path) -> Iterator[None]:  # noqa: ARG001
    """Keep everybody else from writing: spaces are locked, and the access data of every item."""
    with neo4j_at_hand.driver().session() as session, session.begin_transaction() as holder:
        holder.run("MATCH (s:Space) SET s.holder = 'a test'").consume()
        holder.run(
            "MATCH (i:Item) MERGE (a:Access {space: i.space, id: i.id}) SET a.holder = 'a test'"
        ).consume()
        yield
        holder.rollback()


@contextmanager
def unprotected(path: Path) -> Iterator[None]:  # noqa: ARG001
    """Take the store's own protection away: the tests of the statement that writes."""
    with pytest.MonkeyPatch.context() as patched:
        unguarded = flush.FLUSH
        for test in ("NOT $granted AND (", "$granted AND NOT $principals AND ("):
            assert test in unguarded
            unguarded = unguarded.replace(test, "false AND (")
        patched.setattr(flush, "FLUSH", unguarded)
        yield
