"""Replicas of an older commit, renewed one by one as today's while agents use them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.composed.using import asked_again
from tests.replicas.replicated import SERVICES, replicated
from tests.replicas.use import under_load

ROOT = Path(__file__).parents[2]
OLDER = os.environ.get("CONCORD_OLDER", "")
"""The commit, at least of decision 0067: older ones do not take lists of replicas."""

pytestmark = [
    pytest.mark.replicas,
    pytest.mark.timeout(0),
    pytest.mark.skipif(not OLDER, reason="CONCORD_OLDER names no commit to upgrade from"),
]


def code_of(commit: str, folder: Path) -> str:
    """Lay out a commit; return the PYTHONPATH by which a process runs its code."""
    folder.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    parts = [folder / "protos" / "gen", *(path.parent for path in folder.rglob("pyproject.toml"))]
    path = ":".join(str(part) for part in parts if part != folder)
    asked = [sys.executable, "-c", "import concord_graph; print(concord_graph.__file__)"]
    found = subprocess.run(asked, env={"PYTHONPATH": path}, check=True, capture_output=True)
    assert found.stdout.decode().startswith(str(folder)), "today's code was found first"
    return path


async def test_an_upgrade_in_order_fails_no_idempotent_call(tmp_path: Path) -> None:
    """Must hold (issue 17, 4): two of each of an older commit become today's, one after the other,
    in the order of decision 0067: no idempotent call fails for good, nothing is lost or doubled."""
    asked_again.clear()
    older = code_of(OLDER, tmp_path / "older")
    async with replicated(tmp_path, {"PYTHONPATH": older}) as system, under_load(system):
        for service in SERVICES:
            for replica in system.replicas[service]:
                del replica.environ["PYTHONPATH"]
                await replica.renew()
