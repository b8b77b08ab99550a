"""The council as the settings file has it: one endpoint a provider, shared by its models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from concord_chassis.log import Logger
from concord_models.chat import ChatModel
from concord_models.endpoint import ModelEndpoint, RetryPolicy
from pydantic import SecretStr

from concord_dissonance.adapters.openai_council.reviewer import OpenAiReviewer
from concord_dissonance.adapters.openai_council.reviser import OpenAiReviser
from concord_dissonance.adapters.openai_council.settings import CouncilSettings
from concord_dissonance.domain.peer_review.review import Reviewer
from concord_dissonance.ports import Clock

MOST_REPLY_BYTES = 4_194_304
"""Of one reply of a model that reviews."""


class OpenAiCouncil:
    """The models that review (port `Council`)."""

    def __init__(
        self, settings: CouncilSettings, keys: Mapping[str, SecretStr], clock: Clock, log: Logger
    ) -> None:
        """`keys` are by provider; one without a key is asked without."""
        said = settings.review
        self._settings, self._clock = settings, clock
        self.quorum = said.quorum
        policy = RetryPolicy(timeout=said.timeout, budget=said.timeout, attempts=said.attempts)
        self._endpoints = {
            name: ModelEndpoint(
                f"provider {name}",
                provider.url,
                keys.get(name, SecretStr("")),
                policy,
                log,
                most_bytes=MOST_REPLY_BYTES,
            )
            for name, provider in settings.providers.items()
        }
        self._turns = {
            name: asyncio.Semaphore(provider.at_once)
            for name, provider in settings.providers.items()
        }
        self.reviewers = tuple(self._reviewer(name) for name in said.reviewers)
        self.reviser = self._reviser(said.reviser) if said.reviser else None

    async def close(self) -> None:
        """Close the connections."""
        for endpoint in self._endpoints.values():
            await endpoint.close()

    def _reviewer(self, name: str) -> OpenAiReviewer:
        model = self._settings.models[name]
        return OpenAiReviewer(
            Reviewer(name, model.model, model.vendor or model.provider, model.role),
            ChatModel(self._endpoints[model.provider], model.model),
            self._turns[model.provider],
            self._clock,
            price=model.price,
            most_tokens=model.most_tokens,
        )

    def _reviser(self, name: str) -> OpenAiReviser:
        model = self._settings.models[name]
        return OpenAiReviser(
            ChatModel(self._endpoints[model.provider], model.model),
            self._turns[model.provider],
            price=model.price,
            most_tokens=model.most_tokens,
        )
