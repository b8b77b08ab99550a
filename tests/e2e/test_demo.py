"""`concord demo` is a test of the whole: each of its claims is checked as it is made."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from concord_client import corpus
from concord_client.cli.demo import recall, tour
from concord_embedded import Running
from concord_testing.command_line import CommandLine
from concord_testing.up_process import COMMAND, clean_environ, spawned

STEPS = (
    *("import", "search", "history", "lineage", "neighbors"),
    *("conflict", "review", "resolution"),
    *("genesis", "consent", "protection", "one-sided", "both", "audit", "undo"),
)


@pytest.fixture
def few_peps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's corpus is a tenth of itself, and whatever the tour is about."""
    lines = corpus.peps().read_bytes().splitlines(keepends=True)
    few = [*lines[::10], *(each for each in lines if json.loads(each)["id"] in recall.CHAIN)]
    (tmp_path / "few.jsonl").write_bytes(b"".join(dict.fromkeys(few)))
    monkeypatch.setattr(corpus, "peps", lambda: tmp_path / "few.jsonl")


@pytest.mark.soak
def test_the_demo_holds_over_its_whole_corpus() -> None:
    """T4 T5 W4 As its users have it: a process, and all the proposals that there are."""
    told = subprocess.run(
        [*COMMAND, "demo"], env=clean_environ(), capture_output=True, text=True, check=False
    )

    assert told.returncode == 0, told.stderr
    assert "pep-566 answers" in told.stdout


@pytest.mark.usefixtures("few_peps")
def test_the_demo_holds_and_is_told_in_words(tmp_path: Path) -> None:
    """T4 T5 S4 D1 D5 D6 G4 V5 V6 V8 A2 History, lineage, a conflict, what nobody changes alone.
    `--keep` leaves a directory that `up` takes, and that no second demo writes to."""
    concord = CommandLine({})
    told = concord("demo", "--keep", str(tmp_path / "kept"))
    again = concord("demo", "--keep", str(tmp_path / "kept"))

    assert told.exit_code == 0, told.stderr
    assert "pep-566 answers" in told.stdout
    assert "Why: vector " in told.stdout
    assert "●  pep-566  head: this holds" in told.stdout
    assert "Mira lives in Bergen; Oslo is what was believed before." in told.stdout
    assert "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED" in told.stdout
    assert "The agent signed. Nothing happens: it waits for the person." in told.stdout
    assert "hashes, signatures, order and rules hold, and the store agrees." in told.stdout
    assert "The state export is what it was, byte for byte" in told.stdout
    assert told.stdout.rstrip().endswith('concord search "where is the office"')
    assert again.exit_code == 1
    assert "is not empty" in again.stderr
    with spawned(tmp_path / "kept") as system:
        assert system.stop() == 0


@pytest.mark.usefixtures("few_peps")
async def test_the_demo_as_json_tells_each_step_and_can_fail(
    own_system: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    """W4 One line a step, with its reply. The second time, the tour's memories are not new."""
    first = await asyncio.to_thread(tour.walk, own_system, True)
    steps = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    second = await asyncio.to_thread(tour.walk, own_system, True)

    assert (first, second) == (True, False)
    assert [step["step"] for step in steps] == list(STEPS)
    assert all(step["holds"] for step in steps)
    assert steps[1]["reply"]["results"][0]["memory"]["id"] == "pep-566"
    history = [each["memory"]["id"] for each in steps[2]["reply"]["results"]]
    assert history == list(recall.CHAIN)
