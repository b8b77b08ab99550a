"""The concept page says nothing that this repository does not show (V11)."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "services/governance/CONCEPT.md").read_text("utf-8")
PROMISES = re.findall(r"^\| (?!Promise|-)(.+?) \| .+? \| `(.+?)::(.+?)` \|$", PAGE, re.M)


def test_every_promise_names_its_proof() -> None:
    """V11 No row of the table stands without a test of ours."""
    table = PAGE.partition("## What an implementation must guarantee")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(PROMISES) == len(rows) >= 8


@pytest.mark.parametrize(("promise", "file", "name"), PROMISES)
def test_a_promise_is_proved(promise: str, file: str, name: str) -> None:
    """V11 The test is there, runs in `make test`, and names a requirement of governance's."""
    tests = {
        each.name: each
        for each in ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    marks = [ast.unparse(mark) for mark in tests[name].decorator_list]
    ids = re.findall(r"\b(?:V\d+|A\d|G4|G5)\b", ast.get_docstring(tests[name]) or "")
    assert ids, promise
    assert not any("skip" in mark or "chaos" in mark for mark in marks)


def test_what_it_points_to_is_there() -> None:
    """V11 Every path on the page leads somewhere."""
    paths = set(re.findall(r"`((?:protos|services|gateway)/[\w./-]+)`", PAGE))
    assert len(paths) >= 6
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
