"""The page by keyboard, and what ends a session."""

import pytest
from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import expect


def test_keys_alone_will_do(sign_in: SignIn, concord: CommandLine) -> None:
    """W5: views by number, rows by j and k, Enter opens, `?` lists the keys, `/` searches."""
    concord.done("add", "Keyboards are enough.", "--id", "by-keys")
    page = sign_in()

    page.keyboard.press("2")
    page.get_by_role("heading", name="Memories").wait_for()
    page.locator("article[data-row]").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Memories").wait_for(state="detached")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("next row")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.press("/")
    page.keyboard.type("are keyboards enough?")
    page.keyboard.press("Enter")
    expect(page.locator("article[data-row]").first).to_contain_text("Keyboards are enough.")


def test_signing_out_ends_it(sign_in: SignIn, running: System) -> None:
    """W5 W7: the form to sign in is back, and the address opens nothing any more."""
    page = sign_in()

    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in to Concord").wait_for()
    page.goto(f"{running.http_url}/#/memories")
    page.reload()

    expect(page.get_by_role("heading", name="Sign in to Concord")).to_be_visible()


def test_two_tabs_have_a_session_each(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 W7: signing in and out in a second tab of the same browser leaves the first one alone."""
    first = sign_in()
    second = first.context.new_page()
    second.goto(concord.done("page", "--no-open").strip())
    second.get_by_role("heading", name="Today").wait_for()

    second.get_by_role("button", name="Sign out").click()
    second.get_by_role("heading", name="Sign in to Concord").wait_for()
    view(first, running, "memories")

    expect(first.get_by_role("button", name="Add a memory")).to_be_visible()


def test_a_revoked_key_ends_it(sign_in: SignIn, running: System, concord: CommandLine) -> None:
    """W7: within five seconds of the revocation the page asks to sign in."""
    made = concord.done(
        "key", "create", "--principal", "guest", "--kind", "human", "--scopes", "read"
    )
    key = next(word for word in made.split() if word.startswith("ck_"))
    page = sign_in()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Today").wait_for()
    assert page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])").count(key) == 0
    view(page, running, "memories")
    assert page.get_by_role("button", name="Add a memory").count() == 0  # it may only read
    listed = concord.done("key", "list")
    guest = next(line.split()[0] for line in listed.splitlines() if "guest" in line)

    concord.done("key", "revoke", guest)

    for _ in range(12):
        page.wait_for_timeout(500)
        page.keyboard.press("1")
        page.keyboard.press("2")
        if page.get_by_role("heading", name="Sign in to Concord").count():
            return
    pytest.fail("The page still shows the space.")


def test_a_lost_connection_comes_back(sign_in: SignIn, running: System) -> None:
    """W5: the page says that the gateway does not answer; once it does, the next read works."""
    page = sign_in()

    page.context.set_offline(True)
    page.goto(f"{running.http_url}/#/memories?kind=PLAN")
    page.get_by_text("The gateway does not answer.").wait_for()
    page.context.set_offline(False)
    view(page, running, "memories")

    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_past_is_never_forgotten_silently(sign_in: SignIn, running: System) -> None:
    """W5: the chosen time stays over views, is named in each, and nothing can be changed there."""
    page = sign_in()

    view(page, running, "memories?known=2020-01-01T00:00")
    for name in ("Conflicts", "Memories", "Graph"):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_text("You look at a past")).to_be_visible()
    for name in ("Proposals", "Claims", "System"):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_text("This view has no past")).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Audit", exact=True).click()
    expect(page.get_by_text("it ends here at what was known then")).to_be_visible()
    expect(page.get_by_text("No entry passes these filters.")).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Memories", exact=True).click()
    expect(page.get_by_text("No memory passes these filters.")).to_be_visible()
    assert page.get_by_role("button", name="Add a memory").count() == 0
