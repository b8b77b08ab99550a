"""The judges port over ClassifyPairs and ListJudges, methods of dissonance that call nobody."""

from collections.abc import Sequence

import grpc
from concord.dissonance.v1 import dissonance_pb2 as pb
from concord.dissonance.v1 import dissonance_pb2_grpc
from concord.graph.v1 import conflict_pb2
from concord.type.v1 import type_pb2
from concord_chassis.call.failure import from_rpc_error
from concord_chassis.call.identity import OwnTokens, TokenIssuer
from concord_chassis.channel.channel import connect

from concord_search.ports.judges import CheckStatus, Compared, Verdict, Verdicts

PRINCIPAL = "search"
PATIENCE = 0.3
"""Seconds for a number of texts: who asks for the state of an index waits no longer for it."""


class JudgesClient:
    """Dissonance behind an address, asked under search's own tokens."""

    def __init__(self, address: str, issuer: TokenIssuer) -> None:
        self._tokens = OwnTokens(issuer, PRINCIPAL, "dissonance")
        self._channel = connect(address, token=None)
        self._dissonance = dissonance_pb2_grpc.DissonanceServiceStub(self._channel)

    async def verdicts(
        self, space: str, pairs: Sequence[Compared], seconds: float, *, use_models: bool
    ) -> Verdicts:
        request = pb.ClassifyPairsRequest(pairs=map(_pair, pairs), rules_only=not use_models)
        metadata = self._tokens.metadata(space, frozenset({"dissonance:read"}))
        try:
            call = self._dissonance.ClassifyPairs(request, metadata=metadata, timeout=seconds)
            reply = await call
        except grpc.aio.AioRpcError as error:
            is_late = from_rpc_error(error).code is grpc.StatusCode.DEADLINE_EXCEEDED
            return Verdicts(CheckStatus.TIMED_OUT if is_late else CheckStatus.UNAVAILABLE)
        status = CheckStatus.COMPLETE
        if any(each.abstention == "OUT_OF_TIME" for each in reply.verdicts):
            status = CheckStatus.TIMED_OUT
        elif reply.status == pb.CHECK_STATUS_DEGRADED:
            status = CheckStatus.DEGRADED
        return Verdicts(status, [_verdict(each) for each in reply.verdicts])

    async def unread(self, space: str) -> int | None:
        metadata = self._tokens.metadata(space, frozenset({"dissonance:read"}))
        request = pb.ListJudgesRequest()
        try:
            reply = await self._dissonance.ListJudges(request, metadata=metadata, timeout=PATIENCE)
        except grpc.aio.AioRpcError:
            return None
        return reply.unread_texts if reply.HasField("unread_texts") else None

    async def close(self) -> None:
        await self._channel.close()


def _verdict(said: pb.Verdict) -> Verdict:
    return Verdict(
        said.conflict_class,
        said.confidence,
        judged=bool(said.judge),
        is_of_text=said.judge != conflict_pb2.JUDGE_STRUCTURAL,
        unsure=said.unsure,
    )


def _pair(compared: Compared) -> pb.StatementPair:
    subject, relation, target = compared.statement.fact
    fact = type_pb2.Fact(subject=subject, relation=relation, object=target)
    said = pb.Statement(text=compared.text, speaker=compared.speaker)
    if compared.fact is not None:
        subject, relation, target = compared.fact
        said.fact.CopyFrom(type_pb2.Fact(subject=subject, relation=relation, object=target))
    return pb.StatementPair(
        first=said, second=pb.Statement(text=compared.statement.text, fact=fact)
    )
