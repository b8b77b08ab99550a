"""Assembles governance: the only module that knows every part."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from concord.governance.v1 import (
    access_pb2,
    access_pb2_grpc,
    audit_pb2,
    audit_pb2_grpc,
    principal_pb2,
    principal_pb2_grpc,
    proposal_pb2,
    proposal_pb2_grpc,
)
from concord_chassis.call.identity import Claims, TokenIssuer
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.metrics import Metrics, Values
from concord_chassis.server.background import Background
from concord_chassis.server.server import Registration
from concord_stores.neo4j_config import Neo4jConfig, ServerUnusable
from concord_stores.sqlite_file import FileUnusable
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from concord_governance.adapters.graph.client import GraphClient
from concord_governance.adapters.sqlite.ledger import open_ledger
from concord_governance.config import LedgerConfig, SqliteConfig, read_keys, read_settings
from concord_governance.domain.access import ListedKey
from concord_governance.domain.errors import GovernanceError
from concord_governance.domain.safeguards import Settings
from concord_governance.domain.signing import GrantKey, LogKey
from concord_governance.ports.ledger import Clock, Ledger
from concord_governance.servicer.access import AccessServicer
from concord_governance.servicer.action_json import normal_form
from concord_governance.servicer.audit import AuditServicer, PrincipalServicer
from concord_governance.servicer.proposals import ProposalServicer
from concord_governance.usecases.api_keys import ApiKeys
from concord_governance.usecases.audit_log import AuditLog
from concord_governance.usecases.decisions import Decisions
from concord_governance.usecases.erased_words import ErasingWords
from concord_governance.usecases.execution import COMPLETE, Execution
from concord_governance.usecases.graph_feed import FOLLOW, GraphFollower
from concord_governance.usecases.ledger_commands import LedgerCommands
from concord_governance.usecases.proposal_reads import ProposalReads
from concord_governance.usecases.proposals import Proposals
from concord_governance.usecases.settlements import Settlements
from concord_governance.usecases.sign_ins import SignIns
from concord_governance.usecases.spaces import ERASE, Spaces

if TYPE_CHECKING:
    from concord_governance.adapters.openai_framing.judge import OpenAiFraming

START_ERRORS = (FileUnusable, ServerUnusable)
"""Why the ledger's store cannot serve; the text says what to do."""


def system_clock() -> int:
    """Return the time in microseconds since 1970 UTC."""
    return time.time_ns() // 1_000


CLAIMS: Claims = {"dissonance": frozenset({"governance:read", "proposals:write"})}
"""What the services that call governance may claim with keys of their own: no key makes an operator
or another key but by an operator's or administrator's (0112)."""


class GovernanceApp:
    """The assembled service: its registrations, and its life from `start` to `close`."""

    def __init__(
        self,
        *,
        config: LedgerConfig,
        settings: Settings,
        listed_keys: Mapping[str, ListedKey],
        ledger: Ledger,
        graph: GraphClient,
        grant_key: GrantKey,
        log_key: LogKey,
        clock: Clock,
        log: Logger,
    ) -> None:
        self._ledger, self._graph, self._listed_keys = ledger, graph, listed_keys
        background = self.background = Background(log)
        self._judge = _judge(config, log)
        judge = self._judge.violations if self._judge else None
        self._follower = GraphFollower(ledger, graph, background, log)
        commands = LedgerCommands(ledger, clock, self._follower)
        most = config.pending_per_principal
        proposals = Proposals(commands, graph, settings, normal_form, judge, most_pending=most)
        policy = proposals.policy_digest
        self._execution = Execution(
            commands, graph, settings, policy, background=background, log=log
        )
        decisions = Decisions(commands, graph, grant_key, self._execution, policy)
        reads = self._reads = ProposalReads(commands, graph)
        self._spaces, self._keys = Spaces(commands, graph, background, log), ApiKeys(commands, log)
        access = AccessServicer(commands, self._spaces, self._keys, SignIns(commands))
        settlements = Settlements(commands, graph, self._execution)
        steps = ProposalServicer(
            commands,
            proposals,
            decisions,
            reads,
            settlements=settlements,
            erasing=ErasingWords(ledger),
        )
        self.claims = CLAIMS
        self.registrations: Sequence[Registration] = (
            Registration(
                proposal_pb2.DESCRIPTOR.services_by_name["ProposalService"],
                proposal_pb2_grpc.add_ProposalServiceServicer_to_server,
                steps,
                not_permitted=steps.not_permitted,
            ),
            Registration(
                principal_pb2.DESCRIPTOR.services_by_name["PrincipalService"],
                principal_pb2_grpc.add_PrincipalServiceServicer_to_server,
                PrincipalServicer(graph, log_key, grant_key.public_key),
            ),
            Registration(
                audit_pb2.DESCRIPTOR.services_by_name["AuditService"],
                audit_pb2_grpc.add_AuditServiceServicer_to_server,
                AuditServicer(AuditLog(ledger, graph, log_key)),
            ),
            Registration(
                access_pb2.DESCRIPTOR.services_by_name["AccessService"],
                access_pb2_grpc.add_AccessServiceServicer_to_server,
                access,
                not_permitted=access.not_permitted,
            ),
        )

    async def start(self) -> None:
        """Add the keys file's new keys to the ledger, and start the background tasks."""
        await self._keys.add_listed(self._listed_keys)
        self.background.start(FOLLOW, self._follower.run)
        self.background.start(COMPLETE, self._execution.run)
        self.background.start("note uses of keys", self._keys.run)
        self.background.start(ERASE, self._spaces.run)

    async def ready(self) -> bool:
        """Return whether the ledger answers and graph is followed.

        Spaces in `rolled_back` do not count: nothing is completed there, and the others go on.
        """
        try:
            return self._follower.is_following and await self._ledger.ready()
        except GovernanceError:
            return False

    @property
    def rolled_back(self) -> frozenset[str]:
        """The spaces whose graph is older than the audit log: nothing is decided there."""
        return self._follower.rolled_back

    def measure(self, metrics: Metrics) -> None:
        """Add gauges of proposals that wait for people, and of spaces that need an operator."""

        async def ages() -> Values:
            return {(age,): count for age, count in (await self._reads.open_by_age()).items()}

        metrics.gauge(
            "concord_governance_open_proposals",
            "Proposals that wait for an answer or a review, by age.",
            ages,
            ["age"],
        )
        metrics.gauge(
            "concord_governance_rolled_back_spaces",
            "Spaces whose graph is older than their audit log: nothing is decided there.",
            lambda: {(): len(self.rolled_back)},
        )

    async def close(self) -> None:
        """Stop following, then close the ledger."""
        await self.background.close()
        with contextlib.suppress(GovernanceError):  # an unsaved time of use is no loss
            await self._keys.note_uses()
        await self._graph.close()
        if self._judge is not None:
            await self._judge.close()
        await self._ledger.close()


async def build(
    config: LedgerConfig,
    store: SqliteConfig | Neo4jConfig,
    issuer: TokenIssuer,
    grant_key: Ed25519PrivateKey,
    log_key: Ed25519PrivateKey,
    *,
    clock: Clock = system_clock,
    log: Logger | None = None,
) -> GovernanceApp:
    """Assemble governance over the chosen store. `issuer` signs its tokens for graph.

    Raises:
        FileUnusable, ServerUnusable: the ledger's store cannot serve; the text says what to do.
        ConfigError: the settings file or the keys file is invalid.
    """
    logger = json_lines("governance") if log is None else log
    # every log line names this setting, for whoever has to correct it
    logger = logger.bind(GOVERNANCE_GRAPH_ADDRESS=config.graph_address)
    settings = read_settings(config.settings_file)
    listed_keys = read_keys(config.keys_file)
    return GovernanceApp(
        config=config,
        settings=settings,
        listed_keys=listed_keys,
        ledger=await opened(store, clock),
        graph=GraphClient(config.graph_address, issuer),
        grant_key=GrantKey(grant_key),
        log_key=LogKey(log_key, config.log_name),
        clock=clock,
        log=logger,
    )


async def opened(
    store: SqliteConfig | Neo4jConfig, clock: Clock, *, restoring: bool = False
) -> Ledger:
    """Open the ledger that the settings choose. `restoring`: the caller is putting a copy there.

    Raises:
        FileUnusable, ServerUnusable: the ledger's store cannot serve; the text says what to do.
    """
    if isinstance(store, Neo4jConfig):
        from concord_governance.adapters.neo4j.ledger import open_ledger as open_neo4j  # slow

        return await open_neo4j(store, clock, restoring=restoring)
    return await asyncio.to_thread(open_ledger, store.ledger_path, clock, readers=store.readers)


def _judge(config: LedgerConfig, log: Logger) -> OpenAiFraming | None:
    if not config.llm_url:
        return None
    # Loading the openai package takes a third of a second, which a start without it need not pay.
    from concord_models.chat import ChatModel
    from concord_models.endpoint import ModelEndpoint, RetryPolicy

    from concord_governance.adapters.openai_framing.judge import OpenAiFraming

    policy = RetryPolicy(
        timeout=config.llm_timeout,
        budget=config.llm_budget,
        attempts=config.llm_attempts,
        share=0.5,
    )
    endpoint = ModelEndpoint("framing endpoint", config.llm_url, config.llm_api_key, policy, log)
    return OpenAiFraming(ChatModel(endpoint, config.llm_model))
