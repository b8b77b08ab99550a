"""A Neo4j that cannot be used says in a sentence what to do, and nothing more to a client."""

import asyncio
import io
import json
import random
from pathlib import Path

import neo4j_at_hand
import pytest
from concord_chassis.config import ConfigError
from concord_chassis.observe.log import json_lines
from concord_graph.adapters.neo4j import schema
from concord_graph.adapters.neo4j.store import Neo4jStore, open_store
from concord_graph.bootstrap import opened
from concord_graph.config import read_store
from concord_graph.domain.errors import StoreUnusable
from concord_graph.usecases.write import settled_anew
from concord_stores.neo4j_config import Neo4jConfig
from graph_world import Clock, World, opened_store, refused, world
from pydantic import SecretStr
from random_history import enrolled, write_in_row

_STANDINGS = (
    "MATCH (c:Change) WITH DISTINCT c.record_time AS time MATCH (t:StandingVersion)"
    " WHERE t.record_from <= time AND t.record_until > time"
    " RETURN time, t {.*, record_from: 0, record_until: 0} ORDER BY time, t.id"
)
"""How items stood after each change."""


async def unusable(uri: str = "", user: str = "", password: str = "") -> str:
    """Return what opening says."""
    given = neo4j_at_hand.of(Path("start"))
    with pytest.raises(StoreUnusable) as caught:
        await open_store(
            Neo4jConfig(
                uri=uri or given.uri,
                user=user or given.user,
                password=SecretStr(password) if password else given.password,
            ),
            Clock(),
            busy_seconds=2,
        )
    return str(caught.value)


async def test_a_wrong_password() -> None:
    """Must hold: whose, and which settings name them; the password is not told."""
    text = await unusable(password="not the password")

    assert "refuses the user 'neo4j': set NEO4J_USER and NEO4J_PASSWORD" in text
    assert "not the password" not in text


async def test_a_server_that_is_not_there() -> None:
    """Must hold: where it was looked for, and how to start one."""
    text = await unusable(uri="bolt://127.0.0.1:1")

    assert "does not answer at bolt://127.0.0.1:1" in text
    assert "make neo4j-up" in text


@pytest.mark.parametrize("uri", ["localhost:7687", "http://localhost", "bolt://localhost:port"])
async def test_an_address_that_is_none(uri: str) -> None:
    """Must hold: what one looks like."""
    assert "looks like bolt://127.0.0.1:7687" in await unusable(uri=uri)


async def test_another_programs_database() -> None:
    """Must hold: it is left as it is."""
    neo4j_at_hand.of(Path("other program"))
    neo4j_at_hand.run("MATCH (s:Store) DELETE s")
    neo4j_at_hand.run("CREATE (:Song {title: 'x'})")
    given = neo4j_at_hand.of(Path("other program"))
    with pytest.raises(StoreUnusable, match="another program's nodes: give Concord one of its own"):
        await open_store(given, Clock())

    assert neo4j_at_hand.run("MATCH (n) RETURN labels(n), n.title") == [[["Song"], "x"]]
    neo4j_at_hand.of(Path("start"))


async def test_a_newer_schema(tmp_path: Path) -> None:
    """G16 Which one it has, which one this program knows."""
    store = await opened_store(tmp_path / "newer.db", Clock())
    await store.close()
    neo4j_at_hand.run("MATCH (s:Store) SET s.schema = 99")
    given = neo4j_at_hand.of(tmp_path / "newer.db")
    with pytest.raises(StoreUnusable) as caught:
        await open_store(given, Clock())

    assert f"has schema 99, this program knows {schema.VERSION}" in str(caught.value)
    assert "run the version of Concord that wrote it" in str(caught.value)


async def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    """G16 Constraints, indexes and the epoch stay; two processes may open at once."""
    first = await opened_store(tmp_path / "again.db", Clock())
    before = neo4j_at_hand.run("SHOW INDEXES YIELD name RETURN name ORDER BY name")
    second = await opened_store(tmp_path / "again.db", Clock())

    assert isinstance(first, Neo4jStore)
    assert first.epoch == second.epoch
    assert neo4j_at_hand.run("SHOW INDEXES YIELD name RETURN name ORDER BY name") == before
    assert await second.ready()
    await first.close()
    await second.close()


async def test_an_older_schema_is_refused(tmp_path: Path) -> None:
    """G16 Nothing is changed in it; the sentence names the commit that converts it."""
    await (await opened_store(tmp_path / "older.db", Clock())).close()
    neo4j_at_hand.run("MATCH (s:Store) SET s.schema = 14")
    with pytest.raises(StoreUnusable) as caught:
        await open_store(neo4j_at_hand.of(tmp_path / "older.db"), Clock())

    assert f"has schema 14, this program knows {schema.VERSION}" in str(caught.value)
    assert "or commit 85b147cc" in str(caught.value)
    assert neo4j_at_hand.run("MATCH (s:Store) RETURN s.schema") == [[14]]


@pytest.mark.parametrize("copied", [False, True])
async def test_the_schema_before_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    """G16 T2 By two processes at once: it takes the number that an older writer refuses, and says
    what the writes said. So does a backup of that schema, which comes without its number."""
    path, draw = tmp_path / "before.db", random.Random(3)
    async with world(path) as live:
        space = await enrolled(live, "home")
        for _ in range(40):
            await write_in_row(space, draw)
    known = neo4j_at_hand.run(_STANDINGS)
    was = "s.key = 'concord-restoring'" if copied else "s.schema = 15"
    neo4j_at_hand.run(f"MATCH (s:Store) SET {was}")
    neo4j_at_hand.run("MATCH (s:Space) REMOVE s.unsettled")
    neo4j_at_hand.run("MATCH (s:StandingVersion) DELETE s")
    monkeypatch.setattr(settled_anew, "_A_PAGE", 7)

    log = io.StringIO()
    given = neo4j_at_hand.of(path)
    lines = json_lines("graph", stream=log)
    opening = (opened(given, Clock(), restoring=copied, log=lines) for _ in range(2))
    stores = await asyncio.gather(*opening)

    assert neo4j_at_hand.run("MATCH (s:Store {key: 'concord'}) RETURN s.schema") == [
        [schema.VERSION]
    ]
    assert len(known) > 10
    assert neo4j_at_hand.run(_STANDINGS) == known
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    done = [each["done"] for each in told if each["event"] == "standings_worked_out"]
    assert done[0] == 0
    assert len(set(done)) > 2
    for store in stores:
        await store.close()


async def test_a_space_that_was_unused_before_is_not_settled_anew(tmp_path: Path) -> None:
    """G16 T2 What is written to it after the conversion is settled by the writes alone."""
    path = tmp_path / "unused.db"
    async with world(path) as live:
        neo4j_at_hand.run("CREATE (:Space {space: 'home', seq: 0, last_time: 0})")
        await live.calls("home").put_node("first")
        assert await live.app._store.unsettled() == []
    async with world(path) as live:
        assert [change.seq for change in await live.calls("home").changes()] == [1]
        assert sum(await live.app._store.numbers()) == 1


@pytest.mark.parametrize("missing", ["NEO4J_URI", "NEO4J_PASSWORD"])
def test_a_missing_setting_is_named(missing: str) -> None:
    """Must hold: by its key, at the start."""
    given = {"GRAPH_STORE": "neo4j", "NEO4J_URI": "bolt://there:1", "NEO4J_PASSWORD": "secret"}
    settings = read_store(given)
    assert isinstance(settings, Neo4jConfig)
    assert (settings.uri, settings.user) == ("bolt://there:1", "neo4j")
    assert "secret" not in repr(settings)
    del given[missing]

    with pytest.raises(ConfigError, match=missing):
        read_store(given)


async def test_a_clients_refusal_holds_no_word_of_the_drivers(live: World) -> None:
    """W5 Our bug is told as one, in little: the driver's words are for the log."""
    await live.calls().put_node("a")
    neo4j_at_hand.run("MATCH (s:Space) SET s.seq = 'broken'")
    failure = await refused(live.calls().put_node("b"))

    assert failure.code.name == "INTERNAL"
    assert not any(word in failure.message for word in ("broken", "Neo", "str", "seq"))
