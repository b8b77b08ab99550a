"""What a missed bar looks like, and that the command runs."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bench import __main__
from tests.bench.run import Run
from tests.bench.table import Bar, Row, line, summary
from tests.bench.timing import caller


def row(ratio: float, bar: Bar | None = None) -> Row:
    """A row whose ratio is judged."""
    return Row("thing", "ms", (ratio, 9.0), floor=(1.0, 2.0), ratio=ratio, bar=bar)


@pytest.mark.parametrize(
    ("ratio", "bar", "verdict"),
    [
        (3.0, Bar(3.0), "met"),
        (3.01, Bar(3.0), "NOT MET"),
        (0.8, Bar(0.8, at_most=False), "met"),
        (0.79, Bar(0.8, at_most=False), "NOT MET"),
        (5.0, None, "-"),
    ],
)
def test_a_row_says_whether_its_bar_is_met(ratio: float, bar: Bar | None, verdict: str) -> None:
    """Must hold, bench: ratios are judged against the design's bars."""
    assert line(row(ratio, bar)).endswith(verdict)


def test_a_missed_bar_is_said_loudly_at_the_end() -> None:
    """Must hold, bench: what is missed is repeated after the table, what is met is not."""
    said = summary([row(4.0, Bar(3.0)), row(2.0, Bar(3.0))])

    assert said.splitlines() == ["!!! 1 BAR(S) NOT MET !!!", "  thing: ratio 4.00, bar <= 3"]


def test_the_command_measures_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Must hold, bench: `make bench ARGS="NAME --quick --json FILE"` prints and keeps the rows."""
    asked = ["rpc", "retrieval", "--quick", "--json", str(tmp_path / "rows.json")]

    assert __main__.main(asked, {"CONCORD_EVALUATION_DATA": "/nowhere"}) == 0
    printed = capsys.readouterr().out
    assert "empty RPC through every stage" in printed
    assert "SKIPPED: no data at /nowhere/locomo" in printed
    rows = json.loads((tmp_path / "rows.json").read_text("utf-8"))
    assert [len(each["figure"]) for each in rows] == [2, 2]


def test_a_bench_that_is_named_twice_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Must hold, bench: `ARGS="neighbors ingest neighbors"` repeats one beside another."""

    async def once(run: Run) -> AsyncIterator[Row]:
        (run.folder / "store").mkdir()
        yield row(1.0)

    monkeypatch.setitem(__main__.BENCHES, "once", once)
    with caller() as client:
        run = Run(client, tmp_path, tmp_path, quick=True)
        rows = asyncio.run(__main__._all(run, ["once", "once"]))

    assert len(rows) == 2


def test_an_unknown_name_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Must hold, bench: a name that is no benchmark's is told, nothing is measured."""
    with pytest.raises(SystemExit) as ended:
        __main__.main(["nonsense"], {})

    assert ended.value.code == 2
    assert "no benchmark called nonsense" in capsys.readouterr().err
