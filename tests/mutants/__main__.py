"""Runs the tests of each target against its mutants, and prints who survived."""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import cryptography.hazmat.primitives.asymmetric.ed25519
import hypothesis  # loaded before the tests' processes begin: each of them has it at once
import pydantic
import pytest
import rfc8785

from tests.mutants.changing import Mutant, mutants

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
LEAST = 0.95
TIMES, LEAST_SECONDS = 10, 120
"""How long the tests of one mutant may take, against what they take as the code is: what hangs is
noticed, and a busy machine kills none."""
SEED = 12
QUICK = "not chaos and not soak and not neo4j"
"""The tests that `make test` runs."""
_LOADED = (cryptography, hypothesis, pydantic, rfc8785)


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a changed tree."""

    def __init__(self, module: str, path: Path, mutant: Mutant) -> None:
        self._module, self._path, self._mutant = module, path, mutant

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> Any:
        if fullname != self._module:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._mutant.tree, str(self._path), "exec"), module.__dict__)  # noqa: S102 - our own code


def noticed(path: Path, mutant: Mutant | None, tests: Sequence[str], seconds: int = 0) -> bool:
    """Return whether tests fail, in a process of their own, or take longer than so many seconds;
    without a mutant, as it is."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if mutant is not None:
            sys.meta_path.insert(0, _Changed(_module(path), path, mutant))
        options = ("-x", "-q", "-p", "no:xdist", "-p", "no:randomly", "-W", "ignore", "-m", QUICK)
        os._exit(int(pytest.main([*options, *tests])))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status in (4, 5):
        raise SystemExit(f"these tests cannot be run: {' '.join(tests)}")
    return status != 0


def _module(path: Path) -> str:
    """Return the name that a file is imported by."""
    parts = [path.stem]
    while (path.parent / "__init__.py").exists():
        path = path.parent
        parts.insert(0, path.name)
    return ".".join(parts)


def _judge(name: str, target: dict[str, Any], only: str, sample: int) -> bool:
    """Run a target's mutants; return whether enough of them were noticed."""
    excused: dict[str, str] = target.get("equivalent", {})
    files = [ROOT / each for each in target["files"] if only in (Path(each).stem, "")]
    seconds = LEAST_SECONDS
    for tests in (target["tests"], target["wider"]):
        start = time.monotonic()
        if tests and noticed(ROOT, None, tests):
            raise SystemExit(f"{name}: its tests fail without any mutant")
        seconds = max(seconds, round(TIMES * (time.monotonic() - start)))
    found = [(path, each) for path in files for each in mutants(path.read_text("utf-8"))]
    known = {f"{path.stem}.{each.name}" for path, each in found}
    stale = [] if only else [each for each in excused if each not in known]
    found = [each for each in found if f"{each[0].stem}.{each[1].name}" not in excused]
    if sample and sample < len(found):
        found = random.Random(SEED).sample(found, sample)
    survivors, start = [], time.monotonic()
    for path, mutant in found:
        if noticed(path, mutant, target["tests"], seconds):
            continue
        if not target["wider"] or not noticed(path, mutant, target["wider"], seconds):
            survivors.append(mutant)
            print(f"  survived: {path.relative_to(ROOT)}:{mutant.line} {mutant.name}", flush=True)
    killed = len(found) - len(survivors)
    print(
        f"{name}: {killed} of {len(found)} killed in {time.monotonic() - start:.0f} s", flush=True
    )
    for each in stale:
        print(f"  excused, but no mutant any more: {each}")
    return killed >= LEAST * len(found) and not stale


def main() -> None:
    """Judge the targets that are named, or all."""
    targets = json.loads((FOLDER / "targets.json").read_text("utf-8"))
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(targets))
    parser.add_argument("--sample", type=int, default=0, help="only so many of each target's")
    parser.add_argument("--file", default="", help="only of the module of this name")
    asked = parser.parse_args()
    os.chdir(ROOT)
    names = asked.targets or targets
    held = [_judge(name, targets[name], asked.file, asked.sample) for name in names]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
