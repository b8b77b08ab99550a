"""What happens on the page while it is open: others change things, and the connection goes away."""

import re
from pathlib import Path

from concord_testing.command_line import CommandLine
from concord_testing.scraping import free_port
from concord_testing.up_process import spawned
from page_views import SignIn, System, view
from playwright.sync_api import Browser, Page, expect
from two_signers import environ_of, proposal

PATIENCE = 30_000
BRIEFING = "/concord.governance.v1.ProposalService/GetBriefing"


def test_a_proposal_whose_base_changed_is_asked_again(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V3: what it is about changes while it is open: both bases are shown with their difference,
    and it is asked again, of what holds now, as a new revision."""
    concord.done("add", "The kiosk opens at seven.", "--id", "kiosk")
    made = proposal(concord, "propose", "update", "kiosk", "The kiosk opens at ten.")
    page = sign_in()
    view(page, running, f"proposals/{made.id}")
    expect(page.get_by_role("alert")).to_have_count(0)

    concord.done("update", "kiosk", "--content", "The kiosk opens at eight.")

    stale = page.get_by_role("alert", name="A stale base")
    expect(stale).to_contain_text("has changed since it was proposed", timeout=PATIENCE)
    expect(stale.locator("del")).to_have_text("seven.")
    expect(stale.locator("ins")).to_have_text("eight.")
    stale.get_by_role("button", name="Ask again").click()
    expect(page.locator(".meta").first).to_contain_text("revision 2")
    expect(stale).to_have_count(0)


def test_a_change_waits_while_somebody_types(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5: a field that is being filled in is not drawn anew; what changed is shown afterwards."""
    page = view(sign_in(), running, "memories")
    page.locator("main input[type=search]").focus()
    with page.expect_response(lambda reply: reply.url.endswith(BRIEFING), timeout=PATIENCE):
        concord.done("add", "The ferry is late.", "--id", "ferry")
    with page.expect_response(lambda reply: reply.url.endswith(BRIEFING), timeout=PATIENCE):
        expect(page.get_by_text("The ferry is late.")).to_have_count(0)

    page.evaluate("document.activeElement.blur()")

    page.get_by_text("The ferry is late.").first.wait_for(timeout=PATIENCE)


def test_a_notice_is_shown_where_somebody_wants_it(sign_in: SignIn, concord: CommandLine) -> None:
    """W5: what waits is counted in the title; a notice of the browser comes by switch alone."""
    proposal(concord, "propose", "add", "Trams are quiet.", "--constitutive")
    page = sign_in(permissions=["notifications"])
    page.add_init_script(
        "window.noticed = []; window.Notification = class extends Notification {"
        " constructor(title, said) { super(title, said); noticed.push(said.body); } }"
    )
    page.reload()
    expect(page).to_have_title(re.compile(r"^\(\d+\) "), timeout=PATIENCE)
    waiting = int(page.title().partition(")")[0].removeprefix("("))

    def one_more(text: str, now: int) -> list[str]:
        proposal(concord, "propose", "add", text, "--constitutive")
        expect(page).to_have_title(re.compile(rf"^\({now}\) "), timeout=PATIENCE)
        noticed: list[str] = page.evaluate("noticed")
        return noticed

    assert one_more("Bells are loud.", waiting + 1) == []
    page.get_by_role("button", name="Notices").click()
    expect(page.get_by_role("button", name="Notices")).to_have_attribute("aria-pressed", "true")
    said = [f"{waiting + 2} wait for a decision."]
    assert one_more("Ferries are slow.", waiting + 2) == said
    page.get_by_role("button", name="Notices").click()
    assert one_more("Kites are light.", waiting + 3) == said


def test_a_page_that_nobody_uses_asks_less(sign_in: SignIn) -> None:
    """W5: it looks for changes every four seconds, after two minutes alone every twenty, and not
    at all while it is hidden."""
    page = sign_in()
    page.clock.install()
    page.reload()
    page.get_by_role("heading", name="Today").wait_for()
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))

    def looks(seconds: int) -> int:
        asked.clear()
        page.clock.run_for(seconds * 1000)
        return sum(url.endswith(BRIEFING) for url in asked)

    assert 9 <= looks(40) <= 11
    looks(90)
    assert 2 <= looks(60) <= 4
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    assert looks(120) == 0


def test_a_system_that_was_away_is_found_again(tmp_path: Path, chromium: Browser) -> None:
    """W5 W7: the page says that nothing answers; once it does, the view is there again, with the
    same session and without a reload."""
    port, data = free_port(), tmp_path / "data"
    context = chromium.new_context()
    context.set_default_timeout(20_000)
    page = context.new_page()
    with spawned(data, port) as first:
        concord = CommandLine(environ_of(first, tmp_path))
        page.goto(concord.done("page", "--no-open").strip())
        page.get_by_role("heading", name="Today").wait_for()
    page.evaluate("window.stays = true")
    page.get_by_role("navigation").get_by_role("link", name="Claims").click()
    page.get_by_text("The gateway does not answer.").wait_for()

    with spawned(data, port) as second:
        assert second.http_url in page.url
        page.get_by_text("The gateway does not answer.").wait_for(state="detached")
        expect(page.get_by_text("No claim is here")).to_be_visible()
        assert page.evaluate("window.stays")
        context.close()


def test_what_waits_is_dashed_and_what_is_confirmed_solid(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 D5: the line between two memories, by the pixels of its row, and the table in words."""
    concord.done("add", "The pool is warm.", "--id", "pool-1")
    concord.done("add", "The pool is cold.", "--id", "pool-2")
    linked = concord("--act-as", "agent", "link", "memory:pool-1", "CONTRADICTS", "memory:pool-2")
    assert linked.exit_code == 0, linked.output
    page = sign_in(viewport={"width": 1000, "height": 900})

    view(page, running, "graph/memory:pool-1")
    expect(page.get_by_role("link", name="Review conflict?")).to_be_visible()
    dashes = _runs(page, "warn")
    page.get_by_role("link", name="Review conflict?").click()
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text("Confirmed.").wait_for()
    view(page, running, "graph/memory:pool-1")
    expect(page.get_by_text("CONTRADICTS")).to_be_visible()

    assert dashes > 8
    assert 1 <= _runs(page, "bad") <= 3


def _runs(page: Page, colour: str) -> int:
    """How many pieces the line of a colour has, in the row of pixels that has the most of it."""
    page.wait_for_timeout(300)
    shot = page.locator(".canvas").screenshot()
    counted: int = page.evaluate(COUNT, [list(shot), colour])
    return counted


COUNT = """async ([bytes, name]) => {
  const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], {type: "image/png"}));
  const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  context.fillStyle = style.getPropertyValue(`--${name}`).trim();
  context.fillRect(0, 0, 1, 1);
  const wanted = context.getImageData(0, 0, 1, 1).data;
  context.drawImage(image, 0, 0);
  let most = [0, 0];
  for (let y = 0; y < image.height; y++) {
    const row = context.getImageData(0, y, image.width, 1).data;
    let pixels = 0, runs = 0, was = false;
    for (let x = 0.42 * image.width | 0; x < 0.68 * image.width; x++) { // beside both names
      const is = [0, 1, 2].every((at) => Math.abs(row[4 * x + at] - wanted[at]) < 20);
      pixels += is;
      runs += is && !was;
      was = is;
    }
    if (pixels > most[0]) most = [pixels, runs];
  }
  return most[1];
}"""
