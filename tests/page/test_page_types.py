"""The page's JSDoc holds, as TypeScript's compiler reads it."""

import subprocess
from pathlib import Path

import concord_gateway
import pytest

PAGE = Path(concord_gateway.__file__).parent / "page"
TSC = Path(__file__).parent / "node_modules/typescript/bin/tsc"


@pytest.mark.skipif(not TSC.exists(), reason="typescript comes with npm, which is missing here")
def test_types() -> None:
    """W5: all modules of the page."""
    done = subprocess.run(
        ["node", str(TSC), "-p", str(PAGE / "jsconfig.json")],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.stdout + done.stderr == ""


def test_no_view_is_long() -> None:
    """W5: no module of the page has more than 300 lines."""
    modules = [*PAGE.glob("*.js"), *PAGE.glob("views/*.js")]

    assert len(modules) > 10
    assert {each.name for each in modules if len(each.read_text().splitlines()) > 300} == set()
