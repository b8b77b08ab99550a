"""One memory and what is around it, and the way to more of its kind."""

import json
import re
from pathlib import Path

from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import expect
from two_signers import approved, proposal


def test_a_lineage_says_what_replaced_what_and_what_is_only_claimed(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 T4: each item of a chain with what it does to which one; a claim does nothing yet."""
    concord.done("add", "The press is in Ulm.", "--id", "press-1", "--valid-from", "2025-01-01")
    concord.done("add", "The press is in Jena.", "--id", "press-2", "--supersedes", "press-1")
    claim = ("add", "The press is in Rome.", "--id", "press-3", "--supersedes", "press-2")
    claimed = concord("--act-as", "agent", *claim)
    assert claimed.exit_code == 0, claimed.output
    page = view(sign_in(), running, "memory/press-2")
    chain = page.locator("ol.timeline > li")

    expect(chain).to_have_count(3)
    second, third = (chain.filter(has_text=town) for town in ("Jena", "Rome"))
    expect(second).to_contain_text("supersedes press-1")
    expect(second.get_by_text("claimed, not settled")).to_have_count(0)
    expect(third).to_contain_text("supersedes press-2")
    expect(third.get_by_text("claimed, not settled")).to_be_visible()


def test_a_lineage_and_a_graph_are_saved_for_graphviz(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5: DOT of the chain, and of the edges that are shown, with quotation marks in names."""
    concord.done("add", "The quay is wet.", "--id", "quay-1")
    concord.done("add", "The quay is dry.", "--id", "quay-2", "--supersedes", "quay-1")
    concord.done("link", 'The "Quay"', "PART_OF", "The Port")
    page = sign_in()

    saved = {}
    for name in ("memory/quay-2", "graph/The Port"):
        view(page, running, name)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as DOT").click()
        saved[name] = download.value.path().read_text()

    assert '"quay-2" -> "quay-1" [label="SUPERSEDES"];' in saved["memory/quay-2"]
    assert '"The \\"Quay\\"" -> "The Port" [label="PART_OF"];' in saved["graph/The Port"]


def test_to_whom_it_was_returned_is_said(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 M10: while the log is off that is said, not left out; then who asked is listed."""
    concord.done("add", "The sluice opens on Fridays.", "--id", "sluice")
    page = view(sign_in(), running, "memory/sluice")
    expect(page.get_by_text("The recall log of this space is off")).to_be_visible()

    concord.done("recall", "on")
    concord.done("search", "when does the sluice open")

    page.reload()
    returned = page.locator("table").filter(has_text="Session")
    expect(returned).to_contain_text("owner", timeout=30_000)
    concord.done("recall", "off")


def test_a_tag_leads_to_all_that_have_it(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5: tags and domains are filters in the address."""
    for name in ("anvil", "bellows"):
        concord.done("add", f"The {name} is hot.", "--id", name, "--tag", "forge")
    concord.done("add", "The rain is cold.")
    page = view(sign_in(), running, "memory/anvil")

    page.get_by_role("link", name="forge").click()
    page.get_by_role("heading", name="Memories").wait_for()

    found = page.locator("article[data-row]")
    expect(found).to_have_count(2)
    page.get_by_role("button", name=re.compile("tag forge")).click()
    expect(found.nth(2)).to_be_visible()


def test_today_says_how_much_more_waits_and_for_how_long(
    sign_in: SignIn, concord: CommandLine
) -> None:
    """W5: what is not in the short list is counted; what waits ends in hours, not in "2 days"."""
    for at in range(5):
        concord.done("propose", "add", f"I count to {at}.", "--constitutive")
    page = sign_in()

    expect(page.get_by_role("link", name=re.compile(r"and \d+ more")).first).to_be_visible()
    expect(page.get_by_text(re.compile(r"^in 47 hours$")).first).to_be_visible()


def test_a_version_says_what_it_changed_beside_the_words(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5: tags, importance and forgetting are differences of versions, too."""
    concord.done("add", "The loft is dry.", "--id", "loft")
    concord.done("update", "loft", "--importance", "HIGH")
    concord.done("forget", "loft")
    page = view(sign_in(), running, "memory/loft")
    versions = page.locator("article").filter(has_text="Revision")

    expect(versions).to_have_count(3)
    expect(versions.nth(1).locator("ins")).to_have_text("high")
    expect(versions.nth(2)).to_contain_text("forget time")


def test_what_was_opened_stays_when_something_changes(
    sign_in: SignIn, running: System, concord: CommandLine, tmp_path: Path
) -> None:
    """W5: a change elsewhere does not fold a list back to its first page."""
    lines = "\n".join(f'{{"content": "Stone {at} is grey."}}' for at in range(30))
    (tmp_path / "stones.jsonl").write_text(lines)
    imported = concord("import", "--format", "jsonl", str(tmp_path / "stones.jsonl"))
    assert imported.exit_code == 0, imported.output
    page = view(sign_in(), running, "memories")
    rows = page.locator("article[data-row]")
    expect(rows).to_have_count(25)
    page.get_by_role("button", name="More", exact=True).click()
    expect(rows.nth(25)).to_be_visible()
    shown = rows.count()

    concord.done("add", "A pebble is new.")

    page.get_by_text("A pebble is new.").first.wait_for(timeout=30_000)
    assert rows.count() >= shown


def test_a_time_that_is_none_is_refused_in_words(sign_in: SignIn, running: System) -> None:
    """W5: an address with a wrong time shows what is wrong, and the way back to now."""
    page = sign_in()

    page.goto(f"{running.http_url}/#/memories?held=tomorrow")

    expect(page.get_by_role("alert")).to_contain_text("valid_time")
    page.get_by_role("button", name="Back to now").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_refusal_stays_until_something_is_done_again(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V3: what cannot be forgotten alone is said, and no look for changes takes it away."""
    made = proposal(concord, "propose", "add", "I keep what I say.", "--constitutive")
    approved(concord, made.number, "agent")
    approved(concord, made.number, "human")
    known = json.loads(concord.done("list", "--json"))["memories"]
    memory = next(each["id"] for each in known if each["content"] == "I keep what I say.")
    page = view(sign_in(), running, f"memory/{memory}")

    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("alert")).to_contain_text("consent of both principals")
    concord.done("add", "Something else is new.")

    with page.expect_response(lambda reply: reply.url.endswith("/GetMemory"), timeout=30_000):
        pass
    expect(page.get_by_role("alert")).to_contain_text("consent of both principals")


def test_what_did_not_hold_then_is_said(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 T1: at a time before its own a memory, and the head of a chain, does not seem to hold."""
    concord.done("add", "The weir is old.", "--id", "weir-1", "--valid-from", "2024-01-01")
    new = ("--id", "weir-2", "--valid-from", "2026-01-01", "--supersedes", "weir-1")
    concord.done("add", "The weir is new.", *new)
    page = sign_in()

    view(page, running, "memory/weir-2?held=2025-06-01T00:00")
    expect(page.locator("article .badge").get_by_text("did not hold yet")).to_be_visible()
    view(page, running, "memory/weir-2")
    expect(page.locator("li.head").get_by_text("holds", exact=True)).to_be_visible()


def test_a_key_to_add_leads_to_the_words(sign_in: SignIn) -> None:
    """W5: after `a` somebody can type at once."""
    page = sign_in()
    page.keyboard.press("2")
    page.get_by_role("heading", name="Memories").wait_for()
    page.get_by_role("button", name="Add a memory").wait_for()

    page.keyboard.press("a")

    expect(page.get_by_label("What is to be remembered")).to_be_focused()
