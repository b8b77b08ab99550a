"""Neo4j's jars on a new machine, where several test processes start at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from concord_neo4j import distribution

_SLOW_MAVEN = """#!/bin/sh
echo run >> "{runs}"
for word; do case $word in -Dmdep.outputFile=*) out=${{word#*=}};; esac; done
sleep 0.3
printf %s "{jar}" > "$out"
"""


def test_processes_that_start_at_once_fetch_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Must hold: CI passes on a new machine. Without the lock one removes the other's file."""
    jar, runs, maven = tmp_path / "neo4j.jar", tmp_path / "runs", tmp_path / "bin" / "mvn"
    jar.touch()
    maven.parent.mkdir()
    maven.write_text(_SLOW_MAVEN.format(runs=runs, jar=jar))
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:/usr/bin:/bin")
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(distribution.class_path, tmp_path / "cache") for _ in range(4)]
    assert [one.result() for one in asked] == [str(jar)] * 4
    assert runs.read_text() == "run\n"
