"""The README's commands do what it says they do (style 19)."""

import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from concord_client import credentials
from concord_client.cli.app import app
from concord_gateway.config import Config
from concord_gateway.contracts import services
from concord_governance import config as governance_config
from concord_graph.config import GraphConfig, StoreChoice
from concord_testing.up_process import Spawned, spawned

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
HTTP_ADDRESS = "http://127.0.0.1:7601"
TYPED = (0, 1, 3, 4, 5)
"""The blocks of commands that go on from one another."""


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system, as `make run` starts it."""
    with spawned(tmp_path_factory.mktemp("readme")) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader types the commands."""
    return tmp_path_factory.mktemp("desk")


def run(system: Spawned, command: list[str], folder: Path = ROOT) -> str:
    """What a command prints; it must succeed."""
    keys = str(system.data.parent / "home")
    home = {"XDG_CONFIG_HOME": keys, "CONCORD_STATE": f"{keys}/state.json"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env=system.environ | {"PATH": path} | home,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def alike(text: str) -> str:
    """Text without what differs from run to run: dates, times, how long ago, spaces around them."""
    text = re.sub(r"\d+ minutes? ago", "just now", text)
    return re.sub(r"\s+", " ", re.sub(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d", "N", text)).strip()


@dataclass(frozen=True)
class Step:
    """A command of the README, what it printed, and what the README shows."""

    command: str
    printed: str
    shown: str


@pytest.fixture(scope="module")
def told(system: Spawned, folder: Path) -> dict[int, list[Step]]:
    """Every step of the blocks that are typed one after the other, in their order.

    What a test asks is there whichever of them a worker runs.
    """
    return {block: list(_typed(system, folder, block)) for block in TYPED}


def _typed(system: Spawned, folder: Path, block: int) -> Iterator[Step]:
    exported = ""  # a terminal keeps what was exported; here each command has a shell of its own
    for step in re.split(r"^\$ ", blocks("console")[block], flags=re.M)[1:]:
        command, _, shown = step.partition("\n")
        if command.startswith("export "):
            exported += f"{command}; "
        printed = run(system, ["bash", "-c", exported + command], folder)
        yield Step(command, printed, shown)


@pytest.mark.parametrize("block", TYPED)
def test_each_step_prints_what_is_shown(told: dict[int, list[Step]], block: int) -> None:
    """W4 T2 M6: each command of the first blocks succeeds and prints its reply, counts and all."""
    for step in told[block]:
        assert alike(step.printed) == alike(step.shown), step.command


def test_no_command_stands_where_no_test_runs_it() -> None:
    """Style 19: six blocks of commands, each run above or below; the wheels' test runs the second
    program."""
    assert len(blocks("console")) == 6
    assert len(blocks("python")) == 2


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.usefixtures("told")
def test_the_http_request_is_answered(system: Spawned) -> None:
    """W2: the curl line finds the key, asks, and gets the live memory with its reasons."""
    lines = re.findall(r"^\$ (.*)$", blocks("console")[2], re.M)
    script = "\n".join(lines).replace(HTTP_ADDRESS, system.http_url)

    shown = blocks("console")[2].split(lines[-1])[1]

    assert alike(run(system, ["bash", "-euo", "pipefail", "-c", script])) == alike(shown)


def test_what_streams_is_said_to_answer_501_over_http(system: Spawned) -> None:
    """W2: the README names each call that the HTTP door does not take, and no other."""
    streaming = {
        method.name: f"/{method.containing_service.full_name}/{method.name}"
        for service in services()
        for method in service.methods
        if method.client_streaming or method.server_streaming
    }
    said = README.partition("those that stream (")[2].partition(")")[0]

    key = credentials.find(url=None, api_key=None, space=None, environ=system.environ).api_key
    answers = {}
    for name, path in streaming.items():
        asked = urllib.request.Request(f"{system.http_url}{path}", b"{}")
        asked.add_header("Content-Type", "application/json")
        asked.add_header("Authorization", f"Bearer {key}")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=60)
        answers[name] = refused.value.code
        refused.value.close()

    assert answers == dict.fromkeys(re.findall(r"`(\w+)`", said), 501)


def test_every_command_named_exists() -> None:
    """Style 19, W4: `concord WORD` in the README is a command."""
    named = set(re.findall(r"(?:`|^\$ )concord ([a-z-]+)", README, re.M))

    assert named >= {"add", "list", "propose"}
    assert named <= set(typer.main.get_command(app).commands)  # type: ignore[attr-defined] # a group


@pytest.mark.usefixtures("told")
def test_the_python_example_runs(system: Spawned) -> None:
    """W4: the client finds the system and prints the answer with its reason."""
    printed = run(system, [sys.executable, "-c", blocks("python")[0]])
    (shown,) = re.findall(r"^prints\n\n```\n(.*?)^```", README, re.M | re.S)

    assert alike(printed) == alike(shown)


def test_every_setting_named_exists() -> None:
    """Style 19, W6: the README names no variable that nobody reads."""
    known = {f"GATEWAY_{name.upper()}" for name in Config.model_fields}
    known |= {f"GRAPH_{name.upper()}" for name in GraphConfig.model_fields}
    known |= {f"GRAPH_{name.upper()}" for name in StoreChoice.model_fields}
    of_governance = (governance_config.GovernanceConfig, governance_config.StoreChoice)
    known |= {f"GOVERNANCE_{name.upper()}" for each in of_governance for name in each.model_fields}
    known |= {value for name, value in vars(credentials).items() if name.endswith("_VARIABLE")}

    named = set(re.findall(r"\b(?:GATEWAY|CONCORD|GRAPH|GOVERNANCE)_[A-Z_]+", README))

    assert named >= {"GATEWAY_TLS_CERT", "GRAPH_WORKING_MEMORY_CAPACITY"}
    assert named >= {"GOVERNANCE_STORE", "GOVERNANCE_SETTINGS_FILE"}
    assert named - known == set()


def test_every_make_target_named_exists() -> None:
    """Style 19: the README names no command that is not there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.M))

    assert named >= {"run", "test"}
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_each_decision_has_a_number_of_its_own() -> None:
    """Style 19: a decision is named by its number, and every page that is linked is there."""
    folder = ROOT / "services" / "decisions"
    numbers = [page.name[:4] for page in folder.glob("[0-9]*.md")]
    linked = set(re.findall(r"services/decisions/(\d{4}-[a-z0-9-]+\.md)", README))

    assert len(numbers) == len(set(numbers))
    assert linked
    assert {name for name in linked if not (folder / name).exists()} == set()


def test_install_puts_the_command_on_the_path(tmp_path: Path) -> None:
    """W4 As one link; where the folder is not on the PATH, it says so."""
    stamps = ["-o", ".venv/run.stamp"]  # what is set up stays as it is
    made = subprocess.run(
        ["make", "-s", *stamps, "install", f"PREFIX={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    said = subprocess.run(
        [tmp_path / "bin" / "concord", "--help"], capture_output=True, text=True, check=True,
        timeout=120,
    )  # fmt: skip

    assert made.stdout.splitlines()[0] == f"{tmp_path}/bin/concord"
    assert "Add " in made.stdout
    assert "search" in said.stdout
