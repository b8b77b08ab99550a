"""What somebody sees of a proposal before they decide: what it asks for, to its last word."""

import re
from pathlib import Path

import concord_gateway
import pytest
from concord.governance.v1 import audit_pb2, proposal_pb2
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import expect
from two_signers import proposal

VIEWS = Path(concord_gateway.__file__).parent / "page/views"
LONG = " ".join(f"word{at}" for at in range(1500))


def test_a_change_at_the_end_of_a_long_text_is_shown(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V3: the difference of what is asked for, and of versions, leaves out nothing that differs,
    of an item too of which the signed bytes have no words."""
    concord.done("add", f"{LONG} so it is open.", "--id", "long-end")
    made = proposal(concord, "propose", "update", "long-end", f"{LONG} so it is shut.")
    page = sign_in()

    view(page, running, f"proposals/{made.id}")
    asked = page.get_by_role("region", name="What is asked for")
    expect(asked.locator("del")).to_have_text("open.")
    expect(asked.locator("ins")).to_have_text("shut.")
    expect(asked).to_contain_text("words that stay")

    concord.done("update", "long-end", "--content", f"{LONG} so it is ajar.")
    view(page, running, "memory/long-end")
    expect(page.locator("main ins")).to_have_text("ajar.")


def test_what_becomes_constitutive_is_shown(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V3: a change that leaves the words alone is shown as what it is; and so is an erasure."""
    concord.done("add", "I answer briefly.", "--id", "brief")
    promoted = proposal(concord, "propose", "promote", "brief")
    erased = proposal(concord, "propose", "erase", "brief")
    page = sign_in()

    view(page, running, f"proposals/{promoted.id}")
    asked = page.get_by_role("region", name="What is asked for")
    expect(asked).to_contain_text("edge type")
    expect(asked.locator("del")).to_have_text("descriptive")
    expect(asked.locator("ins")).to_have_text("constitutive")

    view(page, running, f"proposals/{erased.id}")
    expect(asked).to_contain_text("erase memory")
    expect(page.get_by_text("I answer briefly.")).to_be_visible()


def test_keys_go_to_both_decisions_and_make_none(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V3: a and r go to their buttons; nothing is decided by a single key."""
    made = proposal(concord, "propose", "add", "I read slowly.", "--constitutive")
    page = view(sign_in(), running, f"proposals/{made.id}")
    page.get_by_role("heading", name="Your decision").wait_for()

    page.keyboard.press("a")
    expect(page.locator("[data-key=approve]")).to_be_focused()
    page.keyboard.press("r")
    expect(page.locator("[data-key=reject]")).to_be_focused()

    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_proposal_that_is_not_there_is_said_to_be_missing(
    sign_in: SignIn, running: System
) -> None:
    """W5: its view does not load for ever."""
    page = view(sign_in(), running, "proposals/99999")

    expect(page.get_by_text("There is no such proposal in this space.")).to_be_visible()


@pytest.mark.parametrize(
    ("module", "name", "kinds"),
    [
        ("audit", "ACTIONS", audit_pb2.AuditAction),
        ("audit", "ACTORS", type_pb2.PrincipalKind),
        ("conflicts", "STATES", conflict_pb2.ConflictState),
        ("memories", "KINDS", type_pb2.MemoryKind),
        ("memories", "ORIGINS", type_pb2.Origin),
        ("proposals", "STATUSES", proposal_pb2.ProposalStatus),
    ],
)
def test_filters_offer_all_that_the_contract_knows(module: str, name: str, kinds: object) -> None:
    """W5: no kind of entry is there that no filter finds."""
    found = re.search(rf"const {name} = \[(.*?)\];", (VIEWS / f"{module}.js").read_text(), re.S)
    assert found
    offered = set(re.findall(r'"(\w+)"', found[1]))
    keys = kinds.keys()  # type: ignore[attr-defined] # protobuf's own wrapper
    prefix = keys[0].removesuffix("UNSPECIFIED")

    assert offered == {each.removeprefix(prefix) for each in keys[1:]}
