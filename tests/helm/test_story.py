"""What `helm test` does holds on a running system; what needs no helm is looked at without it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from concord_testing.up_process import spawned

from tests.helm.rendering import CHART, EVERYTHING, ROOT


@pytest.mark.slow
def test_the_story_holds_twice(tmp_path: Path) -> None:
    """W10: the script that the chart's test runs, with nothing but credentials.json to read."""
    with spawned(tmp_path / "system") as system:
        (tmp_path / "run").mkdir()
        shutil.copy(system.data / "credentials.json", tmp_path / "run")
        script = (CHART / "story.sh").read_text("utf-8").replace("/tmp/", f"{tmp_path}/")
        environ = {
            **{name: os.environ[name] for name in ("TMPDIR", "LANG") if name in os.environ},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "CONCORD_DATA": str(tmp_path / "run"),
            "CONCORD_STATE": str(tmp_path / "state.json"),
            "HOME": str(tmp_path),
        }
        for _ in range(2):
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script],
                env=environ, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            assert done.stdout.endswith("The story holds.\n")


def test_the_charts_own_values_are_of_its_schema() -> None:
    """W10: the values that it has, the example, and those of the tests; no mapping is open that
    names something."""
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    example = yaml.safe_load((ROOT / "deploy/helm/production.yaml").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    for each in (values, example, EVERYTHING):
        jsonschema.validate(each, schema)

    assert set(schema["properties"]) - {"global"} == set(values)


def test_the_charts_stores_are_composes() -> None:
    """W1, W10: the same images of Neo4j and Qdrant, and each service's limit of memory."""
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    compose = (ROOT / "deploy/compose.yaml").read_text("utf-8")
    for store in ("neo4j", "qdrant"):
        assert f"_IMAGE:-{values[store]['image']}}}" in compose
    for service in ("graph", "search", "dissonance", "governance", "gateway", "neo4j", "qdrant"):
        limit = values[service]["resources"]["limits"]["memory"]
        short = limit.replace("Mi", "m").replace("Gi", "g")
        assert f"{service.upper()}_MEMORY:-{short}}}" in compose
