"""The second half: what defines the agent, and why nobody changes that alone."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import uuid4

from concord.graph.v1 import governed_pb2, memory_pb2
from concord.type.v1 import type_pb2
from google.protobuf.message import Message

from concord_client import signing
from concord_client.cli.page import show, text
from concord_client.demo.stage import Stage, Step, demand
from concord_client.refusal import Refused

IDENTITY = "who-i-am"
STATEMENT = "I tell people when I am not sure, and I never pass on what they told me in confidence."
POLICY_DIGEST = sha256(b"concord demo: both parties consent to each change").hexdigest()
CONSENT_LASTS = timedelta(minutes=10)


def steps() -> list[Step]:
    """The steps, in order."""
    return [
        Step("genesis", "Genesis: the agent and the person each make a key and sign", _genesis),
        Step("consent", "A memory that defines the agent, added with both consents", _add),
        Step("protection", "Somebody asks to forget it", _forget),
        Step("one-sided", "One party alone consents to forgetting it", _forget_one_sided),
    ]


def _genesis(stage: Stage) -> Message:
    genesis = signing.sign_genesis(
        space=stage.space,
        agent=stage.agent,
        human=stage.human,
        governance_key=signing.public_bytes(stage.governance),
    )
    reply = stage.client.governed.EnrolPrincipals(
        governed_pb2.EnrolPrincipalsRequest(
            enrolment_secret=stage.enrolment_secret, genesis=genesis
        )
    )
    digest = signing.genesis_digest(genesis)
    demand(reply.genesis_digest == digest, "the genesis accepted is the one that both signed")
    if stage.told:
        show(f"Both signed; the space's genesis is {digest[:16]}… from now on.")
    return reply


def _add(stage: Stage) -> Message:
    action = governed_pb2.GovernedAction(
        add_memory=memory_pb2.AddMemoryRequest(
            request_id=str(uuid4()),
            memory=type_pb2.Memory(
                id=IDENTITY, content=STATEMENT, edge_type=type_pb2.EDGE_TYPE_CONSTITUTIVE
            ),
        )
    )
    parties = {signing.AGENT: stage.agent, signing.HUMAN: stage.human}
    reply = stage.client.governed.ApplyGovernedChange(
        _granted(stage, action, {IDENTITY: ""}, parties)
    )
    demand(
        reply.memory.edge_type == type_pb2.EDGE_TYPE_CONSTITUTIVE,
        "with both consents a constitutive memory is written",
    )
    if stage.told:
        show(text(STATEMENT, "bold"), text("constitutive: it takes both to change it", "dim"))
    return reply


def _forget(stage: Stage) -> Message:
    memory = _identity(stage)
    try:
        stage.client.memory.ForgetMemory(
            memory_pb2.ForgetMemoryRequest(id=memory.id, etag=memory.etag)
        )
    except Refused as refused:
        _demand_refusal(stage, refused, "ERROR_REASON_CONSTITUTIVE_EDGE_PROTECTED")
    else:
        demand(False, "a constitutive memory cannot be forgotten without consent")
    return _still_there(stage, memory)


def _forget_one_sided(stage: Stage) -> Message:
    memory = _identity(stage)
    action = governed_pb2.GovernedAction(
        forget_memory=memory_pb2.ForgetMemoryRequest(
            request_id=str(uuid4()), id=memory.id, etag=memory.etag
        )
    )
    parties = {signing.AGENT: stage.agent}
    try:
        stage.client.governed.ApplyGovernedChange(
            _granted(stage, action, {memory.id: memory.etag}, parties)
        )
    except Refused as refused:
        _demand_refusal(stage, refused, "ERROR_REASON_CONSENT_INVALID")
        demand(
            refused.metadata.get("slot") == signing.HUMAN, "it is the person's consent that lacks"
        )
    else:
        demand(False, "one party alone cannot change what is constitutive")
    return _still_there(stage, memory)


def _granted(
    stage: Stage,
    action: governed_pb2.GovernedAction,
    etags: Mapping[str, str],
    parties: Mapping[str, signing.Signer],
) -> governed_pb2.ApplyGovernedChangeRequest:
    """The change, with the consents of `parties` (by slot) and governance's grant over them."""
    expire = datetime.now(UTC) + CONSENT_LASTS
    proposal, digest = str(uuid4()), signing.action_digest(action)
    consents = {
        slot: signing.sign_consent(
            slot=slot,
            signer=signer,
            space=stage.space,
            proposal_id=proposal,
            revision=1,
            action_digest=digest,
            etags=etags,
            policy_digest=POLICY_DIGEST,
            expire_time=expire,
        )
        for slot, signer in parties.items()
    }
    grant = signing.sign_grant(
        governance=stage.governance,
        space=stage.space,
        decision_id=str(uuid4()),
        proposal_id=proposal,
        revision=1,
        action_digest=digest,
        etags=etags,
        policy_digest=POLICY_DIGEST,
        consents=consents,
        expire_time=expire,
    )
    return governed_pb2.ApplyGovernedChangeRequest(action=action, grant=grant)


def _identity(stage: Stage) -> type_pb2.Memory:
    return stage.client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=IDENTITY, peek=True)).memory


def _demand_refusal(stage: Stage, refused: Refused, reason: str) -> None:
    demand(refused.reason == reason, f"the refusal's reason is {reason}, not {refused.reason}")
    if stage.told:
        show(text("Refused: ", "red").append(str(refused)))


def _still_there(stage: Stage, before: type_pb2.Memory) -> Message:
    reply = stage.client.memory.GetMemory(memory_pb2.GetMemoryRequest(id=IDENTITY, peek=True))
    same = (reply.memory.content, reply.memory.etag) == (before.content, before.etag)
    demand(same and not reply.memory.HasField("forget_time"), "nothing about it has changed")
    if stage.told:
        show(text("It is still there, unchanged.", "green"))
    return reply
