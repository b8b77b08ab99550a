"""The commands of the README and of `docs` do what these pages say that they do (style 19)."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
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
from concord_hook.target import HTTP_VARIABLE
from concord_testing.up_process import Spawned, ran, spawned

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
}
"""The text of each page by its path: a reader begins with the README."""
TEXT = "\n".join(PAGES.values())
HTTP_ADDRESS = "http://127.0.0.1:7601"


def blocks(language: str, page: str) -> list[str]:
    """The fenced blocks of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGES[page], re.M | re.S)


TYPED = [
    (page, block)
    for page in PAGES
    for block, typed in enumerate(blocks("console", page))
    if HTTP_ADDRESS not in typed
]
"""The blocks of commands that go on from one another, each a page and a number."""


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spawned]:
    """A running system, as `make run` starts it."""
    # in a folder of its own, as `run` keeps the principals' keys beside the data
    with spawned(tmp_path_factory.mktemp("readme") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader types the commands."""
    return tmp_path_factory.mktemp("desk")


PLAIN = re.compile(r"concord [^|<>$`;&()*]*")
"""A command that needs no shell: a process that has loaded its modules runs it."""


def run(
    system: Spawned, command: list[str], folder: Path = ROOT, more: Mapping[str, str] | None = None
) -> str:
    """What a command prints; it must succeed. `more`: further variables."""
    keys = str(system.data.parent / "home")
    home = {"XDG_CONFIG_HOME": keys, "CONCORD_STATE": f"{keys}/state.json"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = system.environ | {"PATH": path} | home | dict(more or {})
    if PLAIN.fullmatch(command[-1]):
        done = ran(*shlex.split(command[-1])[1:], environ=environ, folder=folder)
    else:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environ,
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
    """A command of a page, what it printed, and what the page shows."""

    command: str
    printed: str
    shown: str


@pytest.fixture(scope="module")
def told(system: Spawned, folder: Path) -> dict[tuple[str, int], list[Step]]:
    """Every step of the blocks that are typed one after the other, in their order.

    What a test asks is there whichever of them a worker runs.
    """
    return {
        (page, block): list(_typed(system, folder, blocks("console", page)[block]))
        for page, block in TYPED
    }


def _typed(system: Spawned, folder: Path, typed: str) -> Iterator[Step]:
    exported = {}  # a terminal keeps what was exported; here each command has a shell of its own
    for step in re.split(r"^\$ ", typed, flags=re.M)[1:]:
        command, _, shown = step.partition("\n")
        if command.startswith("export "):
            name, _, exported_value = shlex.split(command)[1].partition("=")
            exported[name] = exported_value
        printed = run(system, ["bash", "-c", command], folder, exported)
        yield Step(command, printed, shown)


@pytest.mark.parametrize(("page", "block"), TYPED)
def test_each_step_prints_what_is_shown(
    told: dict[tuple[str, int], list[Step]], page: str, block: int
) -> None:
    """W4 T2 M6: each command that is typed succeeds and prints its reply, counts and all."""
    for step in told[page, block]:
        assert alike(step.printed) == alike(step.shown), step.command


def test_no_command_stands_where_no_test_runs_it() -> None:
    """Style 19: the request over HTTP and both programs are run below and by the wheels' test."""
    (asked,) = (page for page in PAGES for each in blocks("console", page) if HTTP_ADDRESS in each)

    assert ("README.md", 0) in TYPED
    assert asked == "docs/programs.md"
    assert {page: len(blocks("python", page)) for page in PAGES if blocks("python", page)} == {
        "docs/programs.md": 2
    }


LINKING = (
    *("README.md", "CONTRIBUTING.md", "docs/*.md", "gateway/README.md", "services/*.md"),
    *("services/*/*.md", "protos/concord/**/*.md", "deploy/*.md", "gateway/mcp_server/*.md"),
)


def test_each_link_leads_somewhere() -> None:
    """Style 19: every file that a page links is there, with the heading that the link names."""
    lost = set()
    for page in (page for pattern in LINKING for page in ROOT.glob(pattern)):
        for link in re.findall(r"\]\((?!https?:)([^)\s]*)\)", page.read_text("utf-8")):
            path, _, heading = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (heading and heading not in _headings(target)):
                lost.add(f"{page.relative_to(ROOT)}: {link}")

    assert "](docs/notes.md)" in TEXT
    assert lost == set()


def _headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.usefixtures("told")
def test_the_http_request_is_answered(system: Spawned) -> None:
    """W2: the curl line finds the key, asks, and gets the live memory with its reasons."""
    (block,) = (each for each in blocks("console", "docs/programs.md") if HTTP_ADDRESS in each)
    lines = re.findall(r"^\$ (.*)$", block, re.M)
    script = "\n".join(lines).replace(HTTP_ADDRESS, system.http_url)

    shown = block.split(lines[-1])[1]

    assert alike(run(system, ["bash", "-euo", "pipefail", "-c", script])) == alike(shown)


def test_what_streams_is_said_to_answer_501_over_http(system: Spawned) -> None:
    """W2: the page for programs names each call that the HTTP door does not take without more, and
    apart those whose replies it sends as lines."""
    streaming = {
        method.name: f"/{method.containing_service.full_name}/{method.name}"
        for service in services()
        for method in service.methods
        if method.client_streaming or method.server_streaming
    }
    lines, sent = (
        set(re.findall(r"`(\w+)`", TEXT.partition(before)[2].partition(")")[0]))
        for before in ("replies stream (", "sent a stream (")
    )

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

    assert answers == dict.fromkeys(lines | sent, 501)
    assert sent == {
        method.name
        for service in services()
        for method in service.methods
        if method.client_streaming
    }


def test_every_command_named_exists() -> None:
    """Style 19, W4: `concord WORD` on a page is a command."""
    named = set(re.findall(r"(?:`|^\$ )concord ([a-z-]+)", TEXT, re.M))

    assert named >= {"add", "list", "propose"}
    assert named <= set(typer.main.get_command(app).commands)  # type: ignore[attr-defined] # a group


@pytest.mark.usefixtures("told")
def test_the_python_example_runs(system: Spawned) -> None:
    """W4: the client finds the system and prints the answer with its reason."""
    printed = run(system, [sys.executable, "-c", blocks("python", "docs/programs.md")[1]])
    (shown,) = re.findall(r"^prints\n\n```\n(.*?)^```", TEXT, re.M | re.S)

    assert alike(printed) == alike(shown)


def test_every_setting_named_exists() -> None:
    """Style 19, W6: no page names a variable that nobody reads."""
    known = {f"GATEWAY_{name.upper()}" for name in Config.model_fields}
    known |= {f"GRAPH_{name.upper()}" for name in GraphConfig.model_fields}
    known |= {f"GRAPH_{name.upper()}" for name in StoreChoice.model_fields}
    of_governance = (governance_config.GovernanceConfig, governance_config.StoreChoice)
    known |= {f"GOVERNANCE_{name.upper()}" for each in of_governance for name in each.model_fields}
    known |= {value for name, value in vars(credentials).items() if name.endswith("_VARIABLE")}
    known.add(HTTP_VARIABLE)

    named = set(re.findall(r"\b(?:GATEWAY|CONCORD|GRAPH|GOVERNANCE)_[A-Z_]+", TEXT))

    assert named >= {"GATEWAY_TLS_CERT", "GRAPH_WORKING_MEMORY_CAPACITY"}
    assert named >= {"GOVERNANCE_STORE", "GOVERNANCE_SETTINGS_FILE"}
    assert named - known == set()


def test_every_make_target_named_exists() -> None:
    """Style 19: no page names a target that is not there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", TEXT, re.M))

    assert named >= {"run", "test"}
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.M), target


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
