"""A Qdrant server that is killed, asked without Concord."""

import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from concord_testing import qdrant_server
from concord_testing.qdrant_server import LocalQdrant
from qdrant_client import grpc as wire

from tests.support.qdrant_caller import (
    Caller,
    calling,
    create,
    held,
    lead,
    payload_set,
    point,
    removed,
    selected,
    update,
    written,
)

pytestmark = pytest.mark.qdrant


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LocalQdrant]:
    """A server of the test's own, which it may kill."""
    with qdrant_server.local(tmp_path / "qdrant", os.environ) as server:
        yield server


def test_what_was_acknowledged_is_there_after_kills(own: LocalQdrant) -> None:
    """S10 kill -9 at any moment: no acknowledged change of points or collections is lost."""
    draw, kept = random.Random(5), dict[int, int]()
    for turn in range(5):
        with calling(own.url) as server:
            if turn == 0:
                create(server, "kept")
                create(server, "dropped")
                lead(server, "kept", anew=False)
                server.collections.Delete(wire.DeleteCollection(collection_name="dropped"))
            killer = threading.Timer(draw.uniform(0.05, 0.4), own.kill)
            killer.start()
            unsure = change_until_killed(server, draw, kept)
            killer.join()
        own.start()
        with calling(own.url) as server:
            found = {number: said["n"] for number, said in held(server, "alias").items()}
            named = server.collections.List(wire.ListCollectionsRequest()).collections
            told = server.collections.Get(wire.GetCollectionInfoRequest(collection_name="kept"))

        assert [each.name for each in named] == ["kept"]
        assert "tenant" in told.result.payload_schema
        assert {k: v for k, v in found.items() if k != unsure} == {
            k: v for k, v in kept.items() if k != unsure
        }
        kept = {number: int(str(said)) for number, said in found.items()}


def change_until_killed(server: Caller, draw: random.Random, kept: dict[int, int]) -> int:
    """Changes points until the server is gone; returns whose last change got no answer."""
    while True:
        number, value = draw.randint(0, 50), draw.randint(0, 10**6)
        known = number in kept
        if known and draw.random() < 0.3:
            change, after = removed(selected(number)), None
        elif known and draw.random() < 0.5:
            change, after = payload_set(number, n=value), value
        else:
            change, after = written(point(number, [1], n=value)), value
        try:
            update(server, "alias", change)
        except grpc.RpcError:
            return number
        kept.pop(number, None)
        if after is not None:
            kept[number] = after
