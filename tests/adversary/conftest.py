"""Gives these tests the spaces of `governed`, and an honest log to forge."""

import pytest
import pytest_asyncio
from concord_governance.usecases import graph_feed
from forger import Forger, told_by
from governed_fixtures import _graph_server, _ledger_server, _patient_answers, live, party
from governed_world import SECONDS, Keys, world

__all__ = ["_graph_server", "_ledger_server", "_patient_answers", "live", "party"]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def honest_log(tmp_path_factory: pytest.TempPathFactory) -> Forger:
    """A log with something of everything, and the keys to sign another."""
    keys = Keys()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_feed, "_REACH_SECONDS", SECONDS)
        async with world(tmp_path_factory.mktemp("honest"), keys=keys) as running:
            principals = running.party()
            await principals.enrol()
            return await told_by(principals, keys)


@pytest.fixture
def forger(honest_log: Forger) -> Forger:
    """A copy of the honest log."""
    return honest_log.copy()
