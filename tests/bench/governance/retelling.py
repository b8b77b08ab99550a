"""Whether words rise above whoever said them, and retired facts come back by an import (W8)."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

from concord.governance.v1 import principal_pb2, proposal_pb2
from concord.graph.v1 import governed_pb2
from concord.type.v1 import type_pb2
from concord_client import AsyncClient
from concord_client.trust import signing
from concord_testing.laundering import HONEST, WAYS, Keys, Writer
from concord_testing.up_process import Spawned

from tests.bench.governance.attacks import bring
from tests.bench.governance.world import Honest, Space, add, found, fresh, get, space
from tests.bench.table import Bar, Row

KEPT = 0.98


async def keys_of(here: Space) -> Keys:
    """The space's keys, after its genesis, by which proposals are decided."""
    agent = signing.Signer("agent", signing.generate_key())
    human = signing.Signer("owner", signing.generate_key())
    known = await here.owner.principals.GetPrincipals(principal_pb2.GetPrincipalsRequest())
    genesis = signing.sign_genesis(
        space=here.name, agent=agent, human=human, governance_key=known.governance_key
    )
    await here.owner.governed.EnrolPrincipals(
        governed_pb2.EnrolPrincipalsRequest(enrolment_secret=here.secret, genesis=genesis)
    )

    async def propose(action: governed_pb2.GovernedAction) -> proposal_pb2.Proposal:
        request = proposal_pb2.CreateProposalRequest(action=action)
        return (await here.owner.proposals.CreateProposal(request)).proposal

    async def decide(proposal: proposal_pb2.Proposal) -> object:
        for slot, signer in ((signing.AGENT, agent), (signing.HUMAN, human)):
            if proposal.status == proposal_pb2.PROPOSAL_STATUS_PENDING:
                consent = signing.sign_consent(
                    slot=slot,
                    signer=signer,
                    space=here.name,
                    proposal_id=proposal.id,
                    revision=proposal.revision,
                    proposal_digest=proposal.digest,
                    action_digest=proposal.action_digest,
                    etags={item.id: item.etag for item in proposal.affected},
                    policy_digest=proposal.policy_digest,
                    expire_time=datetime.now(UTC) + timedelta(hours=1),
                )
                request = proposal_pb2.ApproveProposalRequest(
                    proposal_id=proposal.id, consent=consent
                )
                proposal = (await here.owner.proposals.ApproveProposal(request)).proposal
        return proposal

    return Keys(
        person=_writer(here.owner),
        agent=_writer(here.agent),
        other=_writer(here.helper),
        tool=_writer(here.crawler),
        propose=propose,
        decide=decide,
    )


def _writer(by: AsyncClient) -> Writer:
    return Writer(by.memory, by.proposals, by.dialectic, by.search)


async def laundered(system: Spawned, times: int) -> tuple[list[str], int]:
    """Which ways raised words, and how many of as many honest ones kept what is theirs."""
    async with space(system, "laundered") as here:
        keys = await keys_of(here)
        raised, kept = [], 0
        for number in range(times):
            way = WAYS[number % len(WAYS)]
            told, most = await way(keys, number)
            if not told.id or not told.words_origin or told.words_origin < most:
                raised.append(f"{way.__name__} {number}")
            told, whose = await HONEST[number % len(HONEST)](keys, number)
            kept += told.words_origin == whose
        return raised, kept


async def imported_again(system: Spawned, lines: Sequence[Honest]) -> tuple[list[str], list[str]]:
    """The lines whose retired fact came back by importing the old transcript again, and those whose
    turn is shown as current: by the person's key and by an agent's, with and without updates."""
    back, shown = [], []
    async with space(system, "imported") as here:
        turns = [
            type_pb2.Memory(
                content=line.memory,
                kind=type_pb2.MEMORY_KIND_TURN,
                external_id=f"chat:{line.id}",
                session_id="chat",
                sources=[type_pb2.Source(speaker=line.subject)],
            )
            for line in lines
        ]
        await bring(here.owner, turns)
        for line, turn in zip(lines, turns, strict=True):
            reply = await found(here.owner, line.memory, await fresh(here.owner))
            (told,) = [e.memory for e in reply.results if e.memory.external_id == turn.external_id]
            source = type_pb2.Source(memory_ids=[told.id])
            await _stated(here, line, told.id, [source])
        for by in (here.owner, here.helper):
            for updates in (False, True):
                await bring(by, turns, update_existing=updates)
        token = await fresh(here.owner)
        for line in lines:
            former = await get(here.owner, line.id)
            if not former.supersession.is_superseded:
                back.append(line.id)
            reply = await found(here.agent, line.question, token)
            if any(_is_current(each.memory, line) for each in reply.results):
                shown.append(line.id)
    return back, shown


async def _stated(here: Space, line: Honest, turn: str, sources: list[type_pb2.Source]) -> None:
    """States a fact that was drawn from a turn, and retires it, turn and all."""
    facts = [line.fact()]
    await add(here.owner, f"{line.memory} (noted)", id=line.id, facts=facts, sources=sources)
    links = f"\n\nSupersedes: [[memory:{line.id}]]\nSupersedes: [[memory:{turn}]]"
    await add(here.owner, line.lie + links, facts=[line.fact(line.false)])


def _is_current(memory: type_pb2.Memory, line: Honest) -> bool:
    return memory.content.startswith(line.memory) and not memory.supersession.is_superseded


async def bench(system: Spawned, lines: Sequence[Honest], times: int) -> AsyncIterator[Row]:
    """Rows of the table."""
    raised, kept = await laundered(system, times)
    yield _count("words raised by telling them again", raised, times)
    yield Row("honest words kept", "share", (kept / times,), bar=Bar(KEPT, at_most=False))
    back, shown = await imported_again(system, lines)
    yield _count("retired facts that an import brought back", back, len(lines))
    yield _count("their turns shown as current", shown, len(lines))


def _count(what: str, names: Sequence[str], of: int) -> Row:
    note = f"of {of}; {', '.join(names[:8])}".removesuffix("; ")
    return Row(what, "number", (float(len(names)),), bar=Bar(0), note=note)
