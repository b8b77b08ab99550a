"""`concord review`."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from concord_client.cli.governance.reviewed import agreeable, keep_reviewed
from concord_client.cli.governance.session import NumberArgument, Slot, governance_session
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session, write_line

if TYPE_CHECKING:
    from concord.governance.v1.proposal_pb2 import Proposal

    from concord_client.trust.review import Reviewed


def review(
    session: Session,
    number: NumberArgument,
    *,
    slot: Annotated[
        Slot, typer.Option("--as", case_sensitive=False, help="Who reads it, and may then sign it.")
    ] = Slot.HUMAN,
) -> None:
    """Show a proposal from its stored bytes, checked here: what a consent to it consents to.

    The digest of what was shown is kept: `approve` and `reject` sign that, and nothing else.
    """
    with governance_session(session) as governance:
        proposal, found = agreeable(governance, number)
        if session.as_json:
            stored = {"digest": found.digest, "canonical": found.canonical.decode()}
            terms = {**stored, "consent": _terms(found)}
            write_line(json.dumps(terms, indent=2, ensure_ascii=False))
        else:
            _show_review(found, proposal, governance.words(found))
        keep_reviewed(governance, slot, found)


def _show_review(found: "Reviewed", proposal: "Proposal", words: dict[str, str]) -> None:
    from concord_client.cli.render.proposal_page import noted, reviewed

    show(*reviewed(found, proposal, words))
    show("", text("A consent signs:", "bold"))
    show(text(json.dumps(_terms(found), indent=2, ensure_ascii=False, sort_keys=True)))
    show(text("with slot, principal and a nonce; `concord approve` shows the very bytes.", "dim"))
    show(*noted(found.document))


def _terms(found: "Reviewed") -> dict[str, object]:
    """The fields of a consent to this revision that do not depend on the signer, as JSON."""
    said = json.loads(found.payload("", "", b""))
    return {name: said[name] for name in said if name not in ("slot", "principal", "nonce")}
