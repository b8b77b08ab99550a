"""Runs a twentieth of all tests, always the same, in asyncio's debug mode: twice as slow.

It finds who touches an event loop from another thread (the loop raises), and whence a coroutine
came that nobody awaited. `PYTHONASYNCIODEBUG=1 make test` runs every test so.
"""

import gc
import os
import tempfile
from collections.abc import Generator
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

# A busy machine draws examples slowly: that says nothing of the code.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

_SETTING = "PYTHONASYNCIODEBUG"  # read whenever a loop is made


def pytest_configure(config: pytest.Config) -> None:
    """Keep clients of this run, in whatever process, from writing pins into the user's own file.

    Workers and started processes inherit the variable; the helpers drop those of Concord.
    """
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="concord-tests-state-")
        config.add_cleanup(folder.cleanup)
        os.environ["XDG_STATE_HOME"] = folder.name


def pytest_collection_finish() -> None:
    """Keep the garbage collector off what lives to the end of the run: six thousand tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Set the mode for this test's loops and processes."""
    if _SETTING in os.environ or crc32(item.nodeid.encode()) % 20:
        return (yield)
    os.environ[_SETTING] = "1"
    try:
        return (yield)
    finally:
        del os.environ[_SETTING]
