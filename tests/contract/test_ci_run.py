"""What `.ci/run` does with tests that fail, played with a `make` that says what it is told to."""

import os
import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci/run"
MAKE = """#!/bin/sh
echo "make $*" >> "$CALLS"
case "$*" in
  test) printf '%s' "$FAILED"; [ -z "$FAILED" ] ;;
  .venv/strangers.stamp) exit 1 ;;
esac
"""


def ran(tmp_path: Path, failed: list[str]) -> tuple[int, list[str], list[str]]:
    """Exit status, last lines and calls of make of a run whose first tests fail so."""
    for folder in (".ci", "deploy", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci/run")
    for name in ("apt.txt", "apt-test.txt"):
        (tmp_path / "deploy" / name).write_text("")
    (tmp_path / "bin/make").write_text(MAKE)
    (tmp_path / "bin/make").chmod(0o755)
    environ = os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "FAILED": "".join(f"{line}\n" for line in failed),
    }
    done = subprocess.run(
        [tmp_path / ".ci/run"], env=environ, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines(), (tmp_path / "calls").read_text().splitlines()


def test_a_test_that_was_retried_is_named_last(tmp_path: Path) -> None:
    """A test that fails once is asked once more; the run ends with its name and its reason."""
    failed = ["FAILED a/test_b.py::test_c[60 ms] - TimeoutError: 5 s", "ERROR a/test_d.py::test_e"]
    status, lines, calls = ran(tmp_path, failed)

    assert status == 0
    assert lines[-2:] == [
        "RETRIED: a/test_b.py::test_c[60 ms] (TimeoutError: 5 s)",
        "RETRIED: a/test_d.py::test_e",
    ]
    assert calls[2].startswith("make test WORKERS=1 ARGS=--last-failed")


def test_three_failures_are_no_accident(tmp_path: Path) -> None:
    """They end the run, named, and are not asked again."""
    failed = [f"FAILED a/test_b.py::test_{number} - AssertionError" for number in range(3)]
    status, lines, calls = ran(tmp_path, failed)

    assert status == 1
    assert lines[-3:] == [f"a/test_b.py::test_{number} (AssertionError)" for number in range(3)]
    assert calls == ["make lint", "make test"]


def test_nothing_is_retried_where_nothing_failed(tmp_path: Path) -> None:
    """A green run names no test."""
    status, lines, calls = ran(tmp_path, [])

    assert (status, [line for line in lines if line.startswith("RETRIED")]) == (0, [])
    assert not [call for call in calls if "last-failed" in call]
