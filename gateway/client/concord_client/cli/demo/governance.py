"""The tour's last part: a constitutive memory is changed by both, audited, and restored."""

import time
from uuid import uuid4

from concord.governance.v1 import audit_pb2, principal_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2, memory_pb2, space_pb2
from concord.type.v1 import type_pb2
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from concord_client.cli.demo.stage import Stage, Step, demand
from concord_client.cli.render.page import plural, show, text
from concord_client.refusal import Refused
from concord_client.trust import signing
from concord_client.trust.audit.log import Pinned, read_log
from concord_client.trust.audit.replay import Findings, Replay
from concord_client.trust.audit.store import differences, stored_digests
from concord_client.trust.review import review

IDENTITY = "who-i-am"
STATEMENT = "I tell people when I am not sure, and I never pass on what they told me in confidence."
CHANGED = (
    "I tell people when I am not sure, and pass on what they told me only when they ask me to."
)
FEED_WITHIN = 10.0
"""Seconds for graph's own entries to reach the log."""


def steps() -> list[Step]:
    """The steps, in order."""
    return [
        Step("genesis", "Genesis: the agent and the person each make a key and sign", _genesis),
        Step("consent", "A memory that defines the agent, proposed and signed by both", _add),
        Step("protection", "Somebody asks to forget it", _forget),
        Step("one-sided", "The agent proposes to change it, and signs alone", _change_one_sided),
        Step("both", "The person reads the same bytes, and signs too", _change_by_both),
        Step("audit", "The audit log, exported and verified without the system", _audit),
        Step("undo", "Undone, with both signatures again", _undo),
    ]


def _genesis(stage: Stage) -> Message:
    principals = stage.client.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    genesis = signing.sign_genesis(
        space=stage.space,
        agent=stage.agent,
        human=stage.human,
        governance_key=principals.governance_key,
    )
    reply = stage.admin.governed.EnrolPrincipals(
        governed_pb2.EnrolPrincipalsRequest(
            enrolment_secret=stage.enrolment_secret, genesis=genesis
        )
    )
    digest = signing.genesis_digest(genesis)
    demand(reply.genesis_digest == digest, "the genesis accepted is the one that both signed")
    stage.pinned = Pinned(log_key=principals.log_key, genesis_digest=digest)
    if stage.shown:
        show(f"Both signed; the space's genesis is {digest[:16]}… from now on.")
    return reply


def _add(stage: Stage) -> Message:
    memory = type_pb2.Memory(
        id=IDENTITY, content=STATEMENT, edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE
    )
    request = memory_pb2.AddMemoryRequest(request_id=str(uuid4()), memory=memory)
    made = _propose(stage, governed_pb2.GovernedAction(add_memory=request))
    _sign(stage, made, signing.AGENT)
    reply = _sign(stage, made, signing.HUMAN)
    written = _identity(stage)
    demand(
        written.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE,
        "with both consents a constitutive memory is written",
    )
    if stage.shown:
        show(text(STATEMENT, "bold"), text("constitutive: it takes both to change it", "dim"))
    return reply


def _forget(stage: Stage) -> Message:
    memory = _identity(stage)
    try:
        stage.client.memory.ForgetMemory(
            memory_pb2.ForgetMemoryRequest(id=memory.id, etag=memory.etag)
        )
    except Refused as refused:
        reason = "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED"
        demand(refused.reason == reason, f"the refusal's reason is {reason}")
        if stage.shown:
            show(text("Refused: ", "red").append(str(refused)))
    else:
        demand(False, "a constitutive memory cannot be forgotten without consent")
    return _still_there(stage, memory)


def _change_one_sided(stage: Stage) -> Message:
    stage.before = _state(stage)
    memory = _identity(stage)
    request = memory_pb2.UpdateMemoryRequest(
        request_id=str(uuid4()),
        memory=type_pb2.Memory(id=memory.id, etag=memory.etag, content=CHANGED),
        update_mask=FieldMask(paths=["content"]),
    )
    stage.proposal = _propose(stage, governed_pb2.GovernedAction(update_memory=request))
    reply = _sign(stage, stage.proposal, signing.AGENT)
    demand(
        reply.proposal.status == proposal_pb2.PROPOSAL_STATUS_PENDING,
        "with one signature the proposal waits",
    )
    demand(_state(stage) == stage.before, "with one signature nothing in the space has changed")
    if stage.shown:
        show(
            text(f"Proposal {stage.proposal.number}: {stage.proposal.framing.neutral_summary}"),
            text("The agent signed. Nothing happens: it waits for the person.", "green"),
        )
    return _still_there(stage, memory)


def _change_by_both(stage: Stage) -> Message:
    found = review(stage.proposal)
    reply = _sign(stage, stage.proposal, signing.HUMAN)
    demand(
        reply.proposal.status == proposal_pb2.PROPOSAL_STATUS_EXECUTED,
        "with the second signature it is executed",
    )
    demand(_identity(stage).content == CHANGED, "the memory says what both signed")
    if stage.shown:
        show(
            text(f"Read: {len(found.canonical)} bytes, SHA-256 {found.digest[:16]}…", "dim"),
            text(CHANGED, "bold"),
        )
    return reply


def _audit(stage: Stage) -> Message:
    findings = _verified(stage)
    demand(findings.executed == 2, "the log has both changes, each with two valid consents")
    demand(findings.refused >= 1, "the log has the refused attempt")
    if stage.shown:
        entries = plural(findings.entries, "entry", "entries")
        show(f"{entries}: hashes, signatures, order and rules hold, and the store agrees.")
    return stage.client.audit.GetCheckpoint(audit_pb2.GetCheckpointRequest())


def _undo(stage: Stage) -> Message:
    made = stage.client.proposals.UndoModification(
        proposal_pb2.UndoModificationRequest(proposal_id=stage.proposal.id)
    ).proposal
    _sign(stage, made, signing.AGENT)
    demand(_identity(stage).content == CHANGED, "one signature undoes nothing")
    reply = _sign(stage, made, signing.HUMAN)
    demand(_state(stage) == stage.before, "the state export is what it was, byte for byte")
    demand(_verified(stage).undone == 1, "the undo is in the log, and the log holds")
    if stage.shown:
        show(text(STATEMENT, "bold"))
        size = sum(len(line) + 1 for line in stage.before)
        show(text(f"The state export is what it was, byte for byte ({size:,} of them).", "green"))
    return reply


def _propose(stage: Stage, action: governed_pb2.GovernedAction) -> proposal_pb2.Proposal:
    request = proposal_pb2.CreateProposalRequest(action=action)
    made = stage.client.proposals.CreateProposal(request).proposal
    demand(
        made.approval_level == proposal_pb2.APPROVAL_LEVEL_BILATERAL,
        "what defines the agent needs both, whoever asks",
    )
    return made


def _sign(
    stage: Stage, proposal: proposal_pb2.Proposal, slot: str
) -> proposal_pb2.ApproveProposalResponse:
    """Signs a slot's consent to the proposal's stored bytes, and sends it."""
    signer = stage.agent if slot == signing.AGENT else stage.human
    consent = signing.sign_consent(slot=slot, signer=signer, **review(proposal).terms())
    return stage.client.proposals.ApproveProposal(
        proposal_pb2.ApproveProposalRequest(proposal_id=proposal.id, consent=consent)
    )


def _verified(stage: Stage) -> Findings:
    """Verifies the log, repeatedly until graph's entries are in it and the store agrees with it."""
    end = time.monotonic() + FEED_WITHIN
    while True:
        parts = stage.client.audit.ExportAuditLog(audit_pb2.ExportAuditLogRequest())
        lines = b"".join(part.lines for part in parts).splitlines(keepends=True)
        findings = Replay(read_log(lines, stage.pinned), stage.pinned).run()
        if not differences(findings.constitutive, stored_digests(stage.client.governed)):
            return findings
        demand(time.monotonic() < end, "the store holds what the log says")
        time.sleep(0.05)


def _state(stage: Stage) -> list[str]:
    parts = stage.client.space.ExportSpace(space_pb2.ExportSpaceRequest())
    return [line for part in parts for line in part.lines]


def _identity(stage: Stage) -> type_pb2.Memory:
    return stage.client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=IDENTITY, peek=True)).memory


def _still_there(stage: Stage, before: type_pb2.Memory) -> Message:
    reply = stage.client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=IDENTITY, peek=True))
    same = (reply.memory.content, reply.memory.etag) == (before.content, before.etag)
    demand(same and not reply.memory.HasField("forget_time"), "nothing about it has changed")
    if stage.shown:
        show(text("It is still there, unchanged.", "green"))
    return reply
