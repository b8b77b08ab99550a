"""Every test of this folder runs on every index that search has."""

import pytest
from search_lab import INDEXES, OpenIndex


@pytest.fixture(params=sorted(INDEXES))
def make_index(request: pytest.FixtureRequest) -> OpenIndex:
    """Makes one kind of index; not opened yet."""
    return INDEXES[request.param]
