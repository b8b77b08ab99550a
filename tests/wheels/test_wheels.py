"""The wheels of `make wheels`, installed by pip into empty environments, without this checkout."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord_testing.scraping import free_port

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
pytestmark = [pytest.mark.wheels, pytest.mark.timeout(900)]


def environment(folder: Path, distribution: str) -> Path:
    """Return the programs' folder of a new environment with one distribution and its needs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin/pip"), "install", "-q", "--disable-pip-version-check"]
    found = ["--find-links", str(DIST), "-c", str(DIST / "constraints.txt")]
    subprocess.run([*pip, *found, distribution], check=True, cwd=folder)
    return folder / "bin"


KEPT_BY_LANGGRAPH = """
from concord_client import Concord
from concord_client.langgraph import ConcordStore

with Concord.connect() as concord:
    store = ConcordStore(concord)
    store.put(("boats",), "one", {"text": "The boat is red."})
    print(store.search(("boats",), query="what colour is the boat?")[0].value["text"])
"""


def said(*command: str | Path, cwd: Path, data: Path) -> str:
    """Run a program outside the checkout; return what it printed."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(cwd), "CONCORD_DATA": str(data)}
    ran = subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with all of Concord."""
    return environment(tmp_path_factory.mktemp("whole"), "concord-embedded")


@pytest.fixture(scope="module")
def data(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data directory of a system that runs from the wheels."""
    folder = tmp_path_factory.mktemp("data")
    command = [str(whole / "concord"), "up", "--data", str(folder), "--port", str(free_port())]
    with (folder / "output").open("w+") as output:
        up = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        try:
            until = time.monotonic() + 120
            while "is ready" not in (said_so := (folder / "output").read_text("utf-8")):
                assert up.poll() is None, said_so
                assert time.monotonic() < until, said_so
                time.sleep(0.1)
            yield folder
        finally:
            up.terminate()
            up.wait(60)


def test_the_page_s_example_runs_from_the_wheels(whole: Path, data: Path, tmp_path: Path) -> None:
    """W4 "Use it in your project" for programs, in an environment that never saw the checkout."""
    page = (ROOT / "docs" / "programs.md").read_text("utf-8")
    section = page.partition("## Use it in your project")[2].partition("\n## ")[0]
    (program,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (printed,) = re.findall(r"prints `(.*?)`", section)

    assert said(whole / "python", "-c", program, cwd=tmp_path, data=data) == f"{printed}\n"
    located = "import concord_graph, concord_client; print(concord_graph.__file__)"
    assert str(ROOT) not in said(whole / "python", "-c", located, cwd=tmp_path, data=data)
    packages = said(whole / "pip", "list", cwd=tmp_path, data=data)
    assert "torch" not in packages


def test_the_parser_loads_from_the_wheels(whole: Path, tmp_path: Path) -> None:
    """W4 The model's wheel, which is written anew without what it declares, has its files."""
    program = "from concord_reading import parser; print(parser.load()('It rains.')[1].lemma_)"

    assert said(whole / "python", "-c", program, cwd=tmp_path, data=tmp_path) == "rain\n"


def test_the_client_alone_reaches_a_running_system(data: Path, tmp_path: Path) -> None:
    """W4 The client's wheel needs contracts and attestation only, and names what `up` needs."""
    alone = environment(tmp_path / "client", "concord-client")

    assert said(alone / "concord", "add", "A boat.", "--id", "boat", cwd=tmp_path, data=data)
    assert "A boat." in said(alone / "concord", "get", "boat", cwd=tmp_path, data=data)
    ours = re.findall(r"(?m)^concord-\w+", said(alone / "pip", "list", cwd=tmp_path, data=data))
    assert ours == ["concord-attestation", "concord-client", "concord-protos"]
    refused = subprocess.run(
        [alone / "concord", "up"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert refused.returncode == 1
    assert "install concord-embedded" in refused.stderr + refused.stdout
    imported = subprocess.run(
        [alone / "python", "-c", "import concord_client.langgraph"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert imported.stderr.endswith("pip install 'concord-client[langgraph]'\n")


def test_the_store_for_langgraph_is_an_extra(data: Path, tmp_path: Path) -> None:
    """W4 Its import needs no checkout and nothing to copy."""
    extra = environment(tmp_path / "extra", "concord-client[langgraph]")

    kept = said(extra / "python", "-c", KEPT_BY_LANGGRAPH, cwd=tmp_path, data=data)
    assert kept == "The boat is red.\n"
