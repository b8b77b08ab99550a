"""Copies a Neo4j database with its spaces as of one instant, and restores a database from a copy.

A copy holds nodes and relationships with all their data, as compressed JSON Lines: it needs neither
tools nor files of Neo4j, and any version reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import neo4j
from neo4j import AsyncDriver, AsyncTransaction

from concord_stores.neo4j_config import CopyDamaged, ServerUnusable
from concord_stores.neo4j_server import RESERVED, RESTORING, translated

FETCHED = 5_000
"""Rows that are fetched, or written, at once."""
_HOLD = "MATCH (s:{label}) WITH s ORDER BY s.space SET s.copied = true RETURN s.space"
_SPACES = "MATCH (s:{label}) RETURN s.space"
_NODES = (
    "MATCH (n) WITH n, labels(n) AS labels"
    f" WITH n, labels, any(l IN labels WHERE l STARTS WITH '{RESERVED}') AS reserved"
    " WHERE n:Store OR any(l IN labels WHERE l IN $shared)"
    " OR n.space IN CASE WHEN reserved THEN $reserved ELSE $spaces END"
    " RETURN id(n), labels, properties(n)"
)
_RELATIONSHIPS = "MATCH (a)-[r]->(b) RETURN id(a), type(r), id(b), properties(r)"


class Writers(NamedTuple):
    """The labels of graph's spaces, of the nodes of which each of graph's commits locks one
    (`gate`), of those that the other services' writers of a space lock (`reserved`); and the
    reserved labels of nodes that belong to no space."""

    graph: str
    gate: str
    reserved: str
    shared: tuple[str, ...]


class Node(NamedTuple):
    """A node. `id` counts in its copy alone."""

    id: int
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


class Relationship(NamedTuple):
    """A relationship between two nodes of the copy."""

    source: int
    type: str
    target: int
    properties: Mapping[str, Any]


class Rows:
    """The properties of a database's nodes by label, for the labels of one service."""

    def __init__(self, stamp: str, labels: Iterable[str]) -> None:
        """`stamp`: the key of the service's stamp."""
        self._stamp = stamp
        self._rows: dict[str, list[Mapping[str, Any]]] = {name: [] for name in ("Store", *labels)}

    def take(self, labels: Iterable[str], properties: Mapping[str, Any]) -> None:
        """Keep a node if it has one of the labels."""
        for label in self._rows.keys() & labels:
            self._rows[label].append(properties)

    def of(self, label: str) -> Sequence[Mapping[str, Any]]:
        """Return the properties of each node that was kept for a label."""
        return self._rows[label]

    def stamp(self) -> Mapping[str, Any]:
        """Return the service's stamp. Raises `CopyDamaged` if there is none."""
        for row in self._rows["Store"]:
            if row["key"] == self._stamp:
                return row
        raise CopyDamaged(f"no node {self._stamp!r} stamps the copy as Concord's")


async def write(driver: AsyncDriver, file: Path, writers: Writers) -> None:
    """Copy the database to a new file while every writer of a space waits; readers do not.

    The transaction that holds the writers changes nothing: it is rolled back.

    Raises:
        ServerFailure: the server does not answer, or is too busy.
    """
    with translated():
        async with driver.session(fetch_size=FETCHED) as session:
            transaction = await session.begin_transaction()
            try:
                spaces, reserved = await _held(transaction, writers)
                given = {
                    "spaces": spaces,
                    "reserved": reserved,
                    "shared": [writers.gate, *writers.shared],
                }
                await _write(transaction, file, given)
            finally:
                await transaction.rollback()


async def _held(transaction: AsyncTransaction, writers: Writers) -> tuple[list[str], list[str]]:
    """Lock out the writers of all spaces; return the names of the spaces. Graph's side first:
    what it applies was decided before, by governance."""
    found = []
    for text, label in (
        *((_HOLD, writers.gate), (_SPACES, writers.graph)),
        (_HOLD, writers.reserved),
    ):
        result = await transaction.run(text.format(label=label))
        found.append([row[0] for row in await result.values()])
    return found[1], found[2]


async def _write(transaction: AsyncTransaction, file: Path, given: dict[str, Any]) -> None:
    ids, relationships = set(), 0
    with gzip.open(file, "wt", encoding="utf-8", compresslevel=1) as lines:
        async for id_, labels, properties in await transaction.run(_NODES, given):
            properties.pop("copied", None)
            ids.add(id_)
            lines.write(_line("node", [id_, labels, _plain(properties)]))
        async for source, type_, target, properties in await transaction.run(_RELATIONSHIPS):
            if source in ids and target in ids:
                relationships += 1
                lines.write(_line("rel", [source, type_, target, _plain(properties)]))
        lines.write(_line("end", [len(ids), relationships]))


def _line(kind: str, fields: list[Any]) -> str:
    return f"{json.dumps([kind, *fields])}\n"


def _plain(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {"b64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for key, value in properties.items()
    }


def read(file: Path) -> Iterator[Node | Relationship]:
    """Yield the nodes of a copy, then its relationships.

    Raises:
        CopyDamaged: the file is cut off, or no copy.
    """
    counts = [0, 0]
    end: list[int] = []
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                kind, *fields = json.loads(line)
                if kind == "end":
                    end = fields
                elif kind == "node":
                    counts[0] += 1
                    yield Node(fields[0], tuple(fields[1]), _properties(fields[2]))
                else:
                    counts[1] += 1
                    source, type_, target, properties = fields
                    yield Relationship(source, type_, target, _properties(properties))
    except (OSError, EOFError, ValueError, LookupError, TypeError) as error:
        raise CopyDamaged(f"{file} is no whole copy ({type(error).__name__})") from error
    if end != counts:
        raise CopyDamaged(f"{file} is cut off")


def _properties(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: base64.b64decode(value["b64"]) if isinstance(value, dict) else value
        for key, value in plain.items()
    }


async def labelled(driver: AsyncDriver, label: str) -> list[Mapping[str, Any]]:
    """Return the properties of the nodes with a label.

    Raises:
        ServerFailure: the server does not answer, or is too busy.
    """
    with translated():
        async with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
            found = await session.run(f"MATCH (n:{_quoted(label)}) RETURN properties(n)")
            return [row[0] for row in await found.values()]


async def demand_unused(driver: AsyncDriver) -> None:
    """Demand that nobody else is connected, who could write into the database being replaced.

    `driver` has just been opened, and has one connection.

    Raises:
        ServerUnusable: there is another connection.
    """
    with translated():
        async with driver.session() as session:
            found = await session.run(
                "CALL dbms.listConnections() YIELD connector, clientAddress"
                " WHERE connector = 'bolt' RETURN clientAddress"
            )
            connected = [row[0] for row in await found.values()]
    if len(connected) > 1:  # more than this one
        who = ", ".join(sorted(connected))
        raise ServerUnusable(
            f"others are connected to the Neo4j ({who}, one is this command): stop every service of"
            " Concord first"
        )


@asynccontextmanager
async def replacing(driver: AsyncDriver, file: Path) -> AsyncIterator[None]:
    """Replace the database's content by a copy; the database serves nobody until the block has
    ended without error. Stamps are not copied: `neo4j_server.prepare` makes new ones.

    Raises:
        CopyDamaged, ServerFailure.
    """
    with translated():
        await _run(driver, "MERGE (s:Store {key: $key})", key=RESTORING)
        await _run(
            driver,
            "MATCH (n) WHERE coalesce(n.key, '') <> $key OR NOT n:Store"
            " CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS",
            key=RESTORING,
        )
        await _load(driver, file)
    yield
    with translated():
        await _run(driver, "MATCH (s:Store {key: $key}) DELETE s", key=RESTORING)


async def _load(driver: AsyncDriver, file: Path) -> None:
    ids: dict[int, int] = {}
    nodes: list[Node] = []
    relationships: list[Relationship] = []
    for each in read(file):
        if isinstance(each, Relationship):
            relationships.append(each)
        elif "Store" not in each.labels:
            nodes.append(each)
        if len(nodes) == FETCHED or (nodes and relationships):
            await _create(driver, nodes, ids)
            nodes = []
        if len(relationships) == FETCHED:
            await _relate(driver, relationships, ids)
            relationships = []
    await _create(driver, nodes, ids)
    await _relate(driver, relationships, ids)


async def _create(driver: AsyncDriver, nodes: Sequence[Node], ids: dict[int, int]) -> None:
    for labels in sorted({each.labels for each in nodes}):
        named = "".join(f":{_quoted(label)}" for label in labels)
        rows = [[each.id, dict(each.properties)] for each in nodes if each.labels == labels]
        found = await _run(
            driver,
            f"UNWIND $rows AS row CREATE (n{named}) SET n = row[1] RETURN row[0], id(n)",
            rows=rows,
        )
        ids.update((old, new) for old, new in found)


async def _relate(
    driver: AsyncDriver, relationships: Iterable[Relationship], ids: Mapping[int, int]
) -> None:
    by_type: dict[str, list[list[Any]]] = {}
    for each in relationships:
        row = [ids[each.source], ids[each.target], dict(each.properties)]
        by_type.setdefault(each.type, []).append(row)
    for type_, rows in by_type.items():
        await _run(
            driver,
            "UNWIND $rows AS row MATCH (a) WHERE id(a) = row[0] MATCH (b) WHERE id(b) = row[1]"
            f" CREATE (a)-[r:{_quoted(type_)}]->(b) SET r = row[2]",
            rows=rows,
        )


async def _run(driver: AsyncDriver, text: str, **bound: Any) -> list[list[Any]]:
    async with driver.session() as session:
        return await (await session.run(text, bound)).values()


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
