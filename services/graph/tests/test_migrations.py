"""A store's schema grows by numbered steps; what has landed stays as it was (G16)."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from concord_graph.adapters.sqlite.migrations import SCHEMA

LANDED = {
    1: "89bc8c121814ada04cb383af9deb481f41c529ab698189b97b672486a85db4ab",
    2: "0405b1c620641bd2d56721e49d70be14ad7839b9d6c8a9854125378cdd87063f",
    3: "09f7d31271acc310b4a75cd13ba0cb259919028806a13e416322f856c17ea86d",
    4: "92b0ee5acf501cc11c2d15e58e46c07c9be146f27a2410db250366fb328e4911",
    5: "f8db9ea27f2f03218ab7b322a66e0bb743616330c52ccc2559062408b93425ed",
    6: "a3c92c749fb8bdf17cf44527fff5385feca3508d0f14ef55f0a4393739e8f175",
    7: "d5df03b7b27dffca964de191d4909fe847a6105d065bc6cbbe6dc7a0c4940c52",
    8: "717a1f30aa2a544c6cb9e01fc5b32ebb3832b3c8da900af833f9922a5c23830d",
    9: "395d6a40d156a37a62aded130a3c94c7910d788132661ee872002b6b024e0e2a",
    10: "f1ffb59bf4ceb8b385278790b15390277bd0ef6e927be20992c9219d57164be8",
    11: "1f6c2d2527bedb5f84e1096d00000df2b9e803c27488417955884464aa47fea8",
    12: "b2c1b47b8759540b3c4fae24b09239a477982bfedbba90eb8df89b205ada6cd9",
    13: "0474d4424dee2fd2cd4e49db1cfe01a09c5b804bf687d214dd7428cc6b323179",
    14: "7c6ef9e048697e38418451987d40adafddcd7536b9dec0268121f4aac671d5ca",
    15: "9ee9809e658dd8da2f8418186e692a36d729653565e0e60b877d06500d72f693",
    16: "d02a5770e002a560c27e4efa4745dd856b53a262872d308cc881899eb81ed04b",
    17: "fbc575eb9aca0861712ed99c5c180ee89b003a85443b9a47ec04153d50f20e10",
    18: "bbf88165b1735c254f4c05c55ed17828b10139ec69d3b4cb0293daa7342e0277",
    19: "35a3c314667cf94022dc87f61850b22f56c5895b36b99cf36af820436f730a77",
    20: "763328f67d1db4c00bf8402b48f4a67fecb1ae8ae06d520b8f30c5e8c5c73c7f",
    22: "e9ab88cd0bb139a323e4a386b8e483da396c9b0e6d3bab4a91368501b2979455",
}
"""SHA-256 of every step that stores in the world have run."""


def test_what_has_landed_is_never_edited() -> None:
    """G16 A landed step is what old stores ran: a change of it is a new step."""
    digests = {n: sha256(text.encode()).hexdigest() for n, text in SCHEMA.steps}

    assert {n: digests.get(n) for n in LANDED} == LANDED, "write a new step in place of editing"


def test_a_failing_step_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    """G16 The steps that a store lacks run in one transaction."""
    path = tmp_path / "graph.db"
    first = SCHEMA.steps[0]
    broken = (2, "CREATE TABLE half (x INTEGER) STRICT;\nCREATE TABLE half (x INTEGER) STRICT;\n")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        replace(SCHEMA, steps=(first,)).migrate(db)
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            replace(SCHEMA, steps=(first, broken)).migrate(db)

        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        schema = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()

    assert "half" not in tables
    assert schema == ("1",)
