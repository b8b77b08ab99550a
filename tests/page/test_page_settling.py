"""What disagrees is settled on the page: which side gives way, and what is asked."""

import re

import pytest
from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import expect


def test_what_depends_on_the_side_that_gave_way_is_shown(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 D5 D12: what was derived from the side is listed, and one key takes it all back."""
    concord.done("add", "The well is deep.", "--id", "well-1")
    concord.done("add", "The well is shallow.", "--id", "well-2")
    concord.done("add", "Bring a long rope.", "--id", "rope", "--derived-from", "well-1")
    concord.done("link", "memory:well-1", "CONTRADICTS", "memory:well-2")
    page = view(sign_in(), running, "conflicts")
    card = page.locator("article").filter(has_text="The well is deep.")

    card.get_by_role("button", name="First gives way…").click()
    page.get_by_role("dialog").get_by_role("button", name="Resolve").click()

    page.get_by_text("Resolved. Press u to undo it.").wait_for()
    expect(page.get_by_role("region", name="What depends on it")).to_contain_text("rope")
    expect(card).to_have_count(0)
    page.keyboard.press("u")
    expect(card).to_have_count(1)
    expect(page.get_by_role("region", name="What depends on it")).to_have_count(0)


def test_findings_of_a_rule_are_dismissed_together(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 D5: grouped by their rule, by the address by their run; one look dismisses them all."""
    for at in range(3):
        concord.done("add", f"The lamp in room {at} is switched on.", "--id", f"lamp-{at}")
        concord.done("add", f"The lamp in room {at} is not switched on.", "--id", f"off-{at}")
    concord("check", "--yes")
    page = view(sign_in(), running, "conflicts")
    lamps = page.locator("article").filter(has_text="The lamp in room")
    expect(lamps).to_have_count(3)
    expect(lamps.first.locator("mark").first).to_be_visible()
    expect(lamps.first).to_contain_text("learnt ")
    expect(page.get_by_role("heading", name=re.compile("of the rule negation"))).to_be_visible()
    page.get_by_label("Together by").select_option("RUN")
    expect(page.get_by_role("heading", name=re.compile("of the run"))).to_be_visible()

    page.get_by_label("Together by").select_option("")
    page.get_by_role("button", name="Dismiss all…").first.click()
    page.get_by_label("Why").fill("They are switched all day.")
    page.get_by_role("dialog").get_by_role("button", name="Dismiss all").click()

    page.get_by_text(re.compile(r"\d+ dismissed, 0 left")).wait_for()
    expect(lamps).to_have_count(0)


def test_somebody_says_which_side_is_older(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 D5: a conflict becomes an evolution with the older side that was chosen, not with any."""
    concord.done("add", "The mill grinds rye.", "--id", "mill-1")
    concord.done("add", "The mill grinds wheat.", "--id", "mill-2")
    concord.done("link", "memory:mill-1", "CONTRADICTS", "memory:mill-2")
    page = view(sign_in(), running, "conflicts")
    card = page.locator("article").filter(has_text="The mill grinds rye.")

    card.get_by_label("Class").select_option("evolution: the second is older")

    page.get_by_text("Now evolution.").wait_for()
    expect(card.get_by_role("region", name="The older side")).to_contain_text("wheat")
    expect(card.get_by_label("Class")).to_have_value("evolution: the second is older")


def test_a_key_settles_what_was_chosen_and_nothing_else(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5: where several conflicts are shown and none is chosen, a letter settles none of them."""
    for name in ("oak", "elm"):
        concord.done("add", f"The {name} is old.", "--id", f"{name}-1")
        concord.done("add", f"The {name} is young.", "--id", f"{name}-2")
        concord.done("link", f"memory:{name}-1", "CONTRADICTS", f"memory:{name}-2")
    page = view(sign_in(), running, "conflicts")
    cards = page.locator("article[data-row]")
    cards.nth(1).wait_for()
    before = cards.count()

    page.keyboard.press("r")
    page.get_by_text("Choose a row first").wait_for()
    expect(cards).to_have_count(before)
    page.keyboard.press("j")
    page.keyboard.press("r")

    page.get_by_text("Dismissed. Press u to undo it.").wait_for()
    expect(cards).to_have_count(before - 1)


def test_a_claim_shows_what_it_asks(sign_in: SignIn, running: System, concord: CommandLine) -> None:
    """W5 W9: what accepting a claim would run, where no new item says it."""
    concord.done("add", "The ford is passable.", "--id", "ford")
    claimed = concord("--act-as", "agent", "forget", "ford")
    assert "Claim" in claimed.output

    page = view(sign_in(), running, "claims?item=ford")

    asks = page.get_by_role("region", name="What accepting does")
    expect(asks).to_contain_text("forget memory")
    expect(asks).to_contain_text("ford")


@pytest.mark.parametrize("name", ["memories?kind=PLAN", "audit?action=SMF_EXECUTE"])
def test_a_filter_follows_the_address(name: str, sign_in: SignIn, running: System) -> None:
    """W5: the filter that is shown is the one that holds, after "back" too."""
    page = view(sign_in(), running, name.partition("?")[0])
    filtered = page.locator("main select").first
    filtered.select_option(name.partition("=")[2])
    page.wait_for_url(f"**/#/{name}")

    page.go_back()
    expect(filtered).to_have_value("")
    page.go_forward()

    expect(filtered).to_have_value(name.partition("=")[2])
