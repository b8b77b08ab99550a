"""`concord audit`: shows the log, and verifies it without trusting the server."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from concord.type.v1.type_pb2 import PRINCIPAL_KIND_UNSPECIFIED
from google.protobuf.json_format import MessageToDict

from concord_client.cli.choices import PrincipalKind
from concord_client.cli.errors import CommandError
from concord_client.cli.governance.session import GovernanceSession, governance_session
from concord_client.cli.options import (
    FileArgument,
    LimitOption,
    OutOption,
    PageTokenOption,
    chosen_file,
)
from concord_client.cli.render.page import fields, show, show_more, text
from concord_client.cli.session import Session, SessionCommands, write_line
from concord_client.cli.values import instant

if TYPE_CHECKING:
    from concord.governance.v1.audit_pb2 import AuditAction

    from concord_client.trust.audit.replay import Findings
    from concord_client.trust.audit.store import Difference

app = SessionCommands(
    no_args_is_help=True,
    help="Read the audit log, take it with you, and check it. Each command first demands that the "
    "log extends what this client saw of it before.",
)


@app.command("log")
def log(
    session: Session,
    *,
    item: Annotated[str, typer.Option(help="Only entries about this item.")] = "",
    action: Annotated[
        list[str] | None,
        typer.Option(help='Only these, e.g. "smf-execute"; may be repeated.'),
    ] = None,
    actor: Annotated[
        PrincipalKind | None, typer.Option(case_sensitive=False, help="Only this one's.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only what happened then or later (ISO 8601).")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only what happened before then.")] = None,
    limit: LimitOption = 50,
    page_token: PageTokenOption = "",
) -> None:
    """List what was tried and done on what both principals agreed to, newest first."""
    from concord.governance.v1 import audit_pb2

    request = audit_pb2.ListAuditEntriesRequest(
        item_id=item,
        actions=[_action(each) for each in action or ()],
        actor=actor.value_of() if actor else PRINCIPAL_KIND_UNSPECIFIED,
        since=instant(since),
        until=instant(until),
        page_size=limit,
        page_token=page_token,
    )
    with governance_session(session) as governance:
        governance.principals()
        governance.witness.follow(governance.client.audit)
        reply = governance.client.audit.ListAuditEntries(request)
    if session.as_json:
        session.reply(reply)
        return
    from concord_client.cli.render.proposal_page import logged

    show(logged(reply))
    show_more(reply.next_page_token)


@app.command("export")
def export(session: Session, file: FileArgument = None, *, out: OutOption = None) -> None:
    """Write the whole log as JSON Lines, for `concord audit verify`."""
    from concord_client import private_files

    path = chosen_file(file, out)
    with governance_session(session) as governance:
        lines = _exported(governance)
    if path is None:
        sys.stdout.write(b"".join(lines).decode())
        return
    try:
        private_files.replace(path, b"".join(lines))
    except OSError as error:
        raise CommandError(f"Cannot write {path}: {error.strerror}.") from error
    if session.as_json:
        write_line(json.dumps({"file": str(path), "entries": len(lines) - 1}))
    else:
        typer.echo(f"Wrote {len(lines) - 1:,} entries to {path}.")


@app.command("verify")
def verify(
    session: Session,
    file: Annotated[Path, typer.Argument(help="What `concord audit export` wrote.", exists=True)],
    *,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A checkpoint that somebody kept: the log must extend it.", exists=True),
    ] = None,
    genesis: Annotated[
        str, typer.Option(help="The genesis digest it must have.", show_default="as seen before")
    ] = "",
    log_key: Annotated[
        str, typer.Option(help="The log's public key.", show_default="as seen before")
    ] = "",
    store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="Also compare each constitutive item as it stands in the store with what the log "
            "says. Needs the running system; export right before.",
        ),
    ] = False,
    receipt: Annotated[
        Path | None,
        typer.Option(
            help="Also check the receipt that `concord erase --out` wrote: the log must have an "
            "entry of exactly this receipt.",
            exists=True,
        ),
    ] = None,
    older: Annotated[
        bool,
        typer.Option(
            "--older",
            help="The file may end before what this client has seen: check it by itself, and say "
            "what part of the log it covers.",
        ),
    ] = False,
) -> None:
    """Check an exported log, offline: hashes, signatures, order, and every rule of governance."""
    from concord_client.cli.governance import verification

    if older and store:
        raise typer.BadParameter("--store compares with the log as it stands, not an --older one.")
    lines = verification.lines_of(file)
    newest = verification.known(session, checkpoint, genesis, log_key)
    held = newest.older(len(lines) - 1) if older else newest
    findings = verification.found(lines, held)
    differing: list[Difference] = []
    if store:
        with governance_session(session) as governance:
            governance.principals()
            differing = verification.compared(governance, findings)
    erased = verification.erasure_in(findings, receipt) if receipt else None
    part = verification.covered(findings.entries, newest, held) if older else ""
    _show(session, findings, differing, verification.trusted(held), part, compared=store)
    if erased is not None and not session.as_json:
        show(text(f"The receipt is the log's: the erasure {erased} was done as it says.", "green"))
    if findings.undecided:
        raise CommandError(
            "The log has writes that nobody decided.", reason="AUDIT_UNDECIDED_WRITE"
        )
    if differing:
        raise CommandError("The store does not hold what the log says.", reason="AUDIT_MISMATCH")


@app.command("proof")
def proof(
    session: Session,
    index: Annotated[int, typer.Argument(metavar="N", min=0, help="The entry, from 0.")],
) -> None:
    """Prove that an entry is in the log: its leaf and its way up to the signed root."""
    from concord_client.cli.governance.log_entry import proved

    with governance_session(session) as governance:
        seen, reply = proved(governance, index)
    if session.as_json:
        write_line(json.dumps({"checkpoint": seen.checkpoint, **MessageToDict(reply)}, indent=2))
        return
    from concord_client.cli.render.proposal_page import proof_hashes

    show(text(reply.leaf.decode()), *proof_hashes(list(reply.hashes)), "", text(seen.checkpoint))
    size = seen.read(seen.checkpoint).size
    show(text(f"Entry {index} is in the log of {size} that this checkpoint signs.", "green"))


def _action(word: str) -> "AuditAction.ValueType":
    from concord.governance.v1.audit_pb2 import AuditAction

    name = f"AUDIT_ACTION_{word.upper().replace('-', '_').replace(' ', '_')}"
    if name not in AuditAction.keys():  # noqa: SIM118 - an enum's wrapper is no mapping
        known = ", ".join(
            each.removeprefix("AUDIT_ACTION_").lower().replace("_", "-")
            for each in AuditAction.keys()[1:]
        )
        raise typer.BadParameter(f"{word!r} is none of {known}.")
    return AuditAction.Value(name)


def _exported(governance: GovernanceSession) -> list[bytes]:
    """The lines of an exported log, whose checkpoint extends the last one seen."""
    from concord.governance.v1.audit_pb2 import ExportAuditLogRequest

    governance.principals()
    parts = governance.client.audit.ExportAuditLog(ExportAuditLogRequest(), timeout=3600.0)
    lines = b"".join(part.lines for part in parts).splitlines(keepends=True)
    governance.witness.accept(str(json.loads(lines[0])["checkpoint"]), governance.client.audit)
    return lines


def _show(
    session: Session,
    findings: "Findings",
    differing: "list[Difference]",
    trusted: list[str],
    part: str,
    *,
    compared: bool,
) -> None:
    counted = {
        name: getattr(findings, name)
        for name in ("entries", "proposals", "executed", "undone", "refused")
    }
    if session.as_json:
        store = [{"item": each.item_id, "what": each.what} for each in differing]
        report = {**counted, "constitutive": len(findings.constitutive), "reliesOn": trusted}
        report |= {
            "undecidedWrites": list(findings.undecided),
            "openDecisions": list(findings.open_decisions),
        }
        report |= {"covers": part} if part else {}
        write_line(json.dumps({**report, "store": store if compared else None}, indent=2))
        return
    what = "This part of the log" if part else "The log"
    if findings.undecided:
        holds = f"{what} is whole: every byte stands under its checkpoint. One rule was broken."
    else:
        holds = f"{what} holds: every byte stands under its checkpoint, every rule was kept."
    show(text(holds, "yellow" if findings.undecided else "green"))
    for entry in findings.undecided:
        show(text(f"Entry {entry}: a write on something constitutive that nobody decided.", "red"))
    show(fields([(name, f"{count:,}") for name, count in counted.items()]))
    for entry in findings.open_decisions:
        undone = "is not carried out, has not failed, or its end was left out"
        show(text(f"Entry {entry}: a decision without its end; it {undone}.", "yellow"))
    if part:
        show(text(part, "yellow"))
    show(text("Relies on:", "dim"), *(text(f"  {each}", "dim") for each in trusted))
    if compared and not differing:
        count = len(findings.constitutive)
        show(text(f"The store holds what the log says: {count:,} digests compared.", "green"))
    for each in differing:
        show(text(f"{each.item_id}: {each.what}", "red"))
