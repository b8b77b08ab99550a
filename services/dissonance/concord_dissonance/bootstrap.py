"""Assembles dissonance: the only module that knows every part."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from concord.dissonance.v1 import (
    dialectic_pb2,
    dialectic_pb2_grpc,
    dissonance_pb2,
    dissonance_pb2_grpc,
)
from concord_chassis.call.identity import Claims, TokenIssuer
from concord_chassis.channel.channel import connect
from concord_chassis.observe.log import Logger, json_lines
from concord_chassis.observe.metrics import Metrics, Values
from concord_chassis.server.background import Background
from concord_chassis.server.server import Registration
from concord_chassis.server.workers import Workers
from concord_models.budget import Budget, Cost, Meter
from concord_reading.reader import missing

from concord_dissonance.adapters.sqlite_sketches.store import SqliteSketches
from concord_dissonance.clients.governance import GovernanceClient
from concord_dissonance.clients.graph.callers_client import CallersGraphClient
from concord_dissonance.clients.graph.client import GraphClient
from concord_dissonance.clients.graph.feed_client import FeedClient
from concord_dissonance.clients.graph.sessions_client import SessionsClient
from concord_dissonance.clients.graph.waiting_client import WaitingClient
from concord_dissonance.clients.search import CAP, SearchClient
from concord_dissonance.clients.service_calls import feed_token
from concord_dissonance.config import Addresses
from concord_dissonance.domain.errors import JudgeUnavailable, SketchesUnusable
from concord_dissonance.domain.sides import Micros
from concord_dissonance.ports.calls import Clock
from concord_dissonance.ports.models import Council, FactModel, TextJudge
from concord_dissonance.servicer.dialectic import DialecticServicer
from concord_dissonance.servicer.dissonance import DissonanceServicer
from concord_dissonance.usecases.amendments import Amendments
from concord_dissonance.usecases.ask_models import AskModels
from concord_dissonance.usecases.check import Check
from concord_dissonance.usecases.check_written import CheckWritten
from concord_dissonance.usecases.classify import ClassifyPairs
from concord_dissonance.usecases.detect import Detect
from concord_dissonance.usecases.dialectic.by_model import SynthesizeByModel
from concord_dissonance.usecases.dialectic.keep import KeepSynthesis
from concord_dissonance.usecases.dialectic.review_answer import ReviewAnswer
from concord_dissonance.usecases.dialectic.runs import Runs
from concord_dissonance.usecases.dialectic.synthesize import Synthesize
from concord_dissonance.usecases.end_session import EndSession
from concord_dissonance.usecases.examine import Examine
from concord_dissonance.usecases.extract_facts import ExtractFacts
from concord_dissonance.usecases.follow import CHECK, SETTLE, Follow
from concord_dissonance.usecases.hear import Hear
from concord_dissonance.usecases.idle import END_IDLE, EndIdleSessions
from concord_dissonance.usecases.proposals import Proposals
from concord_dissonance.usecases.read_ahead import READ, ReadAhead
from concord_dissonance.usecases.recurring import ProposeRecurring
from concord_dissonance.usecases.reviews import Reviews
from concord_dissonance.usecases.sketches import Sketched
from concord_dissonance.usecases.suggestions import Proposing, Suggestions
from concord_dissonance.usecases.triggers import Triggers

if TYPE_CHECKING:
    from concord_models.chat import ChatModel

START_ERRORS = (JudgeUnavailable, SketchesUnusable)
"""Why a judge's model cannot be loaded, or its file not be opened; the text says what to do."""
PARSER = "PARSER"
ALONE = "alone"
"""The holder of leases of a single process: after a restart it still has its leases."""


def system_clock() -> Micros:
    """The time in microseconds since 1970 UTC."""
    return Micros(time.time_ns() // 1_000)


CLAIMS: Claims = {"search": frozenset({"dissonance:read"})}
"""What the services that call dissonance may claim with keys of their own (0112)."""


class DissonanceApp:
    """The assembled service: its registrations, and its life from `start` to `close`."""

    def __init__(
        self, addresses: Addresses, issuer: TokenIssuer, *, clock: Clock, holder: str, log: Logger
    ) -> None:
        token = feed_token(issuer)
        own = connect(addresses.graph_address, token=token)
        follower = connect(addresses.graph_address, token=token, cap=None)
        of_callers = connect(addresses.graph_address, token=None)
        to_search = connect(addresses.search_address, token=None, cap=CAP)
        to_governance = connect(addresses.governance_address, token=None)
        self._channels = (own, follower, of_callers, to_search, to_governance)
        graph, sessions = GraphClient(own, issuer), SessionsClient(own, issuer)
        feed = FeedClient(own, follower, issuer, holder)
        callers = CallersGraphClient(of_callers)
        search = SearchClient(to_search, issuer)
        governance = GovernanceClient(to_governance, issuer)
        # One thread: the judges are Python code, and the interpreter's lock runs one at a time.
        self._workers = Workers(1, "judges")
        self.background = Background(log)
        self._log = log
        self._runs = Runs(clock, log)
        self._judges = _text_judges(addresses, log)
        self._extractor = _extractor(addresses, log)
        self._council = _council(addresses, clock, log)
        self._spend = Meter()
        budgets = _budgets(addresses, graph, self._spend, clock)
        models = self._models = AskModels(self._judges, budgets, addresses.llm_spaces, clock)
        self._sketches = SqliteSketches(addresses.sketches_path, log)
        key = bytes.fromhex(issuer.secret_of("sketches"))
        sketched = Sketched(self._sketches, self._workers, key)
        examine = Examine(search, sketched, self._workers, models)
        proposing: Proposing = defaultdict(asyncio.Lock)
        suggestions = Suggestions(graph, governance, proposing, log)
        waiting = WaitingClient(own, issuer)
        amendments = Amendments(graph, search, suggestions, waiting, log)
        check_written = CheckWritten(graph, search, examine)
        recurring = ProposeRecurring(graph, sessions, governance, suggestions)
        end_session = EndSession(sessions, callers, check_written, recurring)
        self._read_ahead = ReadAhead(
            graph=graph,
            feed=feed,
            store=self._sketches,
            sketched=sketched,
            background=self.background,
            log=log,
        )
        self._follow = Follow(
            feed=feed,
            proposals=Proposals(graph, governance, proposing, log),
            amendments=amendments,
            triggers=Triggers(
                graph=graph,
                feed=feed,
                sessions=sessions,
                check=check_written,
                amendments=amendments,
                ends=end_session,
                log=log,
            ),
            read_ahead=self._read_ahead,
            background=self.background,
            log=log,
        )
        self._hear = Hear(
            feed=feed,
            store=self._sketches,
            mark=self._follow.mark,
            is_open=self._follow.is_open,
            background=self.background,
            log=log,
        )
        self._idle = EndIdleSessions(self._hear.in_use, sessions, clock, self.background, log)
        self.claims = CLAIMS
        self.registrations: Sequence[Registration] = (
            Registration(
                dissonance_pb2.DESCRIPTOR.services_by_name["DissonanceService"],
                dissonance_pb2_grpc.add_DissonanceServiceServicer_to_server,
                DissonanceServicer(
                    classify=ClassifyPairs(graph, self._workers, models),
                    check=Check(graph, examine, clock),
                    detect=Detect(graph, feed, examine, suggestions),
                    reviews=Reviews(graph, callers, governance),
                    end_session=end_session,
                    amendments=amendments,
                    models=models,
                    unread=self._unread,
                    extract=ExtractFacts(
                        self._workers, self._extractor, budgets, addresses.llm_spaces
                    ),
                ),
                parts=self._parts,
            ),
            Registration(
                dialectic_pb2.DESCRIPTOR.services_by_name["DialecticService"],
                dialectic_pb2_grpc.add_DialecticServiceServicer_to_server,
                DialecticServicer(
                    runs=self._runs,
                    synthesize=Synthesize(
                        self._workers, callers, search, KeepSynthesis(graph, callers)
                    ),
                    by_model=SynthesizeByModel(
                        self._council.synthesizer if self._council else None,
                        budgets,
                        addresses.llm_spaces,
                    ),
                    review_answer=ReviewAnswer(self._council, budgets, addresses.llm_spaces),
                ),
            ),
        )

    async def start(self) -> None:
        """Begin to follow graph's changes; graph may start later. Raises `SketchesUnusable`."""
        await self._sketches.open()
        if why := missing():
            self._log.warning("English texts are not judged", reason=why)
        self.background.start("follow graph", self._hear.run)
        self.background.start(SETTLE, self._follow.settle)
        self.background.start(CHECK, self._follow.catch_up)
        self.background.start(READ, self._read_ahead.run)
        self.background.start(END_IDLE, self._idle.run)

    def _unread(self, space: str) -> int | None:
        """How many changed texts of a space are not read; None: it is not known."""
        return self._read_ahead.unread(space) if self._hear.is_following else None

    def _parts(self) -> dict[str, bool]:
        """Whether each model answers, and that the parser of English is missing, if it is."""
        return self._models.answering() | ({PARSER: False} if missing() else {})

    async def ready(self) -> bool:
        """Return whether graph is followed: without graph nothing can be checked or recorded."""
        return self._hear.is_following

    def measure(self, metrics: Metrics) -> None:
        """Add metrics of judgements, of the models' cost, and of spaces that wait for a check."""

        def spent() -> Values:
            cost = self._spend.spent
            return {("calls",): cost.calls, ("tokens",): cost.tokens, ("micros",): cost.micros}

        metrics.gauge(
            "concord_dissonance_waiting_spaces",
            "Spaces with changes that were heard of and are not followed up yet.",
            lambda: {(): self._follow.waiting},
        )
        metrics.counter(
            "concord_dissonance_outcomes",
            "Pairs judged since the start, by judge and the class found, or ABSTAINED by nobody.",
            lambda: self._models.outcomes,
            ["judge", "outcome"],
        )
        metrics.gauge(
            "concord_dissonance_judge_answers",
            "Whether a model answered when it was asked last: 1, else 0.",
            lambda: {(name,): answers for name, answers in self._models.answering().items()},
            ["judge"],
        )
        metrics.gauge(
            "concord_dissonance_model_spend",
            "What models cost since the start, with what is reserved: calls, tokens, micros of"
            " money.",
            spent,
            ["unit"],
        )

    async def close(self) -> None:
        """Stop following, end the runs and judges, and close the connections."""
        await self.background.close()
        await self._runs.close()
        self._workers.close()
        await self._sketches.close()
        for judge in self._judges:
            await judge.close()
        for asked in (self._extractor, self._council):
            if asked is not None:
                await asked.close()
        for channel in self._channels:
            await channel.close()


def build(
    addresses: Addresses,
    issuer: TokenIssuer,
    *,
    clock: Clock = system_clock,
    holder: str = ALONE,
    log: Logger | None = None,
) -> DissonanceApp:
    """Assemble dissonance; opens nothing before `start`.

    `issuer` signs its tokens, as "dissonance". `holder`: the id of this process among its replicas.
    Tests replace `clock`.
    """
    log = json_lines("dissonance") if log is None else log
    # every log line names this setting, for whoever has to correct it
    log = log.bind(DISSONANCE_GRAPH_ADDRESS=addresses.graph_address)
    return DissonanceApp(addresses, issuer, clock=clock, holder=holder, log=log)


def _text_judges(config: Addresses, log: Logger) -> list[TextJudge]:
    """The configured judges by model, the cheaper one first; only their packages are loaded."""
    judges: list[TextJudge] = []
    if config.nli_folder is not None:
        from concord_dissonance.adapters.onnx_nli.judge import OnnxNli

        judges.append(OnnxNli(config.nli_folder))
    if config.llm_url:
        from concord_dissonance.adapters.openai_judge.judge import OpenAiJudge

        judges.append(OpenAiJudge(_chat_model("judging endpoint", config, log)))
    return judges


def _extractor(config: Addresses, log: Logger) -> FactModel | None:
    """The model that names facts: it is the one that judges."""
    if not config.llm_url:
        return None
    from concord_dissonance.adapters.openai_extractor.extractor import OpenAiExtractor

    return OpenAiExtractor(_chat_model("extracting endpoint", config, log))


def _chat_model(name: str, config: Addresses, log: Logger) -> "ChatModel":
    from concord_models.chat import ChatModel
    from concord_models.endpoint import ModelEndpoint, RetryPolicy

    policy = RetryPolicy(
        timeout=config.llm_timeout,
        budget=config.llm_timeout * config.llm_attempts,
        attempts=config.llm_attempts,
        share=0.5,
    )
    endpoint = ModelEndpoint(name, config.llm_url, config.llm_key, policy, log)
    return ChatModel(endpoint, config.llm_model)


def _council(config: Addresses, clock: Clock, log: Logger) -> Council | None:
    """Build the models that review and synthesize. Raises `ConfigError`."""
    if config.models_file is None:
        return None
    from concord_dissonance.adapters.openai_council.council import OpenAiCouncil
    from concord_dissonance.adapters.openai_council.settings import read_settings

    settings = read_settings(config.models_file, config.model_keys)
    return OpenAiCouncil(settings, config.model_keys, clock, log)


def _budgets(
    config: Addresses, graph: GraphClient, meter: Meter, clock: Clock
) -> Callable[[str], Budget]:
    request = Cost(config.llm_request_calls, config.llm_request_tokens, config.llm_request_money)
    day = Cost(config.llm_day_calls, config.llm_day_tokens, config.llm_day_money)
    return lambda space: Budget(
        request,
        day,
        meter.of(graph.daily_cost(space, clock)),
        micros_per_1000_tokens=config.llm_price,
    )
