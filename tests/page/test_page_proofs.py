"""What the page checks itself: a server that lies about the log, or about bytes, is found out."""

import base64
import json
from collections.abc import Callable
from typing import Any

from concord_testing.command_line import CommandLine
from page_views import SignIn, System, view
from playwright.sync_api import Page, Route, expect
from two_signers import proposal

AUDIT = "**/concord.governance.v1.AuditService"


def lying(page: Page, method: str, lie: Callable[[Any], object]) -> None:
    """Lets a method's replies reach the page only after `lie` has changed them."""

    def answer(route: Route) -> None:
        reply = route.fetch()
        said = json.loads(reply.text())
        lie(said)
        route.fulfill(response=reply, body=json.dumps(said))

    page.route(method, answer)


def flipped(text: str) -> str:
    """Base64 of the same bytes but for one bit."""
    data = bytearray(base64.b64decode(text))
    data[0] ^= 1
    return base64.b64encode(data).decode()


def test_a_proof_that_leads_elsewhere_fails(sign_in: SignIn, running: System) -> None:
    """W5 A2: one bit of one hash of an inclusion proof."""
    page = sign_in()

    def lie(said: Any) -> None:
        said["hashes"][0] = flipped(said["hashes"][0])

    view(page, running, "audit")
    page.get_by_role("button", name="Check").first.click()
    expect(page.locator("td .badge.good")).to_have_text("holds")
    lying(page, f"{AUDIT}/GetInclusionProof", lie)
    page.get_by_role("button", name="Check").first.click()
    page.locator("td .badge.bad", has_text="fails").wait_for()


def test_a_checkpoint_that_the_log_did_not_sign_is_not_believed(
    sign_in: SignIn, running: System
) -> None:
    """W5 A2: a larger tree under the same signature."""
    page = sign_in()

    def lie(said: Any) -> None:
        origin, size, *rest = said["checkpoint"].split("\n")
        said["checkpoint"] = "\n".join([origin, str(int(size) + 1), *rest])

    lying(page, f"{AUDIT}/GetCheckpoint", lie)
    view(page, running, "audit")

    expect(page.get_by_role("status").first).to_contain_text("signature is not by this log's key")


def test_a_log_that_does_not_continue_is_noticed(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 A2: against the checkpoint that this browser saw last."""
    page = sign_in()
    view(page, running, "audit")
    expect(page.get_by_role("status").first).to_contain_text("verified")
    proposal(concord, "propose", "add", "The log grows.", "--constitutive")

    def lie(said: Any) -> None:
        said["hashes"][-1] = flipped(said["hashes"][-1])

    lying(page, f"{AUDIT}/GetConsistencyProof", lie)
    page.reload()
    view(page, running, "audit")

    expect(page.get_by_role("status").first).to_contain_text("does not continue the log")


def test_other_bytes_than_the_digest_names_are_not_shown(
    sign_in: SignIn, running: System, concord: CommandLine
) -> None:
    """W5 V3: a proposal whose bytes were changed on the way is neither shown nor signed."""
    made = proposal(concord, "propose", "add", "I am patient.", "--constitutive")
    page = sign_in()

    def lie(said: Any) -> None:
        text = base64.b64decode(said["proposal"]["canonical"]).replace(b"patient", b"pliable")
        said["proposal"]["canonical"] = base64.b64encode(text).decode()

    lying(page, "**/concord.governance.v1.ProposalService/GetProposal", lie)
    page.goto(f"{running.http_url}/#/proposals/{made.id}")

    expect(page.get_by_role("alert")).to_contain_text("another digest than it names")
    expect(page.get_by_text("pliable")).to_have_count(0)
