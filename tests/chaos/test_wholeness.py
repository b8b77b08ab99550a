"""The checks after a crash can fail: each finds what it is there to find."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from concord_testing.up_process import spawned

from tests.chaos import wholeness
from tests.chaos.all_deeds import DEEDS
from tests.chaos.hand import Hand
from tests.chaos.killing import client_of

OF_SOME = f"WHERE {wholeness.LIVE}"
BROKEN = {
    "a revision without its change": "DELETE FROM change WHERE seq = (SELECT max(seq) FROM memory)",
    "a change without its revision": "DELETE FROM entry WHERE rowid = 1",
    "a gap in the sequence": "DELETE FROM change WHERE seq = 2",
    "torn history": "UPDATE memory SET record_until = record_until - 1 WHERE rowid = 1",
    "an edge without an end": "DELETE FROM node WHERE id IN (SELECT source_id FROM edge)",
    "a memory without the edges of its facts": f"UPDATE edge SET deleted = 1 {OF_SOME} AND id IN"
    " (SELECT edge_id FROM support)",
    "support by no memory": "DELETE FROM memory WHERE id IN (SELECT memory_id FROM support)",
    "a link without its lineage": "DELETE FROM edge WHERE relation = 'SUPERSEDES'",
    "an erased memory without its receipt": "DELETE FROM erasure",
    "what was erased": "UPDATE memory SET content = 'still here' WHERE erase_time <> 0",
    "an open grant": "INSERT INTO open_grant VALUES (1, '', 0)",
    "a reply that names what is not": "DELETE FROM change WHERE type = 1",
    "half a batch": "DELETE FROM memory WHERE id LIKE '%x%.0'",
    "half of what was said at once": "DELETE FROM memory WHERE content LIKE '% said %: 0 of %'"
    " AND content NOT LIKE '%of 1'",
}


def test_what_a_crash_could_break_is_seen(tmp_path: Path) -> None:
    """Must hold: each of these checks finds a store from which a row was taken."""
    hand, data = Hand("ada", random.Random(1)), tmp_path / "data"
    store = data / "graph" / "graph.db"
    with spawned(data) as server, client_of(server) as client:
        while len(hand.acknowledged) < 60:
            hand.resume(client)
            hand.under_way = hand.draw.choice(DEEDS)(hand)
        assert server.stop() == 0
    assert wholeness.wrong(store) == {}
    for what, statement in BROKEN.items():
        copy = tmp_path / "broken.db"
        shutil.copy(store, copy)
        with closing(sqlite3.connect(copy)) as db, db:
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
                db.execute(f"DROP TRIGGER {name}")
            assert db.execute(statement).rowcount, what

        assert what in wholeness.wrong(copy), what
