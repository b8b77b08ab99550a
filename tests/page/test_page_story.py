"""A person's day on the page, in a real browser, against the embedded system."""

import re

import pytest
from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import Page, expect
from two_signers import approved, proposal


@pytest.mark.slow
def test_the_story(sign_in: SignIn, running: System, concord: CommandLine) -> None:
    """W5 V3: add, supersede, search, a conflict settled, a proposal that the agent signs at its
    command line and the person in the browser, executed, its audit proof checked, undone."""
    page = sign_in()
    page.on("dialog", lambda dialog: dialog.dismiss())

    _add(page, running, "The archive stands in Hamburg.")
    old = page.locator("article a[href^='#/memory/']").first.inner_text()
    view(page, running, f"memory/{old}")
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("What holds now").fill("The archive stands in Bremen.")
    page.get_by_role("dialog").get_by_role("button", name="Correct").click()
    page.get_by_role("heading", name="Lineage").wait_for()

    view(page, running, "memories?q=where does the archive stand")
    first = page.locator("article[data-row]").first
    expect(first).to_contain_text("The archive stands in Bremen.", timeout=20_000)
    expect(first).not_to_contain_text("Hamburg")

    _settle_a_conflict(page, running, concord)
    number = _sign_in_the_browser(page, running, concord)
    _undo(page, running, concord, number)


def _add(page: Page, running: System, text: str) -> None:
    view(page, running, "memories?add=1")
    page.get_by_label("What is to be remembered").fill(text)
    page.get_by_role("button", name="Remember").click()
    page.get_by_text("Remembered").wait_for()
    expect(page.locator("article[data-row]").first).to_contain_text(text)


def _settle_a_conflict(page: Page, running: System, concord: CommandLine) -> None:
    concord.done("add", "The gate closes at eight.", "--id", "gate-8", "--fact", "gate|CLOSES_AT|8")
    concord.done("add", "The gate closes at nine.", "--id", "gate-9")
    concord.done("link", "memory:gate-8", "CONTRADICTS", "memory:gate-9")
    view(page, running, "conflicts")
    card = page.locator("article").filter(has_text="The gate closes at eight.")
    card.get_by_role("button", name="Dismiss", exact=True).click()
    page.get_by_text("Dismissed. Press u to undo it.").wait_for()
    expect(card).to_have_count(0)
    page.keyboard.press("u")
    page.get_by_text("Reopened.").wait_for()
    expect(card).to_have_count(1)
    card.get_by_role("button", name="Exception").click()
    page.get_by_label("Why, or in which context both hold").fill("Summer and winter")
    page.get_by_role("button", name="Keep both").click()
    page.get_by_text("Kept as an exception.").wait_for()


def _sign_in_the_browser(page: Page, running: System, concord: CommandLine) -> int:
    """Makes the browser's key one of the person's, then decides about a change with it."""
    made = proposal(concord, "propose", "add", "I say when I am not sure.", "--constitutive")
    view(page, running, f"proposals/{made.id}")
    page.get_by_role("button", name="let this browser sign").click()
    page.get_by_label("Whose device this is").fill("Ada's laptop")
    page.get_by_role("button", name="Propose it").click()
    page.get_by_role("heading", name="change key").wait_for()
    key = int(re.findall(r"Proposal (\d+)", page.locator("h1").inner_text())[0])
    expect(page.get_by_text("Ada's laptop").first).to_be_visible()
    approved(concord, key, "agent")
    approved(concord, key, "human")
    beside = proposal(concord, "propose", "add", "I answer in two languages.", "--constitutive")
    approved(concord, beside.number, "human")  # the command line's key goes on signing

    view(page, running, f"proposals/{made.id}")
    _revised_behind_its_back(page, made.id)
    approved(concord, made.number, "agent")
    view(page, running, f"proposals/{made.number}")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.keyboard.press("b")
    shown = page.locator("details.bytes pre")
    expect(shown).to_contain_text("I say when I am not sure.")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("main .badge").first).to_have_text("executed")

    view(page, running, "audit?action=SMF_EXECUTE")
    expect(page.get_by_role("status").first).to_contain_text("verified")
    page.get_by_role("button", name="Check").first.click()
    expect(page.locator("td .badge.good")).to_have_text("holds")
    return made.number


def _revised_behind_its_back(page: Page, proposal_id: str) -> None:
    """Nothing is signed but what was shown: here the page does not hear of the revision before."""
    page.route("**/GetBriefing", lambda route: route.abort())
    page.route("**/ListOperations", lambda route: route.abort())
    page.evaluate(REVISE, proposal_id)
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("It changed while it was open. Read the difference first.").wait_for()
    expect(page.get_by_role("alert")).to_contain_text("The difference of the two bytes")
    expect(page.locator(".meta").first).to_contain_text("revision 2")
    expect(page.get_by_role("heading", name="Consents")).to_have_count(0)
    page.unroute("**/GetBriefing")
    page.unroute("**/ListOperations")


REVISE = """async (id) => {
  const { call, change } = await import("/page/calls.js");
  const { proposal } = await call("governance.ProposalService/GetProposal", { id });
  const { action } = JSON.parse(new TextDecoder().decode(
    Uint8Array.from(atob(proposal.canonical), (each) => each.charCodeAt(0))));
  action.add_memory.request_id = crypto.randomUUID();
  await change("governance.ProposalService/ReviseProposal",
    { proposalId: id, revision: proposal.revision, action, note: "Worded anew." });
}"""


def _undo(page: Page, running: System, concord: CommandLine, number: int) -> None:
    view(page, running, "proposals?status=EXECUTED")
    page.get_by_role("link", name=re.compile(f"^{number} ")).click()
    page.get_by_role("button", name="Propose its undo").click()
    page.get_by_role("heading", name=re.compile("undo")).wait_for()
    undo = int(re.findall(r"Proposal (\d+)", page.locator("h1").inner_text())[0])
    approved(concord, undo, "agent")
    page.reload()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("main .badge").first).to_have_text("executed")


@pytest.mark.slow
def test_a_browsers_key_is_taken_back(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V5: the page says whose device each key is on; one that is retired signs nothing more, and
    this browser makes itself another."""
    page = sign_in()
    row = page.locator("tr").filter(has_text="spare tablet")
    for turn in range(2):
        view(page, running, "system")
        page.get_by_role("button", name="Let this browser sign").click()
        page.get_by_label("Whose device this is").fill("spare tablet")
        page.get_by_role("button", name="Propose it").click()
        page.get_by_role("heading", name="change key").wait_for()
        _both_approve(page, concord)
        view(page, running, "system")
        expect(row).to_contain_text("this browser")
        if turn:
            break
        expect(row.get_by_role("button")).to_have_count(0)  # its own is another key's to take back
        label = row.locator("code").inner_text().removeprefix("concord ").split()
        concord.done(*label)
        view(page, running, "proposals")
        page.get_by_role("link", name=re.compile("change")).first.click()
        page.get_by_role("heading", name="change key").wait_for()
        _both_approve(page, concord)

    others = page.locator("tr").filter(has_text="of the genesis").filter(has_text="human")
    expect(others.get_by_role("button", name="Take it back")).to_be_visible()
    others.get_by_role("button", name="Take it back").click()
    page.get_by_role("dialog").get_by_role("button", name="Leave it").click()
    row.locator("code").first.wait_for()
    concord.done(*row.locator("code").inner_text().removeprefix("concord ").split())
    view(page, running, "proposals")
    page.get_by_role("link", name=re.compile("change")).first.click()
    page.get_by_role("heading", name="change key").wait_for()
    _both_approve(page, concord)
    view(page, running, "system")
    expect(page.get_by_text("spare tablet")).to_have_count(0)


def _both_approve(page: Page, concord: CommandLine) -> None:
    number = int(re.findall(r"Proposal (\d+)", page.locator("h1").inner_text())[0])
    approved(concord, number, "agent")
    approved(concord, number, "human")
