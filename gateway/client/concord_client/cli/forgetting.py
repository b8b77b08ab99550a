"""`concord erase --subject NAME` and its like: forgetting somebody whole, after a look."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from concord.type.v1.type_pb2 import LOOKUP_STATUS_FOUND
from google.protobuf.json_format import MessageToDict

from concord_client import private_files
from concord_client.cli.errors import CommandError
from concord_client.cli.render.erasure_page import show_look, show_receipt
from concord_client.cli.render.page import show, text
from concord_client.cli.session import Session, write_line
from concord_client.credentials import Role
from concord_client.names import Names

if TYPE_CHECKING:
    from concord.governance.v1.proposal_pb2 import Proposal
    from concord.graph.v1 import erasure_pb2

    from concord_client.client import Client

RECEIPT_TIMEOUT = 600.0
"""Seconds that the command waits until every store has confirmed."""
LOOK_TIMEOUT = 600.0
"""Seconds that a look may take: it reads the whole space."""
_PART_TIMEOUT = 60.0
"""Seconds of one part of the erasure."""


@dataclass(frozen=True)
class Wanted:
    """Whom to forget, and how far: `by` is the contract's field."""

    by: str
    name: str
    also: tuple[str, ...] = ()
    mentions: bool = False
    shared: bool = False

    def selection(self) -> "erasure_pb2.Selection":
        """The contract's selection."""
        from concord.graph.v1 import erasure_pb2

        return erasure_pb2.Selection(**{self.by: self.name}, also=self.also)

    def options(self) -> "erasure_pb2.ErasureOptions":
        """The contract's options."""
        from concord.graph.v1 import erasure_pb2

        return erasure_pb2.ErasureOptions(mentions=self.mentions, shared=self.shared)


@dataclass(frozen=True)
class Proposals:
    """The proposals that name whom to forget: those to erase the words of, and those that stay."""

    erased: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def look(session: Session, wanted: Wanted) -> None:
    """Print what an erasure would take and what would stay; change nothing."""
    with session.client(Role.ADMIN) as client:
        seen = _look(client, wanted)
        proposals = _proposals(client, wanted)
    digest = _joined(seen.digest, proposals)
    if session.as_json:
        beside = {"digest": digest, "proposals": list(proposals.erased)}
        session.reply(seen, beside | {"keptProposals": list(proposals.kept)})
        return
    show_look(seen, proposals.erased, proposals.kept)
    if seen.unfinished_digest:
        show(text(f"An erasure was begun and cut off: --digest {seen.unfinished_digest}", "yellow"))
    show(text(f"Nothing is erased yet. To erase exactly this, add --digest {digest}", "bold"))


def erase(
    session: Session, wanted: Wanted, digest: str, reason: str, *, yes: bool, out: Path | None
) -> None:
    """Erase what was looked at, and print the receipt once every store has confirmed."""
    from concord.graph.v1 import erasure_pb2

    graph_digest = digest.partition(".")[0]
    with session.client(Role.ADMIN) as client:
        proposals = _proposals(client, wanted)
        # none: nothing names them, or the words went before an erasure was cut off
        if proposals.erased and _joined(graph_digest, proposals) != digest:
            raise _changed()
        if not yes:
            typer.confirm(f"Forget {wanted.name!r} for good? Nothing brings it back", abort=True)
        _erase_proposals(client, proposals)
        request = erasure_pb2.EraseSelectionRequest(
            selection=wanted.selection(),
            options=wanted.options(),
            digest=graph_digest,
            reason=reason,
            proposal_ids=proposals.erased,
        )
        done = client.erasure.EraseSelection(request, timeout=_PART_TIMEOUT)
        while not done.complete:
            done = client.erasure.EraseSelection(request, timeout=_PART_TIMEOUT)
        reply = _confirmed(client, done.erase_id)
    print_receipt(session, reply, out)


def receipt_of(client: "Client", erase_id: str) -> "erasure_pb2.GetSelectionReceiptResponse":
    """The receipt of an erasure by selection, or that there is none."""
    from concord.graph.v1 import erasure_pb2

    request = erasure_pb2.GetSelectionReceiptRequest(erase_id=erase_id)
    return client.erasure.GetSelectionReceipt(request)


def print_receipt(
    session: Session, reply: "erasure_pb2.GetSelectionReceiptResponse", out: Path | None
) -> None:
    """Print a receipt, or write it to a file, for `concord audit verify --receipt`."""
    if out is not None:
        try:
            private_files.replace(out, reply.receipt)
        except OSError as error:
            raise CommandError(f"Cannot write {out}: {error.strerror}.") from error
    if session.as_json:
        confirmed = [MessageToDict(each) for each in reply.confirmations]
        receipt = {"receipt": json.loads(reply.receipt), "confirmations": confirmed}
        digest = hashlib.sha256(reply.receipt).hexdigest()
        write_line(json.dumps({**receipt, "digest": digest}, indent=2))
        return
    show_receipt(reply)
    if out is not None:
        show(text(f"Wrote the receipt to {out}: concord audit verify LOG --receipt {out}"))


def _look(client: "Client", wanted: Wanted) -> "erasure_pb2.PreviewErasureResponse":
    from concord.graph.v1 import erasure_pb2

    request = erasure_pb2.PreviewErasureRequest(
        selection=wanted.selection(), options=wanted.options()
    )
    return client.erasure.PreviewErasure(request, timeout=LOOK_TIMEOUT)


def _confirmed(client: "Client", erase_id: str) -> "erasure_pb2.GetSelectionReceiptResponse":
    until = time.monotonic() + RECEIPT_TIMEOUT
    reply = receipt_of(client, erase_id)
    while (
        reply.status == LOOKUP_STATUS_FOUND
        and not reply.HasField("complete_time")
        and time.monotonic() < until
    ):
        time.sleep(0.1)
        reply = receipt_of(client, erase_id)
    return reply


def _joined(digest: str, proposals: Proposals) -> str:
    """The digest that the real run must name: graph's, and one of the proposals if there are."""
    if not proposals.erased:
        return digest
    ids = "\n".join(proposals.erased).encode()
    return f"{digest}.{hashlib.sha256(ids).hexdigest()[:16]}"


def _changed() -> CommandError:
    return CommandError(
        "Other proposals name them than those that you looked at: look again.",
        reason="ERROR_REASON_SELECTION_CHANGED",
    )


def _proposals(client: "Client", wanted: Wanted) -> Proposals:
    """The proposals that name a subject or a speaker; a decided one stays, as its effect does."""
    from concord.governance.v1 import proposal_pb2

    if wanted.by not in ("subject", "speaker"):
        return Proposals()
    names = Names((wanted.name, *wanted.also))
    decided = {proposal_pb2.PROPOSAL_STATUS_APPROVED, proposal_pb2.PROPOSAL_STATUS_EXECUTED}
    erased: list[str] = []
    kept: list[str] = []
    for proposal in _every_proposal(client):
        if names.are_in(json.dumps(MessageToDict(proposal), ensure_ascii=False)):
            stays = proposal.status in decided or not wanted.mentions
            (kept if stays else erased).append(proposal.id)
    return Proposals(tuple(sorted(erased)), tuple(sorted(kept)))


def _every_proposal(client: "Client") -> Iterator["Proposal"]:
    from concord.governance.v1.proposal_pb2 import ListProposalsRequest

    token = ""
    while True:
        request = ListProposalsRequest(page_size=200, page_token=token)
        reply = client.proposals.ListProposals(request)
        yield from reply.proposals
        token = reply.next_page_token
        if not token:
            return


def _erase_proposals(client: "Client", proposals: Proposals) -> None:
    from concord.governance.v1.proposal_pb2 import EraseProposalWordsRequest

    if proposals.erased:
        request = EraseProposalWordsRequest(proposal_ids=proposals.erased)
        client.proposals.EraseProposalWords(request, timeout=_PART_TIMEOUT)
