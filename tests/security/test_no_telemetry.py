"""Nothing that Concord loads reports to anybody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "module",
    ["concord_search.adapters.minilm.embedder", "concord_dissonance.adapters.onnx_nli.judge"],
)
def test_the_inference_engine_prepares_no_report(module: str, tmp_path: Path) -> None:
    """W6 It would begin with an id of the device and a queue of events in the user's cache."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ORT_")}
    homes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    subprocess.run([sys.executable, "-c", f"import {module}"], env=environ | homes, check=True)

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
