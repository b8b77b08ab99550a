"""A Qdrant server, whichever there is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord_testing import qdrant_server
from concord_testing.qdrant_server import LocalQdrant

from tests.support.qdrant_caller import Caller, calling


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LocalQdrant]:
    """A server of the test's own, which it may kill."""
    with qdrant_server.local(tmp_path / "qdrant", os.environ) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """The server that QDRANT_URL names, else one of the module's own."""
    folder = tmp_path_factory.mktemp("qdrant")
    with qdrant_server.serving(folder, os.environ) as url, calling(url) as caller:
        yield caller
