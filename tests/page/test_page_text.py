"""Nothing that is stored is ever markup."""

import json

import pytest
from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import Page

HOSTILE = (
    "<img src=x onerror='window.owned=1'>",
    "<script>window.owned=1</script>",
    "<svg onload='window.owned=1'>",
    "javascript:window.owned=1",
    "{{constructor.constructor('window.owned=1')()}} ${window.owned=1}",
    "a" + "\u0301" * 10_000,
    "\u202e\u2066 bidi \u2069\u202c",
)
VIEWS = (
    *("today", "memories", "memories?q=owned", "memory/hostile-0", "graph", "conflicts", "claims"),
    *("proposals", "audit", "system", "syntheses"),
)


@pytest.fixture(scope="module", autouse=True)
def hostile(concord: CommandLine) -> None:
    """Memories, facts, sources, tags, sessions, edges, conflicts and proposals with such words."""
    for number, text in enumerate(HOSTILE):
        name = text[:200]
        concord.done(
            *("add", text, "--id", f"hostile-{number}", "--tag", name[:60], "--domain", "x"),
            *("--source", name[:100], "--session", f"session {name[:60]}"),
        )
        concord.done("link", name, "KNOWS", f"other {name[:50]}")
    concord.done("link", "memory:hostile-0", "CONTRADICTS", "memory:hostile-1")
    concord.done("propose", "add", HOSTILE[0], "--note", "quoted <b>", "--constitutive")


@pytest.mark.parametrize("name", [*VIEWS, f"graph/{HOSTILE[0]}"])
def test_stored_text_is_text(name: str, sign_in: SignIn, running: System) -> None:
    """W5 W6: no element, script or address comes from what is stored, in any view."""
    page = sign_in()

    view(page, running, name)

    assert page.evaluate("window.owned") is None
    assert page.locator("main img, main script, main svg, main iframe").count() == 0
    assert _addresses(page) <= {"#", "blob:"}


def _addresses(page: Page) -> set[str]:
    """How the addresses of links begin."""
    found = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
    return {"#" if each.startswith("#") else json.dumps(each[:20]) for each in found}
