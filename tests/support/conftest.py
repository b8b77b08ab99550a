"""A Qdrant server, whichever there is."""

import os
from collections.abc import Iterator

import pytest
from concord_testing import qdrant_server

from tests.support.qdrant_caller import Caller, calling


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """The server that QDRANT_URL names, else one of the module's own."""
    folder = tmp_path_factory.mktemp("qdrant")
    with qdrant_server.serving(folder, os.environ) as url, calling(url) as caller:
        yield caller
