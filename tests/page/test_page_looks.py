"""How the views look and whom they serve: no overflow, no serious finding of axe."""

from pathlib import Path

import pytest
from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import expect

AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
SCREENS = (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390))
VIEWS = (
    *("today", "memories", "memories?q=office", "memory/long", "graph", "graph/Ada", "conflicts"),
    *("graph?whole=1", "graph/memory:long"),
    *("claims", "proposals", "proposals/1", "audit", "system", "syntheses", "nowhere"),
)


@pytest.fixture(scope="module", autouse=True)
def filled(concord: CommandLine) -> None:
    """Long words, right-to-left text, a conflict, a claim, a chain."""
    word = "Donaudampfschifffahrtsgesellschaftskapitänsmützenhersteller"
    concord.done(
        "add", f"{word} " * 300, "--id", "long", "--fact", f"Ada|KNOWS|{word}", "--tag", word
    )
    concord.done("add", "שלום עולם: הפגישה ביום שלישי", "--id", "rtl")
    concord.done("add", "The office is in Kiel.", "--id", "office-1")
    concord.done("add", "The office is in Bremen.", "--id", "office-2", "--supersedes", "office-1")
    concord.done("link", "Ada", "LIVES_IN", "Bremen")
    concord.done("link", "memory:long", "CONTRADICTS", "memory:rtl")
    concord("--act-as", "agent", "add", "It is in Ulm.", "--id", "o-3", "--supersedes", "office-2")
    concord.done("propose", "add", "I keep promises.", "--constitutive")


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_nothing_sticks_out(scheme: str, width: int, sign_in: SignIn, running: System) -> None:
    """W5: in light and dark, on a desk and on a phone, with long words and right-to-left text."""
    page = sign_in(color_scheme=scheme, viewport={"width": width, "height": 900})

    wide = {}
    for name in VIEWS:
        view(page, running, name)
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if over > 0:
            wide[name] = over

    assert wide == {}


@pytest.mark.skipif(not AXE.exists(), reason="axe-core comes with npm, which is missing here")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(scheme: str, sign_in: SignIn, running: System) -> None:
    """W5: no serious or critical finding on any view."""
    page = sign_in(color_scheme=scheme, bypass_csp=True)
    page.add_init_script("window.trustedTypes?.createPolicy('default', {createScript: s => s})")

    found = {}
    for name in VIEWS:
        view(page, running, name)
        page.evaluate(AXE.read_text())
        report = page.evaluate("axe.run()")
        bad = [
            (each["id"], each["nodes"][0]["html"][:120])
            for each in report["violations"]
            if each["impact"] in {"serious", "critical"}
        ]
        if bad:
            found[name] = bad

    assert found == {}


def test_without_webgl_the_table_stands(sign_in: SignIn, running: System) -> None:
    """W5: the graph says so, and its table has the same edges."""
    page = sign_in()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")

    page.reload()
    view(page, running, "graph/Ada")

    page.get_by_text("This browser has no WebGL.").wait_for()
    page.locator("tr[data-row]").nth(1).wait_for()


def test_a_whole_space_is_drawn(sign_in: SignIn, running: System, concord: CommandLine) -> None:
    """W5: its edges in the drawing and in the table; what changes is said, and read when asked."""
    page = sign_in()
    view(page, running, "graph")
    page.get_by_role("link", name="Draw the whole space").click()
    page.get_by_role("heading", name="Graph of the whole space").wait_for()
    page.wait_for_function("() => performance.getEntriesByName('drawn').length")
    before = page.get_by_role("row").count()

    concord.done("link", "Ada", "OWNS", "a boat")
    page.get_by_role("button", name="Read it again").click(timeout=30_000)
    expect(page.get_by_role("row")).to_have_count(before + 1, timeout=30_000)

    assert page.locator(".canvas canvas").count() > 2
